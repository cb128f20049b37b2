"""Lower the findings in functions and classes that the program runs on a condition which does not hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from xlamig.findings import ABOUT_THE_RUN, Finding, Reason
from xlamig.flow.model.chosen import CHOSEN
from xlamig.flow.model.inner import is_inside

_LOADS = "XLA907"
_ANYWHERE = (
    "the script loads and saves a checkpoint and runs no model: it may as well run where the file fits"
)


class Limit(NamedTuple):
    """The condition on which a scope runs, as a message says it, and the reason."""

    only: str
    why: str


def kept_off(scope: str, test: str) -> Limit:
    """Return the limit of a scope that only code uses which never runs."""
    if test.startswith(CHOSEN):
        entry = test.removeprefix(CHOSEN)
        why = (
            f"only `{entry}` leads to `{scope}`, and no default, setting or command in the project chooses it"
        )
        return Limit(f"where `{entry}` is chosen", why)
    why = f"only code under `{test}` uses `{scope}`, and nothing in the project makes that true"
    return Limit(f"if `{test}`", why)


def needs_gpu(scope: str, package: str) -> Limit:
    """Return the limit of a scope that a package for GPUs has to be there for."""
    return Limit(
        f"with `{package}`", f"`{scope}` needs `{package}`, and the program has a class that does not"
    )


def for_cuda(scope: str) -> Limit:
    """Return the limit of a kernel that is registered for CUDA alone."""
    why = (
        f"`{scope}` is registered for tensors of CUDA: for XLA tensors the operator runs its kernel for the"
        " CPU, and raises `NotImplementedError` without one"
    )
    return Limit("for CUDA tensors", why)


def lower_inside(
    findings: Iterable[Finding], filename: str, limits: Mapping[str, Limit]
) -> Iterator[Finding]:
    """Yield the findings of a file, as information inside the scopes that have a limit."""
    for finding in findings:
        scope = next((scope for scope in limits if is_inside(finding.scope, (scope,))), None)
        if scope is None or finding.severity == "info" or finding.code.startswith(ABOUT_THE_RUN):
            yield finding
            continue
        limit = limits[scope]
        yield replace(
            finding,
            severity="info",
            message=f"{finding.message} (only {limit.only})",
            reasons=(*finding.reasons, Reason(limit.why, filename, finding.place)),
            effort=replace(finding.effort, optional=True),
        )


def lower_loads(findings: Iterable[Finding], filename: str) -> Iterator[Finding]:
    """Yield the findings of a converter, those about the files that it loads as information."""
    for finding in findings:
        if finding.code == _LOADS and finding.severity != "info":
            reasons = (*finding.reasons, Reason(_ANYWHERE, filename, finding.place))
            effort = replace(finding.effort, optional=True)
            finding = replace(finding, severity="info", reasons=reasons, effort=effort)
        yield finding

"""Lower the findings in functions and classes that only code uses which an option keeps off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from xlamig.engine.beside import is_inside
from xlamig.findings import ABOUT_THE_RUN, Finding, Reason


def lower_inside(findings: Iterable[Finding], filename: str, off: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the findings of a file, as information inside the scopes that are `off`, with the test that
    keeps them from running."""
    for finding in findings:
        scope = next((scope for scope in off if is_inside(finding.scope, (scope,))), None)
        if scope is None or finding.severity == "info" or finding.code.startswith(ABOUT_THE_RUN):
            yield finding
            continue
        why = f"only code under `{off[scope]}` uses `{scope}`, and nothing in the project makes that true"
        yield replace(
            finding,
            severity="info",
            message=f"{finding.message} (only if `{off[scope]}`)",
            reasons=(*finding.reasons, Reason(why, filename, finding.place)),
            effort=replace(finding.effort, optional=True),
        )

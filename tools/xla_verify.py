"""Second runs: a wrong result in a process of its own, a pattern by changing the argument it names, and
the hand-written cases."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from case_search import ABSENT, Seen, Test, fits
from operator_samples import Sample, Subject, evaluated, find
from torch.overrides import get_testing_overrides
from xla_measure_operator import records, samples_of

Work = Callable[[set[str]], Iterator[dict[str, Any]]]
CASES = tomllib.loads(Path(__file__).with_name("operator_cases.toml").read_text("utf-8"))


@cache
def parameters(name: str) -> tuple[str, ...]:
    """The parameters of a function, or of a module's constructor, in order."""
    function = find(name)
    if inspect.isclass(function):
        return tuple(inspect.signature(function).parameters)
    for described in (function, get_testing_overrides().get(function)):
        try:
            found = inspect.signature(described).parameters  # type: ignore[arg-type]
        except (TypeError, ValueError):
            continue
        if not any(p.kind is p.VAR_POSITIONAL for p in found.values()):
            return tuple(found)
    return ()


def bound(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as data by parameter name."""
    names = parameters(name)
    by_name = {names[i] if i < len(names) else str(i): value for i, value in enumerate(args)}
    return by_name | dict(kwargs)


def alone(subject: Subject, call_id: str) -> Work:
    """One sample in a fresh process: some lowerings are right for the first call only."""
    dtype, _, number = call_id.partition("/")

    def work(done: set[str]) -> Iterator[dict[str, Any]]:
        sample = next(s for d, n, s in samples_of(subject) if (d, str(n)) == (dtype, number))
        yield from _outcome(call_id, sample, True, done)

    return work


def flipped(name: str, test: Test, samples: Sequence[tuple[Subject, Seen]], outcome: str) -> Work:
    """Calls that fit `test` with the argument changed so that they do not, and the other way round."""
    parameter, pattern = test
    inside = [(s, seen) for s, seen in samples if fits({parameter: pattern}, seen.values)][:2]
    outside = [(s, seen) for s, seen in samples if not fits({parameter: pattern}, seen.values)][:2]

    def work(done: set[str]) -> Iterator[dict[str, Any]]:
        for group, others in ((inside, outside), (outside, inside)):
            for number, (subject, seen) in enumerate(group):
                value = others[0][1].values.get(parameter, ABSENT)
                sample = _changed(name, subject, seen, parameter, value)
                call_id = f"{'in' if group is inside else 'out'}/{number}"
                if sample is not None:
                    yield from _outcome(call_id, sample, "backward" in outcome, done)

    return work


def written(case: Mapping[str, Any], key: str) -> Work:
    """The call that a hand-written case stands on (`call` or `otherwise`)."""

    def work(done: set[str]) -> Iterator[dict[str, Any]]:
        torch.manual_seed(0)
        sample = evaluated(case["api"], case[key])
        if "via" in case:
            sample = replace(sample, function=eval(case["via"], {"torch": torch}))
        yield from _outcome(key, sample, bool(case.get("gradient")), done)

    return work


def _outcome(call_id: str, sample: Sample, gradient: bool, done: set[str]) -> Iterator[dict[str, Any]]:
    import xla_measure

    if call_id in done:
        return
    xla_measure.start()
    yield from records(sample, gradient, {"call": call_id})


def _changed(name: str, subject: Subject, seen: Seen, parameter: str, value: Any) -> Sample | None:
    """The sample with another value for a parameter; None where that cannot be written."""
    if isinstance(value, dict | list) or subject.key.startswith("module|") or not seen.source:
        return None
    dtype, _, number = str(seen.source).partition("/")
    sample = next((s for d, n, s in samples_of(subject) if (d, str(n)) == (dtype, number)), None)
    if sample is None or sample.module is not None:
        return None
    names = parameters(name)
    position = names.index(parameter) if parameter in names else None
    args, kwargs = list(sample.args), dict(sample.kwargs)
    if position is not None and position < len(args):
        if value == ABSENT and position != len(args) - 1:
            return None
        args[position : position + 1] = [] if value == ABSENT else [_real(value)]
    elif value == ABSENT:
        kwargs.pop(parameter, None)
    else:
        kwargs[parameter] = _real(value)
    return replace(sample, args=tuple(args), kwargs=kwargs)


def _real(value: Any) -> Any:
    return float(value) if value in ("inf", "-inf", "nan") else value

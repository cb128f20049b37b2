"""One row of the table, from the observed calls of an operator."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from case_search import Seen, Test, fits, separating, told_by_trait
from xla_verify import bound

Record = dict[str, Any]
Row = dict[str, Any]
Confirm = Callable[[str, Test, Sequence[Seen], str], bool]
MOSTLY = 0.75  # the share of calls from which on a row is of errors, and the cases of what is native
ORDER = ("status", "when", "text", "aten", "error", "backward", "backward_aten", "backward_error", "cases")

_MISSING = re.compile(r"operator '(aten::[^']+)' is not implemented for TPU")
_TYPES = re.compile(
    r"\b(?:u?int|float|bfloat|complex)\d+\b|\b(?:bool|Int|Long|Char|Byte|Float|Double|Bool)\b"
)
_OF_THE_PROBE = (  # what only a trace complains about
    "identified a duplicate input",
    "expected tensor_indices_or_sections to be on cpu",  # also on a GPU
    "INTERNAL ASSERT FAILED",
)


def judged(name: str, row: Record, traits: Record) -> Seen | None:
    """A call with its outcome; None where it could not be made."""
    error = row.get("error") or row.get("lowering", "")
    if row["status"] == "untried" or any(part in error for part in _OF_THE_PROBE):
        return None
    outcome = "error" if error else "native+read" if row.get("reads") else "native"
    args, kwargs = row.get("shown", ([], {}))
    called = (*args, *kwargs.values())
    if row.get("given"):
        called = (*row["given"][0], *row["given"][1].values())
    tensors = [v["shape"] for v in called if isinstance(v, dict) and "shape" in v]
    if tensors:
        traits = traits | {"dimensions": len(tensors[0]), "empty": any(0 in shape for shape in tensors)}
    return Seen(bound(name, args, kwargs), outcome, traits, {**row, "error": error})


# ------------------------------------------------------------------------------- rows


def row_of(name: str, seen: list[Seen], confirm: Confirm) -> Row:
    if not seen:
        return {"status": "unknown", "note": "no sample call can be traced"}
    usual = [s for s in seen if not _is_odd(s)] or [s for s in seen if s.traits.get("main", True)] or seen
    status, read, cases = _cases(name, usual, confirm)
    cases += _odd_cases(seen, usual, status)
    base = [s for s in usual if s.outcome.partition("+")[0] == status]
    row: Row = {"status": status, "host_read": read, **_details(base, status)}
    row |= _backward(name, base, cases, confirm)
    if status == "native" and any(case["status"] != "native" and "backward" not in case for case in cases):
        row["status"] = "conditional"
    row["cases"] = cases
    reached = {aten for s in usual for aten in s.source.get("aten", ())}
    row["dynamic_shape"] = any(_has_dynamic_shape(aten) for aten in reached)
    row["known"] = "registry" if status == "native" and _needs_device(base) else "probe"
    if any(s.source.get("beyond", "ok") != "ok" for s in base) and not _ends_with_read(base):
        row["note"] = "tried up to the first value that it reads"
    return _compact(row)


def _cases(name: str, seen: Sequence[Seen], confirm: Confirm) -> tuple[str, bool, list[Row]]:
    """The usual status, whether it reads values back, and the cases that differ from it."""
    counts = Counter(s.outcome for s in seen)
    native = [outcome for outcome in ("native", "native+read") if counts[outcome]]
    usual = max(native, key=lambda outcome: counts[outcome]) if native else "error"
    if counts["error"] >= MOSTLY * len(seen):
        usual = "error"
    cases: list[Row] = []
    for outcome in sorted(counts):
        if outcome != usual:
            cases += _explained(name, seen, outcome, confirm)
    status, _, read = usual.partition("+")
    return status, bool(read), cases


def _explained(
    name: str, seen: Sequence[Seen], outcome: str, confirm: Confirm, backward: bool = False
) -> list[Row]:
    status, _, read = outcome.partition("+")
    mine = [s for s in seen if s.outcome == outcome]
    told = {"status": status, "host_read": bool(read), "backward": backward}
    details = _backward_details if backward else _details
    if words := told_by_trait(seen, outcome):
        return [_compact({**told, "text": words, **details(mine, status)})]
    refused: list[str] = []
    while True:
        tests = separating(seen, outcome, refused)
        wrong = [test for test in tests if not confirm(name, test, seen, outcome)] if not backward else []
        if not wrong:
            break
        refused += [f"{parameter}={pattern}" for parameter, pattern in wrong]
    cases = []
    by_cause = {} if backward else _by_cause(name, seen, [s for s in mine if not _covered(s, tests)], confirm)
    tests += by_cause.values()
    causes = {f"{parameter}={pattern}": cause for cause, (parameter, pattern) in by_cause.items()}
    for parameter, pattern in tests:
        fitting = [s for s in mine if fits({parameter: pattern}, s.values)]
        cause = causes.get(f"{parameter}={pattern}")
        fitting = [s for s in fitting if cause in (None, cause_of(s))]
        cases.append(_compact({**told, "when": {parameter: pattern}, **details(fitting, status)}))
    rest = [s for s in mine if not _covered(s, tests)]
    if rest:
        cases.append(
            _compact({**told, "text": f"for example `{spelled(name, rest[0])}`", **details(rest, status)})
        )
    return cases


def _by_cause(name: str, seen: Sequence[Seen], rest: Sequence[Seen], confirm: Confirm) -> dict[str, Test]:
    """A test for errors of one kind each, where none was found for all of them."""
    found: dict[str, Test] = {}
    for cause in sorted({cause_of(s) for s in rest if s.outcome == "error"}):
        comparable = [replace(s, outcome=cause) for s in seen if cause_of(s) == cause]
        comparable += [s for s in seen if s.outcome != "error"]
        for test in separating(comparable, cause)[:1]:
            if confirm(name, test, comparable, cause):
                found[cause] = test
    return found


def cause_of(seen: Seen) -> str:
    """Return the subject of an error: the operator without a kernel, or the message."""
    error: str = seen.source.get("error", "")
    match = _MISSING.search(error)
    return match[1] if match else error.partition("\n")[0]


def _covered(seen: Seen, tests: Sequence[Test]) -> bool:
    return any(fits({parameter: pattern}, seen.values) for parameter, pattern in tests)


def _is_odd(seen: Seen) -> bool:
    return (
        bool(seen.traits.get("empty"))
        or seen.traits.get("dimensions") == 0
        or not seen.traits.get("main", True)
    )


def _odd_cases(seen: Sequence[Seen], usual: Sequence[Seen], status: str) -> list[Row]:
    """Types, empty tensors and tensors without dimensions, where they all do something else."""
    common = {base_of(s.outcome) for s in usual}
    kinds: dict[tuple[str, str], list[str]] = defaultdict(list)
    members: dict[str, list[Seen]] = defaultdict(list)
    for s in seen:
        if s in usual:
            continue
        if not s.traits.get("main", True):
            if not s.traits.get("empty"):
                members[s.traits["dtype"]].append(s)
        elif s.traits.get("empty"):
            members["empty"].append(s)
        else:
            members["without dimensions"].append(s)
    for word, those in members.items():
        outcomes = {base_of(s.outcome) for s in those}
        if len(outcomes) == 1 and not outcomes & common:
            (outcome,) = outcomes
            kinds[outcome, _TYPES.sub("T", json.dumps(_details(those, outcome)))].append(word)
    return [
        _compact(
            {
                "status": outcome,
                "text": f"for {_listed(words)} tensors",
                **_details(members[words[0]], outcome),
            }
        )
        for (outcome, _), words in kinds.items()
    ]


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _backward(name: str, base: Sequence[Seen], cases: list[Row], confirm: Confirm) -> Row:
    known = {"ok": "native", "error": "error"}
    seen = [
        Seen(s.values, known[s.source["backward"]], s.traits, s.source)
        for s in base
        if s.source.get("backward") in known
    ]
    if not seen:
        untried = any(s.source.get("backward") == "untried" for s in base if s.traits.get("differentiable"))
        untried = untried and not name.endswith("_")  # a leaf cannot be written to
        return {"backward": "unknown"} if untried else {}
    counts = Counter(s.outcome for s in seen)
    if counts["error"] < MOSTLY * len(seen):
        if counts["error"]:
            cases += _explained(name, seen, "error", confirm, backward=True)
        return {}
    details = _backward_details([s for s in seen if s.outcome == "error"], "error")
    return {"backward": "error", **{f"backward_{key}": value for key, value in details.items()}}


def _details(seen: Sequence[Seen], status: str) -> Row:
    return _of_errors([s.source["error"] for s in seen if s.source.get("error")]) if status == "error" else {}


def _backward_details(seen: Sequence[Seen], status: str) -> Row:
    errors = [e for s in seen for e in s.source.get("backward_errors", {}).values()]
    return _of_errors(errors) if status == "error" else {}


def _of_errors(errors: Sequence[str]) -> Row:
    aten = sorted({match[1] for error in errors if (match := _MISSING.search(error))})
    others = [e for e in errors if not _MISSING.search(e)]
    error = (others or errors or [""])[0].partition(". Please file")[0].partition("\n")[0]
    return {"aten": aten, "error": error[:200]}


def base_of(outcome: str) -> str:
    return "native" if outcome.startswith(("native", "conditional")) else outcome


def _needs_device(seen: Sequence[Seen]) -> bool:
    return all(s.source.get("needs_device") for s in seen)


def _ends_with_read(seen: Sequence[Seen]) -> bool:
    """The operator that reads is the whole of the call: nothing comes after it."""
    return all(len(s.source.get("aten", ())) == 1 or s.source.get("beyond", "ok") == "ok" for s in seen)


def _has_dynamic_shape(aten: str) -> bool:
    base, _, overload = aten.removeprefix("aten::").partition(".")
    packet = getattr(torch.ops.aten, base, None)
    found = getattr(packet, overload or "default", None)
    return found is not None and torch.Tag.dynamic_output_shape in found.tags


def _compact(row: Row) -> Row:
    kept = {key: value for key, value in row.items() if value not in ((), [], {}, "", False, None)}
    return {key: kept[key] for key in (*ORDER, *sorted(kept.keys() - set(ORDER))) if key in kept}


def spelled(name: str, seen: Seen) -> str:
    def word(value: Any) -> str:
        if isinstance(value, dict):
            return (
                f"{value['dtype']}{value['shape']}"
                if "shape" in value
                else str(value.get("api", value.get("type")))
            )
        return repr(value)

    args, kwargs = seen.source.get("shown", ([], {}))
    words = [*map(word, args), *(f"{key}={word(value)}" for key, value in kwargs.items())]
    text = f"{name.rpartition('.')[2]}({', '.join(words)})"
    return text if len(text) <= 100 else text[:97] + "..."

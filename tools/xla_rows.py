"""The parts that rows are made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import xla_verify
from case_search import Seen
from operator_samples import Subject

Record = dict[str, Any]
Row = dict[str, Any]


def cases_of(name: str) -> list[Mapping[str, Any]]:
    return [case for case in xla_verify.CASES["case"] if case["api"] == name]


def base_of(status: str) -> str:
    return "native" if status == "conditional" else status


def outcome_of(half: Mapping[str, Any]) -> str:
    return half["status"] + ("+read" if half.get("read") and half["status"] == "native" else "")


def on_tpu(half: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without the fallbacks that torch_xla has on its CPU client alone."""
    aten = [a for a in half.get("aten", ()) if a not in xla_verify.CASES["cpu-client"]["aten"]]
    if len(aten) == len(half.get("aten", ())):
        return half
    status = "native" if half["status"] == "fallback" and not aten else half["status"]
    return {**half, "status": status, "aten": aten}


def agrees(record: Record, main: Sequence[tuple[Subject, Record]]) -> bool:
    same = [
        r
        for _, r in main
        if (r.get("args"), r.get("kwargs")) == (record["args"], record["kwargs"]) and "forward" in r
    ]
    return not same or any(r["forward"]["status"] == record["forward"]["status"] for r in same)


def is_odd(seen: Seen) -> bool:
    return bool(seen.traits.get("empty")) or seen.traits.get("dimensions") == 0 or not seen.traits["main"]


def odd_cases(seen: Sequence[Seen], usual: Sequence[Seen], status: str) -> list[Row]:
    """Empty tensors, tensors without dimensions and other types, where they all do something else."""
    common = {s.outcome.partition("+")[0] for s in usual}
    kinds: dict[str, list[Seen]] = defaultdict(list)
    for s in seen:
        if s in usual:
            continue
        if s.traits.get("empty"):
            kinds["for empty tensors"].append(s)
        elif s.traits.get("dimensions") == 0:
            kinds["for tensors without dimensions"].append(s)
        else:
            kinds[f"for {s.traits['dtype']} tensors"].append(s)
    cases = []
    for words, members in kinds.items():
        outcomes = {s.outcome.partition("+")[0] for s in members}
        if len(outcomes) == 1 and not outcomes & common:
            cases.append(compact({"status": outcomes.pop(), "text": words, **details(members, "forward")}))
    return cases


def details(seen: Sequence[Seen], half: str) -> Row:
    halves = [s.source[half] for s in seen]
    return {"aten": aten_of(halves), "error": next((h["error"] for h in halves if h.get("error")), "")}


def aten_of(halves: Iterable[Mapping[str, Any]]) -> list[str]:
    return sorted({a for half in halves for a in half.get("aten", ())})


def compact(row: Row) -> Row:
    kept = {key: value for key, value in row.items() if value not in ((), [], {}, "", False, None)}
    order = (
        "status",
        "when",
        "text",
        "aten",
        "error",
        "backward",
        "backward_aten",
        "backward_error",
        "cases",
    )
    return {key: kept[key] for key in (*order, *sorted(kept.keys() - set(order))) if key in kept}


def spelled(name: str, seen: Seen) -> str:
    def word(value: Any) -> str:
        if isinstance(value, dict):
            return (
                f"{value['dtype']}{value['shape']}"
                if "shape" in value
                else str(value.get("api", value.get("type")))
            )
        return repr(value)

    args = [
        *map(word, seen.source.get("args", ())),
        *(f"{k}={word(v)}" for k, v in seen.source.get("kwargs", {}).items()),
    ]
    text = f"{name.rpartition('.')[2]}({', '.join(args)})"
    return text if len(text) <= 100 else text[:97] + "..."

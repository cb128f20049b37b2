"""The parts that rows are made of."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import xla_verify
from case_search import Seen
from operator_samples import Subject

_LOWERING = r"Error while lowering: \[\] (\S+), xla_shape=.*?XLA builder error: \w+: "
WITHOUT = "tensors without dimensions"
WITH_DIM = " when `dim` is given"
ERROR = 150  # characters of an exception that are kept
Record = dict[str, Any]
Row = dict[str, Any]


def cases_of(name: str) -> list[Mapping[str, Any]]:
    """The hand-written cases; those of `torch.index_put` are tried with `torch.index_put_` as well."""
    apis = (name, name.removesuffix("_"))
    return [{**case, "api": name} for case in xla_verify.CASES["case"] if case["api"] in apis]


def base_of(status: str) -> str:
    return "native" if status == "conditional" else status


def outcome_of(half: Mapping[str, Any]) -> str:
    return half["status"] + ("+read" if half.get("read") and half["status"] == "native" else "")


def excused(name: str, half: Mapping[str, Any]) -> Mapping[str, Any]:
    """Without a difference that is no defect."""
    if half.get("status") != "wrong-result" or name not in xla_verify.CASES["artefact"]:
        return half
    kept = {key: value for key, value in half.items() if key != "error"}
    return kept | {"status": "fallback" if half.get("aten") else "native"}


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
    """Empty tensors, tensors without dimensions and other types, where they do something else."""
    common = {s.outcome.partition("+")[0] for s in usual}
    kinds: dict[str, list[Seen]] = defaultdict(list)
    for s in seen:
        if s in usual:
            continue
        if not s.traits["main"]:
            kinds[f"{s.traits['dtype']} tensors"].append(s)
        elif s.traits.get("empty"):
            kinds["empty tensors"].append(s)
        else:
            kinds[WITHOUT].append(s)
    cases = []
    for words, members in kinds.items():
        outcomes = {s.outcome.partition("+")[0] for s in members}
        for outcome in sorted(outcomes - common):
            mine = [s for s in members if s.outcome.partition("+")[0] == outcome]
            rest = [s for s in members if s not in mine]
            text = f"for {'some ' * bool(rest)}{words}"
            if words == WITHOUT and _only_with_dim(mine, rest):
                text = f"for {words}{WITH_DIM}"
            cases.append(compact({"status": outcome, "text": text, **details(mine, "forward")}))
    return cases


def _only_with_dim(mine: Sequence[Seen], rest: Sequence[Seen]) -> bool:
    return bool(rest) and all(has_dim(s.values) for s in mine) and not any(has_dim(s.values) for s in rest)


def has_dim(values: Mapping[str, Any]) -> bool:
    """By name, or in its place where the names of the parameters are not known."""
    return values.get("dim") not in (None, []) or type(values.get("1")) is int


def details(seen: Sequence[Seen], half: str) -> Row:
    halves = [s.source[half] for s in seen]
    return {"aten": aten_of(halves), "error": next((h["error"] for h in halves if h.get("error")), "")}


def tidy(error: str) -> str:
    """One sentence about an exception, without the shapes of the one call."""
    error = re.sub(
        r"Error while lowering: \[\] (\S+), xla_shape=.*?XLA builder error: \w+: ",
        r"\1 is not lowered: ",
        error,
    )
    error = error.replace("values differ", "values differ from the CPU's")
    for noise in ("; Full shapes", " This could be because"):
        error = error.partition(noise)[0]
    error = error.removesuffix(": ")
    return error if len(error) <= ERROR else error[:ERROR].rpartition(" ")[0] + " ..."


def aten_of(halves: Iterable[Mapping[str, Any]]) -> list[str]:
    return sorted({a for half in halves for a in half.get("aten", ())})


def compact(row: Row) -> Row:
    row = {key: tidy(value) if key.endswith("error") else value for key, value in row.items()}
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
    mode = {True: " in training", False: " in evaluation", None: ""}[seen.traits.get("training")]
    text = f"{name.rpartition('.')[2]}({', '.join(args)})"
    return f"`{text if len(text) <= 100 else text[:97] + '...'}`{mode}"

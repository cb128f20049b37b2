"""From what the probe recorded to one row per public name."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import tpu_registry
from case_search import Seen
from operator_groups import grouped
from tpu_rows import Confirm, Record, Row, base_of, judged, row_of
from xla_names import is_operator, public_names

METHOD = (
    "no TPU: each name is called with placeholders through torch_tpu's own kernels up to StableHLO, and so is"
    " its gradient; nothing is executed. known = registry: the dispatcher has a kernel that was not tried"
)


def build(records: Iterable[Record], seconds: float, confirm: Confirm) -> dict[str, Any]:
    rows: dict[str, Row] = {}
    for names, members in _groups(records):
        rows.update(_of_group(names, members, confirm))
    for name in public_names():
        if name not in rows or rows[name]["status" if "status" in rows[name] else "same"] == "unknown":
            rows[name] = _from_registry(name)
    about = {
        "target": "torch_tpu",
        "versions": {name: version(name).partition("+")[0] for name in ("torch", "torch_tpu", "libtpu")},
        "date": datetime.date.today().isoformat(),
        "command": "python tools/operators_torch_tpu.py",
        "method": METHOD,
        "seconds": round(seconds),
        "aten_overloads": tpu_registry.in_numbers(),
    }
    return {"about": about, "operators": dict(sorted(rows.items()))}


def write(path: Path, table: Mapping[str, Any]) -> None:
    def lines(rows: Mapping[str, Any]) -> str:
        return ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in rows.items())

    about, operators = lines(table["about"]), lines(table["operators"])
    path.write_text(f'{{\n"about": {{\n{about}\n}},\n"operators": {{\n{operators}\n}}\n}}\n', "utf-8")


def _groups(records: Iterable[Record]) -> list[tuple[list[str], list[Record]]]:
    """Names that mean the same, the first one for all, with what was recorded of them. A form in place is
    only one of them where there is no other form."""

    def names(record: Record) -> list[str]:
        return [name for name in record.get("names", ()) if is_operator(name)]

    alive = [record for record in records if not record.get("died")]
    found = grouped(alive, names, lambda record: "" if names(record) else record.get("inplace") or "")
    return [(own, members) for own, members in found if own]


def _of_group(names: list[str], members: list[Record], confirm: Confirm) -> dict[str, Row]:
    first = names[0]
    differentiable = all(record.get("differentiable", True) for record in members)
    seen = [s for record in members for s in _seen(first, record, differentiable)]
    rows: dict[str, Row] = {first: row_of(first, seen, confirm), **{n: {"same": first} for n in names[1:]}}
    for record in members:
        name, written = record.get("inplace"), record.get("inplace_rows")
        elsewhere = bool(record.get("names")) and record["names"][0] not in names
        if not name or not written or name == first or elsewhere:
            continue
        own = [s for s in (judged(name, row, {}) for row in written) if s is not None]
        if own and {base_of(s.outcome) for s in own} != {base_of(rows[first]["status"])}:
            rows[name] = row_of(name, own, confirm)
        elif own:
            rows.setdefault(name, {"same": first})
    return rows


def _seen(name: str, record: Record, differentiable: bool) -> list[Seen]:
    found = []
    for number, (dtype, rows) in enumerate(record.get("types", {}).items()):
        for index, row in enumerate(rows):
            traits = {
                "dtype": dtype,
                "main": number == 0,
                "key": record["key"],
                "index": index,
                "differentiable": differentiable,
            }
            one = judged(name, row, traits)
            if one is not None:
                found.append(one)
    return found


def _from_registry(name: str) -> Row:
    """A name that was not called: what its overloads say if they all say the same."""
    words = name.rpartition(".")[2]
    family = name.removeprefix("torch.").partition(".")[0] if name.startswith("torch.") else ""
    prefix = f"{family}_" if family in ("linalg", "fft", "special") else ""
    found = tpu_registry.of_base(prefix + words) or tpu_registry.of_base(words)
    resolved = set(found.values())
    if not name.startswith("torch.nn.") or name.startswith("torch.nn.functional."):
        if resolved == {"kernel"}:
            return {"status": "native", "known": "registry"}
        if resolved == {"none"}:
            return {"status": "error", "aten": sorted(found), "known": "registry"}
    note = "made of other operators" if resolved == {"composite"} else "no sample call can be traced"
    return {"status": "unknown", "note": note}

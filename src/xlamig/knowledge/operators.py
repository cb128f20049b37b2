"""The behaviour of torch operators on each target: generated tables, read on demand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from xlamig.knowledge.aten import MadeOf, made_of
from xlamig.knowledge.spelling import aten_name, candidates, nearest

Status = Literal["native", "fallback", "error", "wrong-result", "conditional", "unknown"]
STATUSES: tuple[Status, ...] = get_args(Status)

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Case:
    """Arguments with which an operator does something else than its row says.

    `when` holds patterns by parameter name, as `args` in a rule page; `text` says what a pattern
    cannot: shapes, types, training.
    """

    status: Status
    when: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    aten: tuple[str, ...] = ()
    error: str = ""
    backward: bool = False  # only the gradient is concerned
    host_read: bool = False


@dataclass(frozen=True, slots=True)
class Operator:
    """The behaviour of one public name on one target.

    `status` is that of a call that no case fits; "conditional" is native unless a case fits.
    `backward` is None where it does as the forward pass does, or there is no gradient.
    """

    name: str
    target: str
    status: Status
    same_as: str = ""  # the name under which it is known
    aten: tuple[str, ...] = ()  # the operators that are not lowered
    error: str = ""
    backward: Status | None = None
    backward_aten: tuple[str, ...] = ()
    backward_error: str = ""
    cases: tuple[Case, ...] = ()
    host_read: bool = False  # waits for the device and reads a value, whatever the status
    dynamic_shape: bool = False  # the shape of the result depends on values
    note: str = ""  # why it is unknown, or what else is worth saying
    known: str = ""  # "probe": calls were traced; "registry": the dispatcher was asked; "" where they ran


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a table came about."""

    target: str
    versions: Mapping[str, str]
    date: str
    command: str
    method: str
    seconds: float


class Operators:
    """The table of one target. Rows are made when asked for."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        about = document["about"]
        self.provenance = Provenance(
            about["target"],
            about["versions"],
            about["date"],
            about["command"],
            about["method"],
            about["seconds"],
        )
        self.target: str = about["target"]
        self._dispatch: Mapping[str, str] = document.get("dispatch", {})
        made = {made.name: row for made in made_of() if (row := self._row_of_parts(made))}
        self._rows: Mapping[str, Mapping[str, Any]] = dict(sorted({**made, **document["operators"]}.items()))

    def _row_of_parts(self, made: MadeOf) -> Mapping[str, Any] | None:
        """The row of a name that was not called itself, from the operators that it runs."""
        if not all(aten in self._dispatch for aten in (*made.forward, *(made.backward or ()))):
            return None
        forward, backward = self._fallbacks(made.forward), self._fallbacks(made.backward or ())
        row: dict[str, Any] = {"status": "fallback" if forward else "native", "known": "registry"}
        if forward:
            row["aten"] = forward
        if made.backward is not None and bool(forward) != bool(backward):
            row["backward"] = "fallback" if backward else "native"
        return row | ({"backward_aten": backward} if backward else {})

    def _fallbacks(self, names: Iterable[str]) -> list[str]:
        return [aten for aten in names if self._dispatch[aten] == "fallback"]

    def __iter__(self) -> Iterator[Operator]:
        return (self[name] for name in self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __getitem__(self, name: str) -> Operator:
        """The row of a canonical name, `torch.median` or `Tensor.median`."""
        row = self._rows[name]
        known_as = row.get("same", "")
        return _operator(name, self.target, self._rows[known_as] if known_as else row, known_as)

    def get(self, name: str) -> Operator | None:
        """The operator of a canonical name, which may be an aten operator's."""
        return self[name] if name in self._rows else self.single(name) if "::" in name else None

    def row(self, name: str) -> Mapping[str, Any] | None:
        """The entry of a canonical name as it stands in the data, under whatever name it is known."""
        return self._rows.get(self.known_as(name))

    def known_as(self, name: str) -> str:
        """The canonical name that has the entry of `name`."""
        same: str = self._rows.get(name, {}).get("same", name)
        return same

    def names_of(self, name: str) -> tuple[str, ...]:
        """All canonical names of the operator that `name` is one of, first the one that was measured."""
        first = self.known_as(name)
        return (first, *self._by_name.get(first, ()))

    @cached_property
    def _by_name(self) -> Mapping[str, list[str]]:
        index: dict[str, list[str]] = {}
        for name, row in self._rows.items():
            if "same" in row:
                index.setdefault(row["same"], []).append(name)
        return index

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._rows)

    def find(self, name: str) -> Operator | None:
        """The operator that somebody means by `name`: `median`, `F.mish`, `x.median`, `nn.LSTM`,
        `aten::median`. None when no such name is known; a known name that was not tried has the
        status "unknown"."""
        found = next((spelled for spelled in candidates(name) if spelled in self._rows), None)
        return self.single(aten_name(name)) if found is None else self[found]

    def single(self, aten: str) -> Operator | None:
        """An aten operator that is no public name's own, as the dispatcher has it: `aten::im2col`. Without
        an overload, all of them have to be alike, or the operator is "conditional"."""
        kinds = {kind for name, kind in self._dispatch.items() if name == aten or name.startswith(f"{aten}.")}
        if aten in self._dispatch and "." in aten:
            kinds = {self._dispatch[aten]}
        if not kinds:
            return None
        known = {"known": "registry"}
        if kinds == {"kernel"}:
            return _operator(aten, self.target, {"status": "native", **known}, "")
        if kinds == {"fallback"}:
            return _operator(aten, self.target, {"status": "fallback", "aten": [aten], **known}, "")
        lost = sorted(n for n, k in self._dispatch.items() if k == "fallback" and n.startswith(f"{aten}."))
        cases = [{"status": "fallback", "text": "in these overloads", "aten": lost}]
        return _operator(aten, self.target, {"status": "conditional", "cases": cases, **known}, "")

    def dispatch(self, aten: str) -> str:
        """Return how the dispatcher treats an aten overload, `aten::median.dim`: "kernel" of the target or
        "fallback" to the CPU; "" if it is composed of others, or unknown."""
        return self._dispatch.get(aten, "")

    def through(self, aten: str) -> tuple[Operator, ...]:
        """The operators that reach an aten operator which is not lowered: `aten::median`."""
        wanted = aten.removeprefix("aten::")
        return tuple(self[name] for name in self._by_aten.get(wanted.partition(".")[0], ()))

    @cached_property
    def _by_aten(self) -> Mapping[str, list[str]]:
        index: dict[str, list[str]] = {}
        for name, row in self._rows.items():
            for spelled in {aten.removeprefix("aten::").partition(".")[0] for aten in row.get("aten", ())}:
                index.setdefault(spelled, []).append(name)
        return index

    def nearest(self, name: str, count: int = 3) -> tuple[str, ...]:
        """Known names that look like `name`."""
        return nearest(name, self._rows, count)


def _operator(name: str, target: str, row: Mapping[str, Any], same_as: str) -> Operator:
    return Operator(
        name,
        target,
        row["status"],
        same_as,
        tuple(row.get("aten", ())),
        row.get("error", ""),
        row.get("backward"),
        tuple(row.get("backward_aten", ())),
        row.get("backward_error", ""),
        tuple(_case(case) for case in row.get("cases", ())),
        row.get("host_read", False),
        row.get("dynamic_shape", False),
        row.get("note", ""),
        row.get("known", ""),
    )


def _case(row: Mapping[str, Any]) -> Case:
    return Case(
        row["status"],
        row.get("when", {}),
        row.get("text", ""),
        tuple(row.get("aten", ())),
        row.get("error", ""),
        row.get("backward", False),
        row.get("host_read", False),
    )


@cache
def operators(target: str) -> Operators:
    """The table of a target; raises FileNotFoundError where there is none."""
    return Operators(json.loads((DATA / f"operators-{target}.json").read_text("utf-8")))

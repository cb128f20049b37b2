"""The table "operators": what was measured of a target, joined with what people wrote."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from xlamig.config.settings import TARGETS, Target
from xlamig.facts import ApiUse, Fact, Value
from xlamig.knowledge.operators import Operators, operators
from xlamig.rulebook.conditions import compile_condition
from xlamig.rulebook.errors import Where
from xlamig.rulebook.patterns import YES
from xlamig.rulebook.program import UNSEEN
from xlamig.rulebook.tables import OPERATORS, Row, Table

_BACKWARD = {"status": "backward", "aten": "backward_aten", "error": "backward_error"}
NONE = Value("constant", None)
_BUILTIN_METHODS = frozenset(
    name for kind in vars(builtins).values() if isinstance(kind, type) for name in dir(kind)
)


class OperatorTable(Table):
    """A row's table named like the target is the measured one, less the cases: of these the first
    that fits the arguments of a call stands in its place. `Tensor.median` is also met as
    `unknown.median`, which is possible at most, unless other objects commonly have such a method."""

    def __init__(self, target: Target, written: Table | None) -> None:
        super().__init__(OPERATORS, "api", {}, written.foreign_methods if written else frozenset())
        self._target = target
        self._written: Mapping[str, Row] = written.rows if written else {}
        self._made: dict[str, Row | None] = {}

    @cached_property
    def _measured(self) -> Operators | None:
        try:
            return operators(self._target)
        except FileNotFoundError:
            return None

    @property
    def written(self) -> tuple[Row, ...]:
        return tuple(self._written.values())

    @property
    def keys(self) -> frozenset[str]:
        return super().keys.union(TARGETS)

    def find(self, name: str) -> Row | None:
        if name not in self._made:
            self._made[name] = self._find(name)
        return self._made[name]

    def _find(self, name: str) -> Row | None:
        receiver, _, method = name.partition(".")
        if receiver == "unknown":
            row = None if self._is_foreign(method) else self.find(f"Tensor.{method}")
            return replace(row, name=name, confidence="possible") if row else None
        measured = self._measured.row(name) if self._measured is not None else None
        return self._written.get(name) if measured is None else self._join(name, measured)

    def names(self, fits: Callable[[Mapping[str, Any]], bool]) -> Iterator[str]:
        for name, values in self._values_by_name.items():
            if any(map(fits, values)):
                yield name
                receiver, _, method = name.partition(".")
                if receiver == "Tensor" and not self._is_foreign(method):
                    yield f"unknown.{method}"

    @cached_property
    def _values_by_name(self) -> Mapping[str, tuple[Mapping[str, Any], ...]]:
        """The values that each name's row may have: several matches go through all of them."""
        measured = self._measured.names if self._measured is not None else ()
        return {name: tuple(self._all_values(name)) for name in (*measured, *self._written)}

    def _is_foreign(self, method: str) -> bool:
        return method in _BUILTIN_METHODS or method in self.foreign_methods

    def _all_values(self, name: str) -> Iterator[Mapping[str, Any]]:
        written = self._written_row(name)
        values = written.values if written else {}
        measured = self._measured.row(name) if self._measured is not None else None
        if measured is None:
            yield values
            return
        yield {**values, self._target: measured}
        for case in _cases(name, measured):
            yield {**values, self._target: {**measured, **_case_values(case)}}

    def _written_row(self, name: str) -> Row | None:
        return self._written.get(name) or self._shared.get(self._known_as(name))

    @cached_property
    def _shared(self) -> Mapping[str, Row]:
        """The rows by the name that was measured: one may be written under any name of its operator."""
        return {self._known_as(name): row for name, row in self._written.items()}

    def _known_as(self, name: str) -> str:
        return name if self._measured is None else self._measured.known_as(name)

    def _join(self, name: str, measured: Mapping[str, Any]) -> Row:
        where = Where(f"operators-{self._target}.json", name)
        written = self._written_row(name)
        values = written.values if written else {}
        row = {key: value for key, value in measured.items() if key != "cases"}
        cases = tuple(
            (_condition(case["when"], where), {**values, self._target: {**row, **_case_values(case)}})
            for case in _cases(name, measured)
        )
        rulings = written.rulings if written else {}
        values = {**values, self._target: row}
        return Row(name, values, rulings, {}, frozenset(values), None, (), where, cases)


def _cases(name: str, row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the cases that arguments decide; others are for people. A method always has its `input`."""
    decided = [case for case in row.get("cases", ()) if case.get("when")]
    return [case for case in decided if not (name.startswith("Tensor.") and "input" in case["when"])]


def _condition(when: Mapping[str, Any], where: Where) -> Callable[[Fact], bool]:
    patterns = {parameter: _infinite(pattern) for parameter, pattern in when.items()}
    fit = compile_condition("api-use", {"args": patterns}, where)

    def fits(fact: Fact) -> bool:
        if not isinstance(fact, ApiUse) or fact.via not in ("call", "forward"):
            return False
        # What was measured as given was never None, which is how most defaults are spelled.
        given = (a for name in patterns if (a := fact.argument(name)) is not None)
        if any(a.value == NONE for a in given):
            return False
        return fit(fact, None, UNSEEN) == YES

    return fits


def _infinite(pattern: Any) -> Any:
    """JSON has no infinity."""
    if isinstance(pattern, list):
        return [_infinite(item) for item in pattern]
    if isinstance(pattern, dict):
        return {key: _infinite(item) for key, item in pattern.items()}
    return float(pattern) if pattern in ("inf", "-inf") else pattern


def _case_values(case: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a case puts in place of its row's; for a gradient alone, under the row's keys
    for it."""
    said = {key: value for key, value in case.items() if key not in ("when", "backward")}
    return {_BACKWARD.get(key, key): value for key, value in said.items()} if case.get("backward") else said

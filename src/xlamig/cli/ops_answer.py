"""Collect the facts about one operator on all targets, from generated tables and hand-written rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from xlamig.config.book import find_book
from xlamig.config.load import Resolver
from xlamig.knowledge.aten import about_devices
from xlamig.knowledge.operators import Case, Operator, Operators, operators
from xlamig.rulebook.errors import Where
from xlamig.rulebook.page import read_toml
from xlamig.rulebook.tables import Row, Table, read_table

ROWS = "api/operators.toml"


@dataclass(frozen=True, slots=True)
class Answer:
    """`found` has a target's operator, None where its table does not have the name."""

    name: str
    found: Mapping[str, Operator | None]
    instead: Mapping[str, str]  # by target

    @property
    def is_known(self) -> bool:
        return all(operator is not None and operator.status != "unknown" for operator in self.found.values())


def tables(targets: Iterable[str]) -> list[Operators]:
    found = []
    for target in targets:
        try:
            found.append(operators(target))
        except FileNotFoundError:
            continue
    return found


def of_another_release(table: Operators, version: str) -> str | None:
    """A line about a release that the table does not speak of."""
    measured = table.provenance.versions.get(table.target, "")
    if _release(version) == _release(measured):
        return None
    return f"Warning: {table.target} {version} was not measured; what follows is about {measured}"


def _release(version: str) -> tuple[str, ...]:
    return tuple(version.split(".")[:2])


def alternatives() -> list[Table]:
    """The hand-written rows; those of the user's own rules come first. Pages are not read."""
    settings = Resolver().settings_for(Path())
    found = []
    for folder in (*settings.rules, find_book()):
        path = folder / ROWS
        if path.is_file():
            where = Where(f"{folder.name}/{ROWS}")
            data = read_toml(path.read_text("utf-8"), where)
            found.append(read_table("operators", "api", data, where, settings))
    return found


def answer(name: str, tables: Sequence[Operators], alternatives: Sequence[Table]) -> Answer:
    found = {table.target: table.get(name) for table in tables}
    names = dict.fromkeys([name, *(other for table in tables for other in table.names_of(name))])
    row = next((row for rows in alternatives for n in names if (row := _row(rows, n))), None)
    return Answer(name, found, {target: text for target in found if row and (text := _instead(row, target))})


def _row(rows: Table, name: str) -> Row | None:
    return rows.find(name) or next((row for row in rows.rows.values() if name in row.aliases), None)


def _instead(row: Row, target: str) -> str:
    """Return the advice for an operator: `alternative` of the target's part of a row, else the row's."""
    own = row.values.get(target)
    for values in (own if isinstance(own, Mapping) else {}, row.values):
        for key in ("alternative", "help"):
            if isinstance(text := values.get(key), str) and text:
                return text
    return ""


def document(
    answers: Sequence[Answer], missing: Mapping[str, Sequence[str]], namesakes: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """The answers as JSON; keys are only added."""
    return {
        "schema_version": 1,
        "operators": [
            {"name": a.name, "targets": {target: _target(a, target) for target in a.found}} for a in answers
        ],
        "namesakes": {name: list(others) for name, others in namesakes.items()},
        "not_found": [{"name": name, "did_you_mean": list(near)} for name, near in missing.items()],
    }


def _target(answer: Answer, target: str) -> dict[str, Any]:
    operator = answer.found[target]
    by_device = about_devices(answer.name) if target == "torch_xla" else ()
    about = operators(target).provenance
    told: dict[str, Any] = {"status": operator.status if operator else "unknown"}
    if operator is not None:
        told |= {
            "same_as": operator.same_as or None,
            "aten": list(operator.aten),
            "error": operator.error or None,
            "backward": operator.backward or operator.status,
            "cases": [_case(case) for case in operator.cases],
            "host_read": operator.host_read,
            "dynamic_shape": operator.dynamic_shape,
            "note": operator.note or None,
            "known": operator.known or "run",
            "by_device": [asdict(one) for one in by_device],
        }
    return told | {
        "alternative": answer.instead.get(target),
        "versions": dict(about.versions),
        "measured": about.date,
    }


def _case(case: Case) -> dict[str, Any]:
    return asdict(case) | {"aten": list(case.aten)}

"""Compile what the analyser has to look for, and which files can be left unread."""

from __future__ import annotations

from collections.abc import Iterable

from xlamig.facts import Interest
from xlamig.facts.interest import PROOFS_OF_USES
from xlamig.rulebook.errors import RulebookError
from xlamig.rulebook.match import is_method
from xlamig.rulebook.rule import Rule
from xlamig.rulebook.tables import OPERATORS, Row, Table


def compile_interest(
    rules: Iterable[Rule], tables: Iterable[Table], helper: str
) -> tuple[Interest, frozenset[str]]:
    """Return what the matches of `rules` ask for, and the methods that matter only in a file that mentions
    torch. Signatures and aliases come from all tables."""
    kinds: set[str] = set()
    names: set[str] = set()
    operators: set[str] = set()
    followed: set[str] = set()
    surroundings: set[str] = set()
    sought: dict[str, set[str]] = {"keyword": set(), "package": set(), "variable": set()}
    for asking, match in ((rule, match) for rule in rules for match in rule.matches):
        kinds.add(match.kind)
        rows = set(match.names)
        if match.in_files or match.kind == "kernel":
            continue
        if match.kind == "environment":
            surroundings.update(rows, match.sought.get("name", ()), match.sought.get("variable", ()))
            sought["variable"].update(match.sought.get("variable", ()))
            continue
        if match.kind == "package":
            names_sought = match.sought.get("name", ())
            sought["package"].update(rows, match.sought.get("package", ()))
            sought["package"].update(name.partition(".")[0] for name in names_sought)
            continue
        of_torch = bool(match.tables) and all(table.name == OPERATORS for table in match.tables)
        (operators if of_torch else names).update(rows, match.sought.get("name", ()))
        sought["keyword"].update(match.sought.get("keyword", ()))
        if match.kind == "api-use" and asking.proofs & PROOFS_OF_USES:
            followed.update(match.sought.get("name", ()) or rows)
    methods = _methods(names)
    quiet = _methods(operators) - methods
    names |= operators
    exact = {name for name in names if "*" not in name}
    rows_by_name = _rows_by_name(tables)
    interest = Interest(
        kinds=frozenset(kinds),
        names=frozenset(exact),
        prefixes=tuple(sorted({_prefix(name) for name in names - exact})),
        methods=methods | quiet,
        settings=frozenset(name.partition(".")[2] for name in exact if name.startswith("setting.")),
        keywords=frozenset(sought["keyword"]),
        packages=frozenset(sought["package"]),
        variables=frozenset(v for v in sought["variable"] if "*" not in v),
        variable_prefixes=tuple(sorted({v.partition("*")[0] for v in sought["variable"] if "*" in v})),
        followed=frozenset(name for name in followed if "*" not in name),
        followed_prefixes=tuple(sorted({_prefix(name) for name in followed if "*" in name})),
        surroundings=frozenset(surroundings),
        signatures={name: row.signature for name, row in rows_by_name.items() if row.signature is not None},
        aliases=_aliases(rows_by_name.values()),
        helper=helper,
    )
    return interest, quiet


def _methods(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.partition(".")[2] for name in names if "*" not in name and is_method(name))


def _prefix(name: str) -> str:
    return name.partition("*")[0].rpartition(".")[0] + "."


def _rows_by_name(tables: Iterable[Table]) -> dict[str, Row]:
    """The rows of API tables; where several tables have a name, the one with a signature."""
    found: dict[str, Row] = {}
    for row in (row for table in tables if table.folder == "api" for row in table.written):
        other = found.get(row.name)
        if other is None or other.signature is None:
            found[row.name] = row
        elif row.signature not in (None, other.signature):
            mistake = row.where.at("signature").error(f"{other.where.filename} has another one for this name")
            raise RulebookError(*mistake.mistakes)
    return found


def _aliases(rows: Iterable[Row]) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in rows:
        for alias in row.aliases:
            if found.setdefault(alias, row.name) != row.name:
                raise row.where.at("alias").error(f'"{alias}" already stands for {found[alias]}')
    return found

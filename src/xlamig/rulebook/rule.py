"""A rule: the head of a page, checked and compiled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

from xlamig.config.settings import TARGETS, Settings, Target
from xlamig.facts import FACTS
from xlamig.findings import Effort, Level, Phase, Unit, rule_url
from xlamig.rulebook.keys import Keys
from xlamig.rulebook.match import Match, read_match
from xlamig.rulebook.page import CODE, Page, read_sections
from xlamig.rulebook.relations import RELATION_KEYS, Relation, read_relation
from xlamig.rulebook.rulings import LEVELS, Ruling, read_template
from xlamig.rulebook.safety import with_safety
from xlamig.rulebook.tables import Tables
from xlamig.rulebook.templates import Template
from xlamig.rulebook.verdict import VERDICT_KEYS, FixRow, Verdict, read_fix, read_verdicts

Status = Literal["stable", "preview", "withdrawn"]
Once = Literal["program", "dependency"]
Extent = Literal["statement", "function", "file", "program"]
Guarded = Literal["lower", "silent", "ignore"]

_CODE = re.compile(CODE)
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_UNITS: tuple[Unit, ...] = get_args(Unit)
_PHASES: tuple[Phase, ...] = get_args(Phase)
_KEYS = (
    "code", "name", "status", "successor", "message", "help", "reason", "effort", "phase", "supersedes",
    "guarded", "once", "together", "match", "verdict", "relate", "fix",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule. All but its name is read when it is asked for: a run asks few rules for more than their
    matches. `check_rule` reads all, and raises RulebookError for mistakes."""

    code: str
    name: str
    status: Status
    page: Page = field(repr=False)
    _keys: Keys = field(repr=False)
    _tables: Tables = field(repr=False)

    @cached_property
    def successor(self) -> str | None:
        return self._keys.text("successor", required=True) if self._is_withdrawn else None

    @cached_property
    def effort(self) -> Effort:
        if self._is_withdrawn:
            return Effort("info", "site", self.code)
        where = self._keys.where.at("effort")
        effort = Keys(self._keys.table("effort") or {}, where, ("level", "unit", "group"))
        level: Level = effort.choice("level", LEVELS, required=True)
        unit = effort.choice("unit", _UNITS) or "site"
        group = effort.text("group") or self.code
        return Effort(level, unit, group, self._keys.choice("phase", _PHASES, required=True))

    @cached_property
    def message(self) -> Template | None:
        return read_template(self._keys, "message")

    @cached_property
    def help(self) -> Template | None:
        return read_template(self._keys, "help")

    @cached_property
    def reason(self) -> Template | None:
        return read_template(self._keys, "reason")

    @cached_property
    def supersedes(self) -> frozenset[str]:
        return frozenset(self._keys.texts("supersedes"))

    @property
    def ever_supersedes(self) -> frozenset[str]:
        """The rules that stay silent where this one reports, or where one of its verdicts counts."""
        return self.supersedes.union(*(keys.texts("supersedes") for keys in self._each("verdict")))

    @cached_property
    def guarded(self) -> Guarded:
        return self._keys.choice("guarded", get_args(Guarded)) or "lower"

    @cached_property
    def once(self) -> Once | None:
        return self._keys.choice("once", get_args(Once))

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of facts that the rule is about."""
        return frozenset(keys.choice("fact", FACTS, required=True) for keys in self._each("match"))

    @cached_property
    def matches(self) -> tuple[Match, ...]:
        return tuple(read_match(keys, self._tables) for keys in self._each("match"))

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        each = self._each("verdict", VERDICT_KEYS)
        return tuple(one for keys in each for one in read_verdicts(keys, self.kinds, self._has_row))

    @cached_property
    def fixes(self) -> tuple[FixRow, ...]:
        return tuple(read_fix(keys, self.kinds, self._has_row) for keys in self._each("fix"))

    @cached_property
    def relations(self) -> tuple[Relation, ...]:
        return tuple(read_relation(keys, self.matches) for keys in self._each("relate", RELATION_KEYS))

    @cached_property
    def arguments(self) -> frozenset[str]:
        """The arguments that patterns look at."""
        return frozenset(_arguments_in(self._keys.values))

    @cached_property
    def proofs(self) -> frozenset[str]:
        """The proofs that patterns look at."""
        return frozenset(_proofs_in(self._keys.values))

    @cached_property
    def together(self) -> Extent:
        """Where the findings of the rule are one job."""
        return self._keys.choice("together", get_args(Extent)) or "statement"

    @property
    def phase(self) -> Phase:
        return self.effort.phase

    @property
    def url(self) -> str:
        return rule_url(self.code)

    @property
    def title(self) -> str:
        return self.page.title

    @property
    def text(self) -> str:
        """The page's Markdown, with the grades of its fixes."""
        return with_safety(self.page, self.fixes)

    @property
    def sections(self) -> Mapping[str, str]:
        """The Markdown below each heading of `text`."""
        return read_sections(self.text)

    @property
    def targets(self) -> tuple[Target, ...]:
        """The targets on which the rule can report."""
        return tuple(target for target in TARGETS if any(v.target == target for v in self.verdicts))

    def is_active(self, settings: Settings) -> bool:
        shown = self.status == "stable" or (self.status == "preview" and settings.preview)
        return shown and any(verdict.is_for(settings) for verdict in self.verdicts)

    @property
    def _is_withdrawn(self) -> bool:
        return self.status == "withdrawn"

    @property
    def _has_row(self) -> bool:
        return any(match.tables for match in self.matches)

    def _each(self, key: str, known: tuple[str, ...] | None = None) -> list[Keys]:
        """Return the tables of `[[key]]`."""
        required = key in ("match", "verdict") and not self._is_withdrawn
        items = self._keys.list(key, required=required)
        return [Keys(item, self._keys.where.at(key).at(i), known) for i, item in enumerate(items)]


def read_rule(page: Page, tables: Tables) -> Rule:
    """Return the rule of a page; raises RulebookError for an unknown key and a wrong name."""
    where = page.where
    keys = Keys(page.head, where, _KEYS)
    code, name = keys.text("code", required=True), keys.text("name", required=True)
    if not _CODE.fullmatch(code):
        raise where.at("code").error(f'"{code}" is not capital letters and three digits')
    if not _NAME.fullmatch(name):
        raise where.at("name").error(f'"{name}" is not lower-case words joined by "-"')
    if page.stem != f"{code}-{name}":
        raise where.error(f"the file has to be called {code}-{name}.md")
    status: Status = keys.choice("status", get_args(Status), required=True)
    if status == "withdrawn":  # the rest of its page is history
        keys = Keys({key: value for key, value in page.head.items() if key == "successor"}, where)
    return Rule(code, name, status, page, keys, tables)


def check_rule(rule: Rule) -> None:
    """Read all of a rule; raise RulebookError for a mistake, and for what it and its rows leave out."""
    if rule.status != "withdrawn":
        if "successor" in rule.page.head:
            raise rule.page.where.at("successor").error("only a withdrawn rule has one")
        _check_body(rule.page, rule.name)
    for name, part in vars(Rule).items():
        if isinstance(part, cached_property):
            getattr(rule, name)
    _check_rows(rule)
    _check_words(rule)


def _arguments_in(head: object) -> Iterator[str]:
    """The argument names in all patterns below `head`."""
    if isinstance(head, list):
        for item in head:
            yield from _arguments_in(item)
    elif isinstance(head, Mapping):
        for key, value in head.items():
            if key == "args" and isinstance(value, Mapping):
                yield from value
            elif key == "keyword":
                yield from [value] if isinstance(value, str) else value
            else:
                yield from _arguments_in(value)


def _proofs_in(node: object) -> Iterator[str]:
    if isinstance(node, list):
        for part in node:
            yield from _proofs_in(part)
    elif isinstance(node, Mapping):
        for key, value in node.items():
            if key in ("proofs", "requires"):
                yield from [value] if isinstance(value, str) else value
            else:
                yield from _proofs_in(value)


def _check_body(page: Page, name: str) -> None:
    if page.title != name:
        raise page.where.error(f'the text has to begin with "# {name}"')
    for section in page.missing_sections():
        raise page.where.error(f'the section "## {section}" is missing')


def _check_rows(rule: Rule) -> None:
    """Raise RulebookError for a row that leaves open what a `from-row` verdict leaves open as well."""
    for verdict in (verdict for verdict in rule.verdicts if verdict.from_row):
        for row in (row for match in rule.matches for row in match.rows):
            for ruling in row.all_rulings.get(verdict.target, ()):
                whole = ruling.over(verdict.ruling)
                for key, value in (("severity", whole.severity), ("mechanism", whole.mechanism)):
                    if value is None:
                        here = row.where.at(verdict.target)
                        raise here.error(f'"{key}" is missing, and {rule.code} does not give it')


def _check_words(rule: Rule) -> None:
    """Every finding gets a message, and every placeholder can be filled."""
    tables = {id(table): table for match in rule.matches for table in match.tables}
    rows = [row for table in tables.values() for row in table.written]
    row_keys = {key for table in tables.values() for key in table.keys}
    rulings = [verdict.ruling for verdict in rule.verdicts]
    for verdict in rule.verdicts:
        if verdict.from_row:
            said = [ruling for row in rows for ruling in row.all_rulings.get(verdict.target, ())]
            rulings += said
            _check_message(rule, said if verdict.ruling.message is None else [])
        else:
            _check_message(rule, [verdict.ruling])
    templates = [t for r in rulings for t in (r.message, r.help, r.reason)]
    templates += [rule.message, rule.help, rule.reason, *(fix.words for fix in rule.fixes)]
    for template in templates:
        if template is not None:
            template.check(rule.kinds, row_keys)


def _check_message(rule: Rule, rulings: list[Ruling]) -> None:
    if rule.message is None and any(ruling.message is None for ruling in rulings):
        raise rule.page.where.error('"message" is missing')

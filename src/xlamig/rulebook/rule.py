"""A rule: the head of a page, checked and compiled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from xlamig.config.settings import TARGETS, Settings, Target
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


@dataclass(frozen=True, slots=True)
class Rule:
    code: str
    name: str
    status: Status
    page: Page = field(repr=False)
    effort: Effort
    message: Template | None = None
    help: Template | None = None
    reason: Template | None = None
    supersedes: frozenset[str] = frozenset()
    guarded: Guarded = "lower"
    once: Once | None = None
    matches: tuple[Match, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    fixes: tuple[FixRow, ...] = ()
    relations: tuple[Relation, ...] = ()
    successor: str | None = None
    arguments: frozenset[str] = frozenset()  # those that patterns look at
    together: Extent = "statement"  # where its findings are one job

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


def read_rule(page: Page, tables: Tables) -> Rule:
    where = page.where
    keys = Keys(page.head, where, _KEYS)
    code, name = keys.text("code", required=True), keys.text("name", required=True)
    if not _CODE.fullmatch(code):
        raise where.at("code").error(f'"{code}" is not capital letters and three digits')
    if not _NAME.fullmatch(name):
        raise where.at("name").error(f'"{name}" is not lower-case words joined by "-"')
    if page.stem != f"{code}-{name}":
        raise where.error(f"the file has to be called {code}-{name}.md")
    status = keys.choice("status", get_args(Status), required=True)
    if status == "withdrawn":
        return Rule(
            code,
            name,
            status,
            page,
            Effort("info", "site", code),
            successor=keys.text("successor", required=True),
        )
    if "successor" in keys.values:
        raise where.at("successor").error("only a withdrawn rule has one")
    _check_body(page, name)
    matches = tuple(read_match(k, tables) for k in _each(keys, "match"))
    kinds = {match.kind for match in matches}
    has_row = any(match.tables for match in matches)
    return Rule(
        code,
        name,
        status,
        page,
        _read_effort(keys, code),
        read_template(keys, "message"),
        read_template(keys, "help"),
        read_template(keys, "reason"),
        frozenset(keys.texts("supersedes")),
        keys.choice("guarded", get_args(Guarded)) or "lower",
        keys.choice("once", get_args(Once)),
        matches,
        tuple(v for k in _each(keys, "verdict", VERDICT_KEYS) for v in read_verdicts(k, kinds, has_row)),
        tuple(read_fix(k, kinds, has_row) for k in _each(keys, "fix")),
        tuple(read_relation(k, matches) for k in _each(keys, "relate", RELATION_KEYS)),
        arguments=frozenset(_arguments_in(page.head)),
        together=keys.choice("together", get_args(Extent)) or "statement",
    )


def check_rule(rule: Rule) -> None:
    """Raise RulebookError for what a rule and its rows together leave out."""
    _check_rows(rule)
    _check_words(rule, {match.kind for match in rule.matches})


def _each(keys: Keys, key: str, known: tuple[str, ...] | None = None) -> list[Keys]:
    """The tables of `[[key]]`."""
    items = keys.list(key, required=key in ("match", "verdict"))
    return [Keys(item, keys.where.at(key).at(i), known) for i, item in enumerate(items)]


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


def _check_body(page: Page, name: str) -> None:
    if page.title != name:
        raise page.where.error(f'the text has to begin with "# {name}"')
    for section in page.missing_sections():
        raise page.where.error(f'the section "## {section}" is missing')


def _read_effort(keys: Keys, code: str) -> Effort:
    effort = Keys(keys.table("effort") or {}, keys.where.at("effort"), ("level", "unit", "group"))
    level: Level = effort.choice("level", LEVELS, required=True)
    unit = effort.choice("unit", _UNITS) or "site"
    group = effort.text("group") or code
    return Effort(level, unit, group, keys.choice("phase", _PHASES, required=True))


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


def _check_words(rule: Rule, kinds: set[str]) -> None:
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
            template.check(kinds, row_keys)


def _check_message(rule: Rule, rulings: list[Ruling]) -> None:
    if rule.message is None and any(ruling.message is None for ruling in rulings):
        raise rule.page.where.error('"message" is missing')

"""The rule book, compiled for one run."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

from xlamig.config.errors import did_you_mean
from xlamig.config.settings import Settings
from xlamig.facts import Fact, Package
from xlamig.findings import RuleError
from xlamig.rulebook.errors import RulebookError
from xlamig.rulebook.interest import compile_interest
from xlamig.rulebook.judge import Judge
from xlamig.rulebook.judgement import Judgement, SourceView, Views
from xlamig.rulebook.outline import Outline
from xlamig.rulebook.program import UNSEEN, Program, asked_in
from xlamig.rulebook.rule import Rule
from xlamig.rulebook.tables import STACKS, Tables


class Rulebook(Outline):
    """`rules` are all rules by code; those active for the settings judge."""

    def __init__(
        self,
        rules: Iterable[Rule],
        tables: Tables,
        precedence: Mapping[str, int],
        settings: Settings,
        outline: Outline,
    ) -> None:
        super().__init__(**_entries(outline))
        self.rules: tuple[Rule, ...] = tuple(sorted(rules, key=lambda rule: rule.code))
        self.by_code: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rule in self.rules})
        active = [rule for rule in self.rules if rule.code in outline.active]
        self._judge = Judge(active, precedence, settings)
        self._stacks = tables.get(STACKS)

    def outline(self) -> Outline:
        """The book without its rules: small, and it can be pickled."""
        return Outline(**_entries(self))

    def rule(self, code_or_name: str) -> Rule:
        """Raises RulebookError, with the nearest code or name."""
        wanted = code_or_name.strip()
        for rule in self.rules:
            if wanted.upper() == rule.code or wanted.lower() == rule.name:
                return rule
        hint = did_you_mean(wanted, (*self.codes, *self.codes.values()))
        hint = hint or "; `xlamig rules` lists them"
        raise RulebookError(f'there is no rule "{wanted}"{hint}')

    def on_xla(self, facts: Iterable[Fact]) -> tuple[str, ...]:
        """Return the packages in `facts` that compute with XLA already."""
        if self._stacks is None:
            return ()
        rows = (self._stacks.find(fact.name) for fact in facts if isinstance(fact, Package))
        known = {row.values["title"] for row in rows if row and row.values.get("family") == "xla"}
        return tuple(sorted(known))

    def judge(
        self,
        facts: Iterable[Fact],
        source: SourceView,
        codes: Container[str] | None = None,
        *,
        program: Program = UNSEEN,
        views: Views | None = None,
        on_error: Callable[[RuleError], None] | None = None,
    ) -> tuple[Judgement, ...]:
        """Return the judgements of one file's facts, by place. `codes` are the rules to evaluate, None all;
        `program` says what is known of all files; `views` gives the other files that a fact's reasons lie in;
        `on_error` hears of rules that raised, which then report nothing in this file."""
        return self._judge(
            tuple(facts),
            source,
            codes,
            program,
            views or (lambda filename: None),
            on_error or (lambda e: None),
        )


def outline_of(rules: Iterable[Rule], tables: Tables, digest: str, settings: Settings) -> Outline:
    """Return the outline of a book."""
    every = sorted(rules, key=lambda rule: rule.code)
    active = [rule for rule in every if rule.is_active(settings)]
    judging, previewed = frozenset(rule.code for rule in active), replace(settings, preview=True)
    interest, quiet = compile_interest(active, tables.values(), settings.helper)
    return Outline(
        digest=digest,
        codes={rule.code: rule.name for rule in every},
        active=judging,
        previews=frozenset(rule.code for rule in every if rule.is_active(previewed)) - judging,
        interest=interest,
        quiet=quiet,
        asked={rule.code: asked for rule in active if (asked := asked_in(rule.page.head)) != UNSEEN},
        once=frozenset(rule.code for rule in active if rule.once),
    )


def _entries(outline: Outline) -> dict[str, Any]:
    return {field.name: getattr(outline, field.name) for field in fields(Outline)}

"""The rule book, compiled for one run."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType

from xlamig.config.errors import did_you_mean
from xlamig.config.settings import Settings
from xlamig.facts import Fact, Interest
from xlamig.findings import RuleError
from xlamig.rulebook.errors import RulebookError
from xlamig.rulebook.interest import compile_interest, methods_of_operators
from xlamig.rulebook.judge import Judge
from xlamig.rulebook.judgement import Judgement, SourceView, Views
from xlamig.rulebook.program import UNSEEN, Program, program_names, word_of
from xlamig.rulebook.rule import Rule
from xlamig.rulebook.tables import Tables
from xlamig.rulebook.triggers import compile_check


class Rulebook:
    """`rules` are all rules by code; those active for the settings judge and have an interest. `asked` are
    the names that conditions on the program speak of, `once` the rules that report once in it."""

    def __init__(
        self,
        rules: Iterable[Rule],
        tables: Tables,
        precedence: Mapping[str, int],
        digest: str,
        settings: Settings,
    ) -> None:
        self.rules: tuple[Rule, ...] = tuple(sorted(rules, key=lambda rule: rule.code))
        self.by_code: Mapping[str, Rule] = MappingProxyType({rule.code: rule for rule in self.rules})
        self.digest = digest
        self.codes: Mapping[str, str] = MappingProxyType({rule.code: rule.name for rule in self.rules})
        active = [rule for rule in self.rules if rule.is_active(settings)]
        self._quiet = methods_of_operators(active)
        self.active: frozenset[str] = frozenset(rule.code for rule in active)
        self.interest: Interest = compile_interest(active, tables.values())
        self.once = frozenset(rule.code for rule in active if rule.once)
        asked = {pair for rule in active for pair in program_names(rule.page.head)}
        self.asked = Program(
            frozenset(name for key, name in asked if key == "program"),
            frozenset(name for key, name in asked if key == "unless_program"),
        )
        self._judge = Judge(active, precedence, settings)

    @cached_property
    def may_matter(self) -> Callable[[str], bool]:
        loud = replace(self.interest, methods=self.interest.methods - self._quiet)
        return compile_check(loud, map(word_of, self.asked.uses | self.asked.absent))

    def rule(self, code_or_name: str) -> Rule:
        """Raises RulebookError, with the nearest code or name."""
        wanted = code_or_name.strip()
        for rule in self.rules:
            if wanted.upper() == rule.code or wanted.lower() == rule.name:
                return rule
        hint = did_you_mean(wanted, (*self.codes, *self.codes.values()))
        raise RulebookError(f'there is no rule "{wanted}"{hint}')

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
        """What the facts of one file mean, by place. `codes` are the rules to evaluate, None all;
        `program` says what is known of all files; `views` gives the other files that a fact's reasons
        lie in; `on_error` hears of rules that raised, which then report nothing in this file."""
        return self._judge(
            tuple(facts),
            source,
            codes,
            program,
            views or (lambda filename: None),
            on_error or (lambda e: None),
        )

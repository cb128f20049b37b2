"""The part of a book that a run needs before any file is judged."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property

from xlamig.facts import Interest
from xlamig.rulebook.program import Program, word_of
from xlamig.rulebook.triggers import compile_check


@dataclass(eq=False)
class Outline:
    """`codes` are the names of all rules by code, `active` those that judge,
    `previews` those that judge with the setting `preview` only. `asked` are, by code, the
    names that conditions on the program speak of, `once` the rules that report once in it. `quiet` are
    methods of `interest` for which alone no file is read."""

    digest: str
    codes: Mapping[str, str]
    active: frozenset[str]
    previews: frozenset[str]
    interest: Interest
    quiet: frozenset[str]
    asked: Mapping[str, Program]
    once: frozenset[str]

    def asked_by(self, codes: Container[str]) -> Program:
        """Return what these rules ask of the program."""
        asked = [program for code, program in self.asked.items() if code in codes]
        kinds = (field.name for field in fields(Program))
        return Program(*(frozenset().union(*(getattr(one, kind) for one in asked)) for kind in kinds))

    @cached_property
    def packages(self) -> frozenset[str]:
        """Return the packages that rules ask about, by their first name."""
        return frozenset(name.partition(".")[0] for name in self.interest.packages)

    @cached_property
    def may_matter(self) -> Callable[[str], bool]:
        loud = replace(self.interest, methods=self.interest.methods - self.quiet)
        asked = self.asked_by(self.active)
        return compile_check(loud, map(word_of, asked.uses | asked.absent))

"""The input and output of judging a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from xlamig.facts import Fact
from xlamig.findings import Finding, Range
from xlamig.rulebook.verdict import FixRow


@dataclass(frozen=True, slots=True)
class Judgement:
    """A finding, the fact it came from, the fixes that may be tried, in order, and the rules that stay silent
    at its place."""

    finding: Finding
    fact: Fact
    fixes: tuple[FixRow, ...] = ()
    supersedes: frozenset[str] = frozenset()


class SourceView(Protocol):
    """The text of a file; in a notebook, places lie in its cells."""

    @property
    def filename(self) -> str: ...

    @property
    def text(self) -> str: ...

    def range(self, start: int, end: int) -> Range: ...

    def cell_at(self, offset: int) -> int | None: ...


Views = Callable[[str], SourceView | None]
"""The text of another file, None where it cannot be had."""

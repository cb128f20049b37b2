"""The rule book: pages as data, facts to findings."""

from __future__ import annotations

from xlamig.rulebook.book import Rulebook
from xlamig.rulebook.errors import RulebookError
from xlamig.rulebook.judgement import Judgement, SourceView
from xlamig.rulebook.load import load
from xlamig.rulebook.program import Program

__all__ = ["Judgement", "Program", "Rulebook", "RulebookError", "SourceView", "load"]

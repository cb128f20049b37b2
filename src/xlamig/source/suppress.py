"""Suppression comments: `# xlamig: ignore[XLA101] reason`, `# xlamig: ignore-file[XLA1]`,
the XLA codes of `# noqa: XLA101, E501`, and a bare `# noqa`, which silences every linter."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

from xlamig.facts import Span
from xlamig.source.comments import Comment, comments, scan
from xlamig.source.text import SourceText

Kind = Literal["ignore", "ignore-file", "noqa"]

_NOQA = re.compile(r"(?:#|//|/\*)\s*noqa\b(?:\s*:[^\r\n]*XLA|(?!\s*:))", re.IGNORECASE)
# A comment may hold several directives: "# type: ignore  # xlamig: ignore[XLA101]"; "#12" starts none.
_PIECE = re.compile(r"#(?!\d)")
_NATIVE_PIECE = re.compile(r"//(?=\s*(?:xlamig|noqa))|/\*")
_OURS = re.compile(r"(?:#|//|/\*)\s*xlamig:\s*(ignore-file|ignore)(?![\w-])(?:\s*\[([^\]]*)\])?")
_THEIRS = re.compile(r"(?:#|//|/\*)\s*noqa\s*:\s*([A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)(?!\w)", re.IGNORECASE)
_BARE = re.compile(r"(?:#|//|/\*)\s*noqa\b()(?!\s*:)", re.IGNORECASE)
_WORD = re.compile(r"[^\s,]+")


FILE = -1  # in place of a row; 0 is none


class Code(NamedTuple):
    """A code, prefix or name as it is spelled in a comment."""

    text: str
    start: int
    end: int

    def means(self, code: str, name: str) -> bool:
        # Without a digit, "XLA" would be a blanket suppression under another name.
        return self.text == name or (self.text[-1].isdigit() and code.startswith(self.text.upper()))


@dataclass(frozen=True, slots=True)
class Suppression:
    """One directive. Ours without codes is a blanket one, which suppresses nothing; a bare noqa
    suppresses everything."""

    kind: Kind
    codes: tuple[Code, ...]
    span: Span  # the whole comment
    rows: tuple[int, int]  # first and last row it covers; a file suppression covers all
    reason: str
    others: tuple[Code, ...]  # codes of other tools in the same noqa
    cut: Span  # what goes when no code is left,
    rest: str  # and what takes its place

    @property
    def blanket(self) -> bool:
        return not self.codes and not self.bare

    @property
    def bare(self) -> bool:
        return self.kind == "noqa" and not self.codes


class Use(NamedTuple):
    """One code of one suppression: the unit that is used or not."""

    suppression: Suppression
    code: Code


@dataclass(frozen=True)
class Suppressions:
    """The suppressions of a file's comments, in file order. `guessed`: the text does not tokenize."""

    entries: tuple[Suppression, ...] = ()
    guessed: bool = False
    source: SourceText | None = field(default=None, compare=False, repr=False)

    @property
    def blanket(self) -> tuple[Suppression, ...]:
        return tuple(entry for entry in self.entries if entry.blanket)

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """Everything that could be used."""
        return tuple(Use(entry, code) for entry in self.entries for code in entry.codes)

    def covers(self, code: str, name: str, row_start: int, row_end: int) -> Use | None:
        """Return the suppression of a finding on these rows: a line before the file, the longest code first.

        A finding belongs to the logical line it starts on, so that a comment inside a loop
        does not silence what is said of the loop; guessed rows are no logical lines, and any will do.
        """
        last = row_end if self.guessed else row_start
        rows = (FILE, *range(row_start, last + 1))
        numbers = sorted({number for row in rows for number in self._by_row.get(row, ())})
        near = [self.entries[number] for number in numbers]
        hits = [Use(entry, use) for entry in near for use in entry.codes if use.means(code, name)]
        hits += [Use(entry, Code("", *entry.span)) for entry in near if entry.bare]
        return max(hits, key=_closeness, default=None)

    @cached_property
    def _by_row(self) -> dict[int, list[int]]:
        """The numbers of the entries that cover a row."""
        found: dict[int, list[int]] = {}
        for number, entry in enumerate(self.entries):
            first, last = (FILE, FILE) if entry.kind == "ignore-file" else entry.rows
            for row in range(first, last + 1):
                found.setdefault(row, []).append(number)
        return found

    def unused(self, used: Collection[Use]) -> tuple[Use, ...]:
        return tuple(use for use in self.uses if use not in used)


def _closeness(use: Use) -> tuple[bool, int]:
    return use.suppression.kind != "ignore-file", len(use.code.text)


def removal(suppression: Suppression, code: Code) -> tuple[int, int, str]:
    """The edit that takes one code out, as (start, end, replacement). The last code goes with its
    directive; a reason and the codes of other tools stay."""
    listed = sorted((*suppression.codes, *suppression.others), key=lambda other: other.start)
    if len(listed) == 1:
        return (*suppression.cut, suppression.rest)
    at = listed.index(code)
    if at == 0:
        return code.start, listed[1].start, ""
    return listed[at - 1].end, code.end, ""


def suppressions(source: SourceText) -> Suppressions:
    """The suppressions of a file; cheap when it has none."""
    text = source.text
    if "xlamig:" not in text and not _NOQA.search(text):
        return Suppressions()
    if source.kind is not None:
        return Suppressions(tuple(_directives(source, scan(source))), True, source)
    try:
        return Suppressions(tuple(_directives(source, comments(source))), False, source)
    except (SyntaxError, tokenize.TokenError):
        return Suppressions(tuple(_directives(source, scan(source))), True, source)


def _directives(source: SourceText, found: Iterable[Comment]) -> Iterator[Suppression]:
    pieces = _NATIVE_PIECE if source.kind == "native" else _PIECE
    for comment in found:
        text = source.text[comment.start : comment.end]
        starts = [piece.start() for piece in pieces.finditer(text)]
        for start, end in pairwise([*starts, len(text)]):
            piece = text[start:end]
            match = _OURS.match(piece) or _THEIRS.match(piece) or _BARE.match(piece)
            if match:
                made = _directive(source, comment, comment.start + start, piece, match)
                if made is not None:
                    yield made


def _directive(
    source: SourceText, comment: Comment, start: int, piece: str, match: re.Match[str]
) -> Suppression | None:
    ours = match.re is _OURS
    group = 2 if ours else 1  # empty in a bare noqa
    at = start + max(match.start(group), 0)
    words = [Code(w[0], at + w.start(), at + w.end()) for w in _WORD.finditer(match[group] or "")]
    codes = tuple(word for word in words if ours or word.text.upper().startswith("XLA"))
    if match.re is _THEIRS and not codes:
        return None
    reason = piece[match.end() :].strip().removesuffix("*/").strip().lstrip(":-– ")
    kind: Kind = ("ignore-file" if match[1] == "ignore-file" else "ignore") if ours else "noqa"
    rows = comment.rows
    if kind == "noqa" and comment.between:  # to every tool, noqa speaks of its own line
        row = source.locate(comment.start).row
        rows = (row, row)
    others = tuple(word for word in words if word not in codes)
    cut, rest = _cut(source, comment, start, start + len(piece), reason)
    return Suppression(kind, codes, (comment.start, comment.end), rows, reason, others, cut, rest)


def _comment_of(mark: str, reason: str) -> str:
    return f"/* {reason} */" if mark == "/*" else f"{'//' if mark == '//' else '#'} {reason}"


def _cut(source: SourceText, comment: Comment, start: int, end: int, reason: str) -> tuple[Span, str]:
    """How to take out the directive at `start:end` of a comment."""
    text = source.text
    if reason:
        kept_end = start + len(text[start:end].rstrip())
        return (start, kept_end), _comment_of(text[start : start + 2], reason)
    if end < comment.end:  # another directive follows
        return (start, end), ""
    if start == comment.start and comment.alone:
        return source.line_span(source.locate(start).row), ""
    before = text[:start].rstrip(" \t\f") if start else ""
    return (len(before), end), ""

"""Writes the suppression comments for findings that stay."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Mapping
from dataclasses import replace

from xlamig.source.suppress import Suppression, suppressions
from xlamig.source.text import SourceText

_LINE_END = re.compile(r"\r\n?|\n")
_SKIPPED = (
    tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
)  # fmt: skip


def with_ignores(source: SourceText, found: Mapping[int, Iterable[str]], reason: str = "") -> SourceText:
    """`source` with a comment on every logical line that `found` names by a row, for its codes.

    A comment of ours that is there gets the codes; otherwise one is put at the line's end, or above it
    where the file is not Python. Text that does not tokenize, and rows outside every statement, stay
    as they are.
    """
    if source.kind is not None:
        return _with_lines_above(source, found, reason)
    try:
        lines = logical_lines(source)
    except (SyntaxError, tokenize.TokenError):
        return source
    wanted: dict[int, set[str]] = {}
    for row, codes in found.items():
        if row in lines:
            wanted.setdefault(lines[row], set()).update(codes)
    own = {entry.rows[1]: entry for entry in suppressions(source).entries if _is_extensible(entry)}
    inserted = sorted((_insertion(source, row, codes, own.get(row), reason) for row, codes in wanted.items()))
    text, at = [], 0
    for offset, addition in inserted:
        text += [source.text[at:offset], addition]
        at = offset
    return replace(source, text="".join([*text, source.text[at:]]))


def _with_lines_above(source: SourceText, found: Mapping[int, Iterable[str]], reason: str) -> SourceText:
    """Where not every place can have a comment behind it, as in a Dockerfile, all go above."""
    if source.kind in ("json", "lock"):
        return source
    own = {entry.rows[0]: entry for entry in suppressions(source).entries if _is_extensible(entry)}
    wanted: dict[int, set[str]] = {}
    for row, codes in found.items():
        while row > 1 and source.line(row - 1).endswith("\\"):
            row -= 1
        wanted.setdefault(row, set()).update(codes)
    mark = "//" if source.kind == "native" else "#"
    text, at = [], 0
    for row, codes in sorted(wanted.items()):
        start, addition = source.line_span(row)[0], ""
        if row in own:
            start, addition = _insertion(source, row, codes, own[row], reason)
        else:
            line = source.line(row)
            indent = line[: len(line) - len(line.lstrip())]
            comment = f"{indent}{mark} xlamig: ignore[{', '.join(sorted(codes))}] {reason}".rstrip()
            addition = comment + ("\r\n" if "\r\n" in source.text else "\n")
        text += [source.text[at:start], addition]
        at = start
    return replace(source, text="".join([*text, source.text[at:]]))


def logical_lines(source: SourceText) -> dict[int, int]:
    """From each row of a logical line to its last row, where a comment covers all of it."""
    text = _LINE_END.sub("\n", source.text)
    last: dict[int, int] = {}
    first = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            row = token.start[0]
            last.update(dict.fromkeys(range(first or row, row + 1), row))
            first = 0
        elif token.type not in _SKIPPED and not first:
            first = token.start[0]
    return last


def _is_extensible(entry: Suppression) -> bool:
    return entry.kind == "ignore" and not entry.blanket


def _insertion(
    source: SourceText, row: int, codes: Iterable[str], own: Suppression | None, reason: str
) -> tuple[int, str]:
    """Where to insert what."""
    if own is not None:
        listed = {code.text for code in own.codes}
        new = [code for code in sorted(codes) if code not in listed]
        return own.codes[-1].end, "".join(f", {code}" for code in new)
    start, _ = source.line_span(row)
    line = source.line(row)
    end = start + len(line.rstrip())
    comment = f"# xlamig: ignore[{', '.join(sorted(codes))}]"
    return end, f"  {comment} {reason}".rstrip()

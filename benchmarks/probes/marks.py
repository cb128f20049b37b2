"""The marks in a probe: which lines must be reported, and which must not."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_MARK = re.compile(r"#\s*(expect-file|expect|silent)(?:@(\w+))?(?:\s*:\s*([A-Za-z0-9|]+))?\s*$")
_ANY = "any"
LONGEST_EXPECTED, LONGEST_SILENT = 13, 3  # lines of a finding that still speaks of each of them


class BadMark(ValueError):
    """A comment that begins like a mark and is none."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A marked line. One of the marks of a `group` is enough; no `codes` stand for any code."""

    kind: str
    file: str
    line: int
    group: str
    codes: frozenset[str]

    def matches(self, finding: Mapping[str, Any]) -> bool:
        """Return whether a finding is one that the mark speaks of."""
        if finding["severity"] == "info" or (self.codes and finding["code"] not in self.codes):
            return False
        if self.kind == "expect-file":
            return True
        row, end = finding["location"]["row"], finding["end_location"]["row"]
        longest = LONGEST_SILENT if self.kind == "silent" else LONGEST_EXPECTED
        covered = row <= self.line <= end and end - row < longest
        return finding["filename"] == self.file and (row == self.line or covered)

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {'|'.join(sorted(self.codes)) or _ANY}"


def marks_in(file: str, text: str) -> Iterator[Mark]:
    """Yield the marks of a file; raises BadMark."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT or not re.match(r"#\s*(expect|silent)", token.string):
            continue
        found = _MARK.match(token.string)
        if found is None:
            raise BadMark(f"{file}:{token.start[0]}: {token.string}")
        codes = frozenset(found[3].split("|")) if found[3] and found[3] != _ANY else frozenset()
        yield Mark(found[1], file, token.start[0], found[2] or "", codes)


def without_marks(text: str) -> str:
    """Return the text without its marks, with the same lines."""
    return "\n".join(
        _MARK.sub("", line).rstrip() if _MARK.search(line) else line for line in text.split("\n")
    )


@dataclass(frozen=True, slots=True)
class Verdict:
    """The marks of a probe by what became of them: groups of expected marks, and silent ones."""

    reported: list[list[Mark]]
    missed: list[list[Mark]]
    silent: list[Mark]
    false: list[tuple[Mark, list[str]]]

    @property
    def must_fire(self) -> bool:
        return bool(self.reported or self.missed)

    @property
    def right(self) -> bool:
        return not self.missed and not self.false


def judge(marks: Sequence[Mark], findings: Sequence[Mapping[str, Any]]) -> Verdict:
    """Compare the marks of a probe with its findings."""
    groups: dict[object, list[Mark]] = {}
    verdict = Verdict([], [], [], [])
    for mark in marks:
        found = sorted({str(finding["code"]) for finding in findings if mark.matches(finding)})
        if mark.kind != "silent":
            groups.setdefault(mark.group or (mark.file, mark.line), []).append(mark)
        elif found:
            verdict.false.append((mark, found))
        else:
            verdict.silent.append(mark)
    for group in groups.values():
        hit = any(mark.matches(finding) for mark in group for finding in findings)
        (verdict.reported if hit else verdict.missed).append(group)
    return verdict

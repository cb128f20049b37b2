"""What fixes changed: unified diffs and the list behind `--show-fixes`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import unified_diff

from xlamig.report.context import one_line
from xlamig.report.numbers import number

_LINE = re.compile(r"[^\n]*\n|[^\n]+")  # str.splitlines also splits at form feeds


def diff(filename: str, old: str, new: str) -> str:
    """A unified diff that `patch` takes; empty when nothing changes."""
    before, after = _LINE.findall(old), _LINE.findall(new)
    lines = unified_diff(before, after, fromfile=filename if old else "/dev/null", tofile=filename)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def applied(files: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """The rules whose fixes were applied, by file."""
    total = sum(sum(codes.values()) for codes in files.values())
    if not total:
        return
    yield f"Fixed {number(total, 'problem')}:"
    for filename, codes in sorted(files.items()):
        if codes:
            yield f"- {one_line(filename)}:"
            yield from (f"    {count} x {code}" for code, count in sorted(codes.items()))

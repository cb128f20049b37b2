"""The examples of a page, and the marks that say what is reported in them: `# expect: ACME001`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from xlamig.config.errors import did_you_mean
from xlamig.config.settings import TARGETS, Target
from xlamig.rulebook.page import CODE, Page, read_sections

EXAMPLE, INSTEAD = "Example", "Use instead"
_FILES: Mapping[str, str] = {  # by the language of a block; the first that a section has counts
    "python": "example.py",
    "pip-requirements": "requirements.txt",
    "dockerfile": "Dockerfile",
    "yaml": "example.yaml",
    "sh": "example.sh",
    "cuda": "example.cu",
}
_BLOCK = re.compile(r"^```([\w-]+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_MARK = re.compile(rf"(?:#|//) expect(?:\[(\w+)\])?: ({CODE}(?:, {CODE})*)")


class Example(NamedTuple):
    """A file to be checked; `place` is its name in messages."""

    place: str
    name: str
    text: str
    reports: bool  # the rule reports something in it
    every: bool = False  # findings that are merely possible or ask for no change count as well


class Mark(NamedTuple):
    target: Target
    code: str
    row: int


def examples_of(page: Page) -> Iterator[Example]:
    """Yield the code below "Example" and "Use instead"."""
    sections = read_sections(page.body)
    for title in (EXAMPLE, INSTEAD):
        blocks = _BLOCK.findall(sections.get(title, ""))
        found = ((_FILES[tag], text) for tag in _FILES for other, text in blocks if tag == other)
        for name, text in found:
            yield Example(f"{page.filename}: {title}", name, text, title == EXAMPLE)
            break


def marks_of(text: str) -> Iterator[Mark]:
    """Yield the marks of a file; one alone on its line is about the next line.

    Raises ValueError for a comment that begins like a mark.
    """
    for row, line in enumerate(text.splitlines(), 1):
        for mark in _MARK.finditer(line):
            only, codes = mark.groups()
            targets = TARGETS if only is None else tuple(t for t in TARGETS if t == only)
            if not targets:
                raise ValueError(f'line {row}: there is no target "{only}"{did_you_mean(only, TARGETS)}')
            alone = not line[: mark.start()].strip()
            yield from (Mark(target, code, row + alone) for code in codes.split(", ") for target in targets)
        if re.search(r"(?:#|//) expect", line) and not _MARK.search(line):
            raise ValueError(f"line {row}: a mark reads `# expect: XLA005` or `# expect[torch_xla]: XLA005`")


def differences(code: str, target: Target, marked: set[int], reported: set[int]) -> Iterator[str]:
    """Yield a sentence for each line that is marked or reported, and not both."""
    for row in sorted(marked - reported):
        yield f"line {row}: {code} is not reported for {target}, and the line is marked"
    for row in sorted(reported - marked):
        yield f"line {row}: {code} is reported for {target}, and the line has no mark `# expect: {code}`"

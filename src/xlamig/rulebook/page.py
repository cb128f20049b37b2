"""A page as a file: a TOML head between `+++` lines, then Markdown."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from xlamig.rulebook.errors import Where

CODE = r"[A-Z]{2,}\d{3}"  # of a rule, also of one's own
SECTIONS = (
    "What it does",
    "Why it matters on a TPU",
    "Example",
    "Use instead",
    "Fix safety",
    "How to see it yourself",
    "Known limits",
    "References",
)

_PAGE = re.compile(
    r"\A\ufeff?\+\+\+[ \t]*\n(?P<head>.*?)^\+\+\+[ \t]*(?:\n|\Z)(?P<body>.*)", re.DOTALL | re.MULTILINE
)
_HEADING = re.compile(r"^## +(.+?)[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^(`{3,}|~{3,})")


@dataclass(frozen=True)
class Page:
    """`filename` is as shown in messages."""

    filename: str
    stem: str
    head: Mapping[str, Any]
    body: str

    @property
    def where(self) -> Where:
        return Where(self.filename)

    @cached_property
    def title(self) -> str:
        first = self.body.lstrip().partition("\n")[0]
        return first[2:].strip() if first.startswith("# ") else ""

    def missing_sections(self) -> list[str]:
        # Cheaper than `read_sections`: a heading inside a code block is taken for one here.
        there = set(_HEADING.findall(self.body))
        return [section for section in SECTIONS if section not in there]


def read_sections(body: str) -> dict[str, str]:
    """Return the Markdown below each `##` heading, in the page's order."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    fence = ""
    for line in body.splitlines():
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and line.strip() == mark[1]:
            fence = ""
        heading = None if fence else _HEADING.match(line)
        if heading:
            lines = found.setdefault(heading[1], [])
        else:
            lines.append(line)
    return {heading: "\n".join(text).strip() for heading, text in found.items()}


def split_page(text: str, where: Where) -> tuple[str, str]:
    """Head and body; the head keeps its line numbers."""
    parts = _PAGE.match(text)
    if parts is None:
        raise where.error("has to begin with a TOML head between two `+++` lines")
    return "\n" + parts["head"], parts["body"]


def read_toml(text: str, where: Where) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise where.error(f"not valid TOML: {error}") from None

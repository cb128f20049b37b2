"""Makefiles: the shell of their recipes, and the variables they export."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig.artifacts.page import Page
from xlamig.artifacts.surroundings.shell import Wanted, read_shell
from xlamig.facts import Fact

_EXPORT = re.compile(r"^(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*(?:[:?+]{0,2}=)[ \t]*([^\n]*)", re.MULTILINE)
_OTHER = re.compile(r"^(?!\t)[^\n]*", re.MULTILINE)
_PREFIX = re.compile(r"^\t[ \t]*[@+-]*", re.MULTILINE)


def read_makefile(page: Page, wanted: Wanted) -> Iterator[Fact]:
    for found in _EXPORT.finditer(page.text):
        if wanted(found[1]):
            yield page.setting(found[1], found[2].strip(), found.span(), "variable")
    script = _PREFIX.sub(_blank, _OTHER.sub(_other, page.text))
    inner = Page(script, page.kind, page.context)
    yield from read_shell(inner, wanted)


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _other(found: re.Match[str]) -> str:
    """Lines of make itself become empty; those that continue a recipe stay."""
    before = found.string[: found.start()].rstrip("\r\n")
    line_before = before.rpartition("\n")[2]
    if line_before.startswith("\t") and line_before.endswith("\\"):
        return found[0]
    return " " * len(found[0])

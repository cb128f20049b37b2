"""Where in a notebook's JSON the text of each cell stands, so that nothing else need be rewritten."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

Span = tuple[int, int]

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


class NotJson(Exception):
    """The text is no object with a list of objects under "cells"."""


def cell_sources(text: str) -> list[Span | None]:
    """For each cell the span of its "source" value; of a repeated key the last, as for `json.loads`."""
    cells: int | None = None
    for key, start, _ in _members(text, _skip(text, 0)):
        if key == "cells":
            cells = start
    if cells is None or text[cells] != "[":
        raise NotJson
    return [_source(text, start) for start in _elements(text, cells)]


def _source(text: str, cell: int) -> Span | None:
    span: Span | None = None
    for key, start, end in _members(text, cell):
        if key == "source":
            span = (start, end)
    return span


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Key, start and end of each value of the object at `at`."""
    if text[at : at + 1] != "{":
        raise NotJson
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _skip(text, _skip(text, at) + 1)  # over the colon
        _, end = _DECODER.raw_decode(text, start)
        yield key, start, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _elements(text: str, at: int) -> Iterator[int]:
    """The start of each element of the list at `at`."""
    at = _skip(text, at + 1)
    while text[at] != "]":
        yield at
        _, end = _DECODER.raw_decode(text, at)
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at

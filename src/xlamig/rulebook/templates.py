"""Lines of a page with `{placeholders}`, filled from a fact and the row of a table."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from xlamig.config.errors import did_you_mean
from xlamig.facts import Argument, Fact, Value
from xlamig.rulebook.errors import Where
from xlamig.rulebook.shapes import shapes

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([A-Za-z_][\w-]*(?:\.[\w-]+)*)\}")
_LONGEST = 60  # source text in a message
_FILLABLE = frozenset({"scalar", "members", "value"})


class Template:
    """`{{` and `}}` are plain braces, and so is any brace that opens no placeholder."""

    __slots__ = ("pieces", "text", "where")

    def __init__(self, text: str, where: Where) -> None:
        if "\n" in text.strip():
            raise where.error("has to be one line")
        self.text = text.strip()
        self.where = where
        self.pieces: list[tuple[str, str | None]] = []
        position = 0
        for found in _PLACEHOLDER.finditer(self.text):
            plain = self.text[position : found.start()] + ("" if found[1] else found[0][0])
            self.pieces.append((plain, found[1]))
            position = found.end()
        self.pieces.append((self.text[position:], None))

    def check(self, kinds: Collection[str], row_keys: Collection[str]) -> None:
        """Every placeholder has to be a field of a matched kind, an argument or a key of a row."""
        paths = [path for _, path in self.pieces if path is not None]
        known = {name for kind in kinds for name in _fillable(kind)} if paths else set()
        for path in paths:
            root, _, rest = path.partition(".")
            if root == "args" and rest and any("args" in shapes(kind) for kind in kinds):
                continue
            if root == "row":
                if rest.partition(".")[0] not in row_keys:
                    raise self.where.error(f"no row has {{{path}}}{did_you_mean(rest, row_keys)}")
            elif path not in known and not (root == "proofs" and rest):
                raise self.where.error(f"nothing fills {{{path}}}{did_you_mean(path, known)}")

    def of_row(self, row: Mapping[str, Any] | None) -> str:
        """Return the text with what the row says; the placeholders for the fact stay."""
        return "".join(plain + _row_text(path, row) for plain, path in self.pieces)

    def words_of_row(self, row: Mapping[str, Any] | None) -> str:
        """Return what the row fills in."""
        return " ".join(_row_text(path, row) for _, path in self.pieces if path and path.startswith("row."))

    def render(self, fact: Fact, row: Mapping[str, Any] | None) -> str:
        """A placeholder without a value leaves nothing behind, also no empty backquotes."""
        texts: list[str] = []
        gaps = False
        for plain, path in self.pieces:
            texts.append(plain)
            if path is not None:
                filled = _fill(path, fact, row)
                gaps = gaps or not filled
                texts.append(filled)
        text = "".join(texts)
        return _close_gaps(text) if gaps else text


@cache
def _fillable(kind: str) -> frozenset[str]:
    return frozenset(n for n, s in shapes(kind).items() if s.holds in _FILLABLE and not s.member)


def _row_text(path: str | None, row: Mapping[str, Any] | None) -> str:
    if path is None:
        return ""
    root, _, rest = path.partition(".")
    return _row_value(rest, row) if root == "row" and rest else f"{{{path}}}"


def _row_value(path: str, row: Mapping[str, Any] | None) -> str:
    value: Any = row
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return _text(value)


def _fill(path: str, fact: Fact, row: Mapping[str, Any] | None) -> str:
    root, _, rest = path.partition(".")
    if root == "row" and rest:
        return _row_value(rest, row)
    if root == "args" and rest:
        arguments: tuple[Argument, ...] = getattr(fact, "args", ())
        return next((_shown(a.value) for a in arguments if a.name == rest), "")
    if root == "proofs" and rest:
        return fact.proofs.get(rest, "")
    return _text(getattr(fact, root, None))


def _text(value: Any) -> str:
    if value is None or isinstance(value, Mapping):
        return ""
    if isinstance(value, Value):
        return _shown(value)
    if isinstance(value, (frozenset, tuple, list)):
        return ", ".join(sorted(map(str, value)) if isinstance(value, frozenset) else map(str, value))
    return str(value)


def _shown(value: Value) -> str:
    text = str(value.value)
    long = value.kind == "expression" and len(text) > _LONGEST
    return f"{text[: _LONGEST - 3]}..." if long else text


def _close_gaps(text: str) -> str:
    text = re.sub(r"(?<!`)``(?!`)", "", text)
    text = re.sub(r" {2,}", " ", text)
    return re.sub(r" +(?=[,.;:])", "", text).strip().rstrip(" ,:;")

"""Names that model code gives to its sizes."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

_PATH = Path(__file__).parent / "data" / "sizes.toml"


class SizeName(NamedTuple):
    """`kind` is hidden, heads, head, feed-forward or vocabulary; values below `least` are no size."""

    kind: str
    least: int


@cache
def size_names() -> Mapping[str, SizeName]:
    document = tomllib.loads(_PATH.read_text(encoding="utf-8"))
    return {
        name: SizeName(kind, section["least"])
        for kind, section in document.items()
        for name in section["names"]
    }

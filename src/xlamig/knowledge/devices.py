"""Device types: which name an accelerator, which the host. The one table that says what a device is."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Literal

Maker = Literal["host", "nvidia", "xla", "other"]

_PATH = Path(__file__).parent / "data" / "devices.toml"


def maker_of(text: str) -> Maker | None:
    """Return who makes the device that `text` names ("cuda:0"); None if it names no device of PyTorch."""
    return _types().get(text.partition(":")[0])


@cache
def device_types(*makers: Maker, words: bool = False) -> tuple[str, ...]:
    """Return the device types of some makers; with `words` also platforms that are no device type."""
    return tuple(
        name for name, row in _rows() if row["maker"] in makers and (words or not row.get("word", False))
    )


@cache
def alternatives(*makers: Maker, words: bool = False) -> str:
    """Return a regular expression that matches the device types of some makers."""
    return "|".join(map(re.escape, device_types(*makers, words=words)))


@cache
def _types() -> dict[str, Maker]:
    return {name: row["maker"] for name, row in _rows() if not row.get("word", False)}


@cache
def _rows() -> tuple[tuple[str, dict[str, Any]], ...]:
    return tuple(tomllib.loads(_PATH.read_text("utf-8"))["types"].items())

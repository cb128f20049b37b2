"""The tables beside this module, read once."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def table(name: str) -> dict[str, Any]:
    """The content of `data/NAME.toml`."""
    text = files("xlamig.effort").joinpath("data", f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)

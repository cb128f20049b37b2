"""The tables beside this module, read once."""

from __future__ import annotations

import re
import tomllib
from fnmatch import translate
from functools import cache, cached_property
from importlib.resources import files
from typing import Any


class Globs(tuple[str, ...]):
    """Names with wildcards, in any case."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of all names, in lower case."""
        return re.compile("|".join(translate(glob.lower()) for glob in self))


NO_GLOBS = Globs()


@cache
def table(name: str) -> dict[str, Any]:
    """The content of `data/NAME.toml`, with lists of names as `Globs`."""
    text = files("xlamig.effort").joinpath("data", f"{name}.toml").read_text(encoding="utf-8")
    content: dict[str, Any] = _with_globs(tomllib.loads(text))
    return content


def _with_globs(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_globs(inner) for key, inner in value.items()}
    if isinstance(value, list):
        named = all(isinstance(inner, str) for inner in value)
        return Globs(value) if named else [_with_globs(inner) for inner in value]
    return value

"""Which names of settings, commands, variables and images the rules ask about."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache


@lru_cache(maxsize=8)
def matcher(names: frozenset[str]) -> Callable[[str], bool]:
    """Return whether a name is one of these; `*` in them is any text."""
    exact = frozenset(name for name in names if "*" not in name)
    globs = "|".join(".*".join(map(re.escape, name.split("*"))) for name in sorted(names - exact))
    search = re.compile(globs or r"(?!)", re.DOTALL).fullmatch
    return lambda name: name in exact or search(name) is not None

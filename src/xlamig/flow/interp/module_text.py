"""A module as the analyses of others get it."""

from __future__ import annotations

from typing import NamedTuple


class ModuleText(NamedTuple):
    """A module that functions may be run in; `tree` is its pickled IR."""

    filename: str
    text: str
    is_package: bool
    tree: bytes

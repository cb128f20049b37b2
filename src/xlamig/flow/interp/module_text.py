"""A module as the analyses of others get it."""

from __future__ import annotations

from typing import NamedTuple

from xlamig.flow.model.outcomes import State


class ModuleText(NamedTuple):
    """A module that functions may be run in; `tree` is its pickled IR, `switches` are the options that it
    tests and that have the same state in the whole project."""

    filename: str
    text: str
    is_package: bool
    tree: bytes
    switches: tuple[tuple[str, State], ...] = ()

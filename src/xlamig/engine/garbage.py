"""How often Python looks for garbage while a program is checked."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_YOUNG = 100_000  # objects that a collection goes through, a few MB: trees of earlier files are among them
_MIDDLE = 20
_NEVER = 1_000_000


@contextmanager
def young_only() -> Iterator[None]:
    """Collect young objects, and seldom. To go through all that is known of a program, as Python does when it
    has grown by a quarter, takes as long as the analysis of an edited file."""
    before = gc.get_threshold()
    gc.set_threshold(_YOUNG, _MIDDLE, _NEVER)
    try:
        yield
    finally:
        gc.set_threshold(*before)

"""Garbage collection, as rare as trees that are dropped whole allow."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_ALLOCATIONS = 500_000
"""Between two collections of the young: some files' worth of nodes instead of a few statements."""


@contextmanager
def rare_gc() -> Iterator[None]:
    """Collections pass over every node alive, and nearly all nodes die by reference count."""
    before = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, 10, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)

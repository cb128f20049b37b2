"""Answers about the nodes of one file, remembered while it is analysed and forgotten with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

T = TypeVar("T")
_caches: list[_lru_cache_wrapper[object]] = []


def per_file(cached: _lru_cache_wrapper[T]) -> _lru_cache_wrapper[T]:
    """Register a function under `lru_cache` whose arguments keep the tree of a file alive."""
    _caches.append(cached)
    return cached


def forget() -> None:
    """Drop all answers, so that the trees can be freed."""
    for cached in _caches:
        cached.cache_clear()

"""All that can be reached by following edges."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def closure(start: Iterable[str], successors: Callable[[str], Iterable[str]]) -> set[str]:
    """Return `start` and all that its successors lead to, directly or through others."""
    found: set[str] = set()
    waiting = list(start)
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting.extend(successors(one))
    return found

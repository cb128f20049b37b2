"""Words that checks of a port share."""

from __future__ import annotations


def first_few(names: list[str], most: int = 3) -> str:
    """The first few, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(f"`{name}`" for name in names[:most]) + more


def differ(names: list[str]) -> str:
    """Return the sentence that these differ."""
    return f"{first_few(names)} {'differs' if len(names) == 1 else 'differ'}"

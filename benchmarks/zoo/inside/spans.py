"""Pieces of source text."""

from __future__ import annotations

Span = tuple[int, int, int, int]
"""Row, column, end row, end column."""


def contains(outer: Span, inner: Span) -> bool:
    """Return whether `inner` lies in `outer` or is the same."""
    return outer[:2] <= inner[:2] and inner[2:] <= outer[2:]

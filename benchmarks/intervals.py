"""Shares with their 95 % confidence intervals."""

from __future__ import annotations

from math import sqrt

Z = 1.96


def wilson(part: int, whole: int) -> list[float] | None:
    """Return a share and the ends of its 95 % Wilson interval; None of nothing."""
    if not whole:
        return None
    share = part / whole
    middle = (share + Z * Z / (2 * whole)) / (1 + Z * Z / whole)
    half = Z * sqrt(share * (1 - share) / whole + Z * Z / (4 * whole * whole)) / (1 + Z * Z / whole)
    return [round(value, 3) for value in (share, max(0.0, middle - half), min(1.0, middle + half))]


def percent(part: int, whole: int) -> str:
    """Return the share as text, such as "58% (50-66%)"; "-" of nothing."""
    found = wilson(part, whole)
    return "-" if found is None else f"{found[0]:.0%} ({found[1] * 100:.0f}-{found[2]:.0%})"

"""Hours as people may read them: two figures, never minutes."""

from __future__ import annotations

from collections.abc import Sequence


def figure(value: float) -> str:
    if 0 < value < 0.1:
        return "<0.1"
    if value >= 9.95:
        return f"{float(f'{value:.2g}'):.0f}"
    return f"{value:.1f}".removesuffix(".0")


def between(low: float, high: float) -> str:
    return figure(low) if figure(low) == figure(high) else f"{figure(low)}-{figure(high)}"


def number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def percentages(parts: Sequence[int]) -> list[str]:
    """Return the shares of a whole, rounded by largest remainder so that they add up to 100%."""
    whole = sum(parts)
    exact = [100 * part / whole for part in parts]
    rounded = [int(share) for share in exact]
    by_remainder = sorted(range(len(parts)), key=lambda i: rounded[i] - exact[i])
    for i in by_remainder[: 100 - sum(rounded)]:
        rounded[i] += 1
    return [
        percent(part / whole) if share in (0, 100) else f"{share}%"
        for part, share in zip(parts, rounded, strict=True)
    ]


def percent(share: float) -> str:
    """Never 0% of something, nor 100% of not all."""
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{share:.0%}"

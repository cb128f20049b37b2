"""How often two readers agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def raw(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return the share of equal verdicts; None of nothing."""
    return sum(one == two for one, two in pairs) / len(pairs) if pairs else None


def kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa; None where chance alone would agree always."""
    agreed = raw(pairs)
    if agreed is None:
        return None
    first, second = (Counter(side) for side in zip(*pairs, strict=True))
    chance = sum(first[verdict] * second[verdict] for verdict in first) / len(pairs) ** 2
    return None if chance == 1 else (agreed - chance) / (1 - chance)

"""How far two fingerprints of a tensor are apart, and how far they may be."""

from __future__ import annotations

import math

from xlamig.observations import Mark

CHAOS = 5.0  # times the difference that a disturbance like rounding makes
ZERO: Mark = (0.0, 0.0)


def distance(a: Mark, b: Mark) -> float:
    """Infinite where only one is a finite number."""
    if any(map(math.isnan, a)) or any(map(math.isnan, b)):
        return 0.0 if any(map(math.isnan, a)) and any(map(math.isnan, b)) else math.inf
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]))

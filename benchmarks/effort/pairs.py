"""How well anything that only reads code could tell the lines that people change.

usage: python -m benchmarks.effort.pairs

Reads pairs.json, where two people ported the same code, and the complete ports of
ports.json. Prints r_max = sqrt(1 - s_w^2 / s^2): s_w is the spread of the logarithm of lines
within pairs, s over all complete ports; and its 95% interval, with differences within pairs taken
as normal and ports drawn again.
"""

from __future__ import annotations

import json
import math
import random
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DRAWS = 20000


def within(pairs: Sequence[dict[str, Any]], name: str) -> float:
    """The variance of one port's logarithm of lines about the mean of its pair."""
    logs = [[math.log1p(port[name]) for port in pair["ports"]] for pair in pairs]
    return statistics.fmean((one - other) ** 2 / 2 for one, other in logs)


def highest(inside: float, over_all: float) -> float:
    return math.sqrt(max(0.0, 1 - inside / over_all))


def interval(inside: float, count: int, ports: Sequence[float]) -> tuple[float, float]:
    """Return the interval of r_max: count * s_w^2 over its true value is chi-squared with `count` degrees of
    freedom."""
    chance = random.Random(0)
    drawn = sorted(
        highest(
            count * inside / chance.gammavariate(count / 2, 2),
            statistics.variance(chance.choices(ports, k=len(ports))),
        )
        for _ in range(DRAWS)
    )
    return drawn[int(DRAWS * 0.025)], drawn[int(DRAWS * 0.975)]


def main() -> None:
    pairs = json.loads((HERE / "pairs.json").read_text("utf-8"))
    ports = json.loads((HERE / "ports.json").read_text("utf-8"))
    logs = [math.log1p(port["deleted"] + port["added"] - port["new"]) for port in ports if port["complete"]]
    print(f"{len(logs)} complete ports: s {statistics.stdev(logs):.2f}")
    for title, chosen in (("defined", [pair for pair in pairs if pair["by_definition"]]), ("all", pairs)):
        for name in ("lines", "in_common"):
            known = [pair for pair in chosen if all(port[name] for port in pair["ports"])]
            inside = within(known, name)
            low, high = interval(inside, len(known), logs)
            print(
                f"{title:7} pairs, {name:9}: {len(known)} pairs, s_w {math.sqrt(inside):.2f}, "
                f"r_max {highest(inside, statistics.variance(logs)):.2f}, 95% {low:.2f} to {high:.2f}"
            )


if __name__ == "__main__":
    main()

"""The verdict on a migrated script: what it computed and what XLA did, against the original."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

COMPARED = 3  # losses; later ones drift apart by rounding alone
FIRST, EARLY = 1e-4, 2e-2  # relative difference allowed of the first loss, and of the others compared
MIGRATED = "migrated"
GOOD = (MIGRATED, "runs")
SET_ASIDE = ("requirement missing", "not set up", "original fails")


@dataclass
class Ran:
    """The result of a run; `code` is None for a run that took too long."""

    code: int | None
    losses: list[float] = field(default_factory=list)
    devices: list[str] = field(default_factory=list)
    steps: list[dict[str, float]] = field(default_factory=list)
    totals: dict[str, float] = field(default_factory=dict)
    drawn: bool = False
    error: dict[str, Any] | None = None


def differences(one: Ran, other: Ran) -> list[float] | None:
    """Return the relative differences of the first losses; None if there is nothing to compare."""
    pairs = list(zip(one.losses, other.losses, strict=False))[:COMPARED]
    return [
        abs(a - b) / max(abs(a), abs(b), 1e-3) if math.isfinite(a) and math.isfinite(b) else math.inf
        for a, b in pairs
    ] or None


def are_close(difference: list[float] | None) -> bool:
    """Return whether losses that differ so much are the same up to rounding."""
    return difference is not None and difference[0] <= FIRST and max(difference) <= EARLY


def steady(ran: Ran) -> dict[str, float] | None:
    """Return medians over the last third of the steps: the end of an epoch compiles once more."""
    steps = [s for s in ran.steps if s]
    late = steps[-max(4, len(steps) // 3) :]
    if len(late) < 3:
        return None
    return {k: median(b[k] - a[k] for a, b in pairwise(late)) for k in late[0]}


def verdict_of(ran: Ran, difference: list[float] | None, trains: bool) -> str:
    """Return the verdict; what a program computes that does not train is not compared."""
    if ran.code is None:
        return "timeout"
    if ran.code != 0:
        return "error"
    if not ran.totals.get("executions"):
        return "never runs" if "xla" in ran.devices else "not on XLA"
    if not trains:
        return "runs"
    if not are_close(difference):
        return "other losses"
    per_step = steady(ran)
    return "recompiles" if per_step and per_step["compiles"] > 0 else MIGRATED


def cause(verdict: str, ran: Ran, left: list[dict[str, Any]], folder: Path, cwd: Path) -> str:
    """Return the rules that report the line that raised, or the mechanism; and the exception."""
    if verdict == "error":
        frames = {((cwd / name).resolve(), row) for name, row in (ran.error or {}).get("frames", ())}
        codes = [
            f["code"] for f in left if ((folder / f["filename"]).resolve(), f["location"]["row"]) in frames
        ]
        codes = codes or [f["code"] for f in left if f["mechanism"] == "error" and f["severity"] == "error"]
    else:
        mechanisms = {"recompiles": ("recompile",), "timeout": ("recompile", "slow", "cpu-fallback")}
        wanted = mechanisms.get(verdict, ("wrong-result", "slow", "error"))
        codes = [f["code"] for f in left if f["mechanism"] in wanted and f["severity"] != "info"]
    rules = ", ".join(dict.fromkeys(codes)) or "no rule"
    return f"{rules}: {last_line(ran)}" if verdict == "error" else rules


def last_line(ran: Ran) -> str:
    """Return the exception of a run in one line, or its exit code."""
    if ran.error:
        message = ran.error["message"].splitlines()[0] if ran.error["message"] else ""
        return f"{ran.error['type']}: {message}"[:120]
    return "too slow" if ran.code is None else f"exit code {ran.code}, {len(ran.losses)} losses"

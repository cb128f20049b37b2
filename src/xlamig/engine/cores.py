"""How many processor cores this process may use."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

_MEMBERSHIP = Path("/proc/self/cgroup")
_CONTROL = Path("/sys/fs/cgroup")


def usable_cores() -> int:
    """At least one: those that the scheduler offers, cut to what the control groups of a container allow."""
    offered = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min([offered, *(math.ceil(limit) for limit in _limits())]))


def _limits() -> Iterator[float]:
    """Cores per control group, of the own group and of those above it, in both versions of the interface."""
    for line in _read(_MEMBERSHIP).splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        if controllers and "cpu" not in controllers.split(","):
            continue
        top = _CONTROL / controllers
        group = top / path.lstrip("/")
        for folder in (group, *group.parents):
            if not folder.is_relative_to(top):
                break
            yield from _limit(_read(folder / "cpu.max"))
            yield from _limit(f"{_read(folder / 'cpu.cfs_quota_us')} {_read(folder / 'cpu.cfs_period_us')}")


def _limit(text: str) -> Iterator[float]:
    """The quotient of a quota and a period; none for "max", -1 and what is not there."""
    words = text.split()
    if len(words) == 2 and all(word.isdecimal() for word in words) and int(words[1]):
        yield int(words[0]) / int(words[1])


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""

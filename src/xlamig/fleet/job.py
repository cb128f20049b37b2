"""The request for one repository's scan and its answer: small values that travel between machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Status = Literal["ok", "unchanged", "error", "timeout", "memory", "killed", "disk"]
FAILED: tuple[Status, ...] = ("error", "timeout", "memory", "killed")
"""Those that leave a row which says why. `disk` leaves none: the row could not be written."""


@dataclass(frozen=True, slots=True)
class Source:
    """A repository to scan. `location` is an absolute path or a URL; `folder` is the part of it to scan,
    "" for all; `revision` is a branch, tag or commit, "" for the default branch."""

    name: str
    location: str
    revision: str = ""
    folder: str = ""
    gpu: str = ""
    gpu_hours: float | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """An earlier result: the scan it is of, and what it was made from."""

    date: str
    revision: str
    settings: str
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one repository. `megabytes` are those of all its processes together; 0 is no limit."""

    seconds: float = 0
    megabytes: int = 0
    cores: int = 1


NO_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Job:
    """One repository of the scan `date` into the folder `out`. `settings` is the digest of all that a
    result depends on besides the source; `overrides`, `config`, `isolated` and `cache` are for the engine."""

    source: Source
    out: Path
    date: str
    settings: str
    limits: Limits = NO_LIMITS
    known: Known | None = None
    overrides: Mapping[str, object] = field(default_factory=dict)
    config: Path | None = None
    isolated: bool = False
    cache: bool = True


@dataclass(frozen=True, slots=True)
class Outcome:
    """`error` is a sentence; `seconds` and `megabytes` are what the scan took."""

    name: str
    status: Status
    error: str = ""
    seconds: float = 0.0
    megabytes: int = 0
    attempts: int = 1

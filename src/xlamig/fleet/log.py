"""The log of a scan, one JSON file a scan: `OUT/scans/2026-11-22.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from xlamig.fleet.job import Outcome

_FIGURES = ("status", "seconds", "megabytes", "attempts")


def begin(out: Path, date: str, names: Sequence[str]) -> None:
    """Note what is to be scanned, besides what was before on that date. Raises OSError."""
    _write(out, date, {**dict.fromkeys(names), **_read(out, date)})


def end(out: Path, date: str, outcomes: Mapping[str, Outcome]) -> None:
    """Note what each took. Raises OSError."""
    taken = {name: {key: getattr(one, key) for key in _FIGURES} for name, one in outcomes.items()}
    _write(out, date, {**_read(out, date), **taken})


def asked_for(out: Path, date: str) -> list[str]:
    """The repositories that the scan was asked for."""
    return sorted(_read(out, date))


def _path(out: Path, date: str) -> Path:
    return out / "scans" / f"{date}.json"


def _read(out: Path, date: str) -> dict[str, Any]:
    try:
        found = json.loads(_path(out, date).read_text(encoding="utf-8"))["repositories"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(out: Path, date: str, repositories: Mapping[str, object]) -> None:
    path = _path(out, date)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    document = {"date": date, "repositories": dict(sorted(repositories.items()))}
    part.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    part.replace(path)

"""The figures of earlier versions, one commit a line of history.jsonl."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.scoreboard.rows import Figure, Row
from benchmarks.split import Split

HISTORY = Path(__file__).with_name("history.jsonl")


@dataclass(frozen=True, slots=True)
class Entry:
    """The rows of a commit."""

    commit: str
    date: str
    rows: dict[str, Row]


def load(path: Path = HISTORY) -> list[Entry]:
    """Return the entries, the oldest first."""
    return [_entry(json.loads(line)) for line in _lines(path)]


def _entry(stored: dict[str, object]) -> Entry:
    figures = stored["figures"]
    assert isinstance(figures, dict)
    cases = stored.get("cases", {})
    assert isinstance(cases, dict)
    rows = {}
    for name, halves in figures.items():
        pairs: dict[Split, Figure] = {half: Figure(*pair) for half, pair in halves.items()}
        rows[name] = Row(name, pairs, cases=cases.get(name, ""))
    return Entry(str(stored["commit"]), str(stored["date"]), rows)


def previous(entries: Iterable[Entry], commit: str) -> Entry | None:
    """Return the last entry of another commit, with the last figure of each measure that it lacks."""
    others = [entry for entry in entries if entry.commit != commit]
    rows = {name: row for entry in others for name, row in entry.rows.items()}
    return replace(others[-1], rows=rows) if others else None


def store(rows: Iterable[Row], commit: str, path: Path = HISTORY) -> None:
    """Add the figures of a commit, in place of the same figures of the same commit."""
    known = {name: row for entry in load(path) if entry.commit == commit for name, row in entry.rows.items()}
    known |= {row.name: row for row in rows}
    entry = {
        "commit": commit,
        "date": datetime.now(UTC).date().isoformat(),
        "figures": {name: _figures(row) for name, row in known.items()},
        "cases": {name: row.cases for name, row in known.items() if row.cases},
    }
    others = [line for line in _lines(path) if json.loads(line)["commit"] != commit]
    path.write_text("".join(f"{line}\n" for line in (*others, json.dumps(entry))), "utf-8")


def _figures(row: Row) -> dict[Split, list[float]]:
    return {half: [figure.part, figure.whole] for half, figure in row.figures.items()}


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


def current(root: Path) -> str:
    """Return the commit of a checkout, with "+" where its analyser was changed since."""
    git = ["git", "-C", str(root)]
    head = subprocess.run([*git, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True)
    changed = subprocess.run([*git, "status", "--porcelain", "--", "src", "rules"], capture_output=True)
    return (head.stdout.strip() or "unknown") + ("+" if changed.stdout.strip() else "")

"""The figures of earlier versions, one commit a line of history.jsonl."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
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
    rows = {}
    for name, halves in figures.items():
        pairs: dict[Split, Figure] = {half: Figure(*pair) for half, pair in halves.items()}
        rows[name] = Row(name, pairs)
    return Entry(str(stored["commit"]), str(stored["date"]), rows)


def previous(entries: Iterable[Entry], commit: str) -> Entry | None:
    """Return the last entry of another commit."""
    return next((entry for entry in reversed([*entries]) if entry.commit != commit), None)


def store(rows: Iterable[Row], commit: str, path: Path = HISTORY) -> None:
    """Add the figures of a commit, in place of the same figures of the same commit."""
    stored = [json.loads(line) for line in _lines(path)]
    known = {
        name: value
        for entry in stored
        if entry["commit"] == commit
        for name, value in entry["figures"].items()
    }
    figures = {row.name: {half: [f.part, f.whole] for half, f in row.figures.items()} for row in rows}
    entry = {"commit": commit, "date": datetime.now(UTC).date().isoformat(), "figures": known | figures}
    entries = [*(e for e in stored if e["commit"] != commit), entry]
    path.write_text("".join(json.dumps(e) + "\n" for e in entries), "utf-8")


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


def current(root: Path) -> str:
    """Return the commit of a checkout, with "+" where its analyser was changed since."""
    git = ["git", "-C", str(root)]
    head = subprocess.run([*git, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True)
    changed = subprocess.run([*git, "status", "--porcelain", "--", "src", "rules"], capture_output=True)
    return (head.stdout.strip() or "unknown") + ("+" if changed.stdout.strip() else "")

"""Labels of public ports: the lines that people changed for XLA, and what they are worth today.

`today` is `real` (on torch_xla 2.9 the line raises, falls back, recompiles, waits, computes something else or
loses its effect), `elsewhere` (it follows from another line, which is real), `obsolete` (torch_xla no longer
needs the change) or `choice` (the porter's preference). Only line numbers and hashes are stored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.split import Split, split_of

LABELS = Path(__file__).with_name("labels")
TODAY = ("real", "elsewhere", "obsolete", "choice")


@dataclass(frozen=True, slots=True)
class Label:
    """Lines of the code before the port; `sha1` is of the first line without its indentation."""

    file: str
    line: int
    end_line: int
    kind: str
    category: str
    detectability: str
    today: str
    sha1: str


@dataclass(frozen=True, slots=True)
class Port:
    """A port: the commit before it, the files with labels, and where the labels come from."""

    id: str
    repo: str
    commit: str
    source: str
    files: tuple[str, ...]
    labels: tuple[Label, ...]

    @property
    def half(self) -> Split:
        return split_of(self.repo)


def ports(folder: Path = LABELS) -> list[Port]:
    """Return the labelled ports, by name."""
    return [_port(json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))]


def _port(stored: dict[str, object]) -> Port:
    files, labels = stored["files"], stored["labels"]
    assert isinstance(files, list) and isinstance(labels, list)
    return Port(
        *(str(stored[name]) for name in ("id", "repo", "commit", "source")),
        files=tuple(file["path"] for file in files),
        labels=tuple(Label(**label) for label in labels),
    )


def moved(port: Port, folder: Path) -> Iterator[Label]:
    """Return the labels whose line is not the one that was labelled."""
    for label in port.labels:
        path = folder / label.file
        lines = path.read_text(errors="surrogateescape").splitlines() if path.is_file() else []
        line = lines[label.line - 1].strip() if label.line <= len(lines) else ""
        if hashlib.sha1(line.encode("utf8", "surrogateescape")).hexdigest()[:12] != label.sha1:
            yield label

"""A judged finding and the files that hold them, one JSON object a line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from benchmarks.judged.places import Place
from benchmarks.split import Split, split_of

SETS = Path(__file__).parent / "sets"
VERDICTS = ("true", "bad-advice", "noise", "false")
SEVERITIES = ("error", "warning", "info")


class BadRecord(Exception):
    """A line of a file of findings that cannot be used."""


@dataclass(slots=True)
class Judged:
    """A finding at a statement of a commit. `of` findings of its rule and class were in the repository, of
    which `drawn` were drawn; `analyser` is the commit of xlamig that reported it; `second` is the verdict of
    a reader who did not know the first."""

    repo: str
    commit: str
    path: str
    cell: int | None
    line: int
    rule: str
    statement: str
    number: int
    severity: str
    confidence: str
    frequency: str
    analyser: str
    of: int
    drawn: int
    verdict: str | None = None
    why: str = ""
    second: str | None = None
    second_why: str = ""

    @property
    def place(self) -> Place:
        return Place(self.statement, self.number)

    @property
    def key(self) -> tuple[str, str, str, int | None, str, Place]:
        return (self.repo, self.commit, self.path, self.cell, self.rule, self.place)

    @property
    def id(self) -> str:
        return hashlib.sha256(repr(self.key).encode()).hexdigest()[:12]

    @property
    def strong(self) -> bool:
        """Return whether it was reported as an error or a warning."""
        return self.severity != "info"

    @property
    def split(self) -> Split:
        return split_of(self.repo)


NAMES = frozenset(field.name for field in fields(Judged))


def parse(row: dict[str, Any]) -> Judged:
    """Return the finding of a row, which may have more keys; raises BadRecord."""
    known = {name: value for name, value in row.items() if name in NAMES}
    try:
        found = Judged(**known)
    except TypeError as error:
        raise BadRecord(str(error)) from None
    for verdict, why in ((found.verdict, found.why), (found.second, found.second_why)):
        if verdict is not None and verdict not in VERDICTS:
            raise BadRecord(f"verdict {verdict!r} is none of {', '.join(VERDICTS)}")
        if verdict not in (None, "true") and not why:
            raise BadRecord(f"verdict {verdict!r} without a reason")
    return found


def load(path: Path) -> list[Judged]:
    """Return the findings of a file; raises BadRecord with the line."""
    found = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        try:
            found.append(parse(json.loads(line)))
        except (ValueError, BadRecord) as error:
            raise BadRecord(f"{path.name}:{number}: {error}") from None
    return found


def load_sets(names: Sequence[str] = (), folder: Path = SETS) -> dict[str, list[Judged]]:
    """Return the named sets, or all."""
    paths = [folder / f"{name}.jsonl" for name in names] or sorted(folder.glob("*.jsonl"))
    return {path.stem: load(path) for path in paths}


def save(path: Path, findings: Iterable[Judged]) -> None:
    """Write findings, ordered by place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    ordered = sorted(findings, key=lambda f: (f.repo, f.path, f.cell or 0, f.line, f.rule))
    path.write_text("".join(json.dumps(asdict(finding)) + "\n" for finding in ordered), "utf-8")

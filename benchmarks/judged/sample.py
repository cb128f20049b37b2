"""Draw findings of a repository for review."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks.checked import Checked
from benchmarks.judged.places import Sources
from benchmarks.judged.records import Judged

STRONG_SHARE = 0.76  # of the draw: errors and warnings; the rest are infos
RULE_SHARE = 6  # at most one in six of a class from one rule

Finding = dict[str, Any]


def draw(findings: Sequence[Finding], size: int, seed: int) -> list[tuple[Finding, int, int]]:
    """Return up to `size` findings at random, each with the number of findings of its rule and class and the
    number of those that were drawn. No rule gives more than a sixth of a class."""
    strong = [f for f in findings if f["severity"] != "info"]
    infos = [f for f in findings if f["severity"] == "info"]
    wanted = min(len(strong), max(round(size * STRONG_SHARE), size - len(infos)))
    generator = random.Random(seed)
    drawn = []
    for group, count in ((strong, wanted), (infos, size - wanted)):
        chosen = _capped(generator.sample(group, len(group)), count)
        every, taken = Counter(f["code"] for f in group), Counter(f["code"] for f in chosen)
        drawn += [(f, every[f["code"]], taken[f["code"]]) for f in chosen]
    return drawn


def _capped(shuffled: Sequence[Finding], count: int) -> list[Finding]:
    limit = max(2, -(-count // RULE_SHARE))
    chosen: list[Finding] = []
    taken: Counter[str] = Counter()
    for finding in shuffled:
        if len(chosen) < count and taken[finding["code"]] < limit:
            chosen.append(finding)
            taken[finding["code"]] += 1
    return chosen


def sheet(
    repo: str, commit: str, analyser: str, found: Checked, size: int, seed: int
) -> list[tuple[Judged, Finding]]:
    """Return the drawn findings as records without a verdict, each with what `check` printed."""
    sources = Sources(found.folder)
    rows: dict[str, tuple[Judged, Finding]] = {}
    for finding, of, drawn in draw(found.shown, size, seed):
        path, cell, row = finding["filename"], finding["cell"], finding["location"]["row"]
        place = sources.at(path, cell, row)
        record = Judged(
            repo, commit, path, cell, row, finding["code"], place.digest, place.number, finding["severity"],
            finding["confidence"], finding["frequency"], analyser, of, drawn,
        )  # fmt: skip
        rows.setdefault(record.id, (record, finding))
    return sorted(rows.values(), key=lambda row: (row[0].path, row[0].cell or 0, row[0].line))

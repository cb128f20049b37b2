"""The plans of whole repositories; XLAMIG_UPDATE_GOLDEN=1 writes them again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from xlamig import engine
from xlamig.config.settings import EffortSettings
from xlamig.effort.estimate import estimate

REPOS = Path(__file__).parents[2] / "fixtures" / "repos"
PINNED = Path(__file__).with_name("pinned.json")


@pytest.mark.parametrize("name", sorted(path.name for path in REPOS.iterdir() if path.is_dir()))
def test_totals_of_a_repository(name: str) -> None:
    report = engine.check([REPOS / name], engine.Options(isolated=True, cache=False, jobs=1))
    plan = estimate(report, EffortSettings())
    hours = plan.hours
    told = {
        "verdict": plan.verdict,
        "hours": [round(value, 1) for value in (hours.low, hours.likely, hours.high)],
        "after_fix_hours": round(hours.after_fix, 1),
        "lines": hours.lines_to_change,
        "sites": {phase.phase: sum(item.sites for item in phase.items) for phase in plan.phases},
    }
    pinned = json.loads(PINNED.read_text("utf-8")) if PINNED.exists() else {}
    if os.environ.get("XLAMIG_UPDATE_GOLDEN"):
        PINNED.write_text(json.dumps(pinned | {name: told}, indent=2) + "\n", "utf-8")
        return
    assert told == pinned[name]

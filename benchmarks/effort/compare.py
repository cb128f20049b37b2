"""Compare the lines a plan estimates with what public ports really changed.

usage: python -m benchmarks.effort.compare --mirror DIR [--half seen|fresh] [--only ID ...] [--json FILE]
       [--recount]

DIR holds git directories as OWNER+NAME/repo or OWNER+NAME/repo/.git. Every repository in
ports.json is checked whole, as it was before its port; the estimate is of the files that the
port changed, and the whole repository's beside it. Prints a row per port, then for the complete
ports of each half Pearson of logarithms with a bootstrap interval, the median ratio and what other
predictors reach. Real are the lines changed in code that was there.
--recount counts the changed lines again from git and says where they differ from the data.
Uses the network for nothing.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.effort.collect import count_port, directory_of
from benchmarks.mirror import check_out
from xlamig import engine
from xlamig.config.settings import EffortSettings
from xlamig.effort.estimate import estimate
from xlamig.effort.plan import Plan
from xlamig.findings import Report

PORTS = Path(__file__).with_name("ports.json")
KINDS = ("*.py", "*requirements*.txt", "*.toml", "*.sh", "*.yaml", "*.yml", "*Dockerfile*", "*.cu", "*.cpp")
RESAMPLES = 4000
BEFOREHAND: dict[str, Callable[[Plan], float]] = {
    "lines": lambda plan: plan.lines.likely,
    "hours": lambda plan: plan.hours.likely,
    "work items": lambda plan: sum(item.sites for phase in plan.phases for item in phase.items),
    "lines of code": lambda plan: plan.coverage.lines,
}


def measure(git: Path, port: dict[str, Any]) -> dict[str, Any]:
    """Return the plan's estimate for the port's files, within the whole repository."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made, "before")
        folder.mkdir()
        check_out(git, port["before"], folder, KINDS)
        back = Path.cwd()
        os.chdir(folder)
        try:
            report = engine.check((Path(),), engine.Options(isolated=True, cache=False))
        finally:
            os.chdir(back)
    return told(report, port)


def told(report: Report, port: dict[str, Any]) -> dict[str, Any]:
    files = set(port["files"])
    part = replace(report, files=tuple(file for file in report.files if file.filename in files))
    plan, whole = estimate(part, EffortSettings()), estimate(report, EffortSettings())
    changed = port["deleted"] + port["added"] - port["new"]
    return {
        "id": port["id"],
        "half": port["half"],
        "complete": port["complete"],
        "changed": changed,
        **{name: rate(plan) for name, rate in BEFOREHAND.items()},
        "files touched": len(files),
        "files in all": len(report.files),
        "whole": whole.lines.likely,
        "in_range": plan.lines.low <= changed <= plan.lines.high,
    }


def pearson(xs: Sequence[float], ys: Sequence[float]) -> float:
    return statistics.correlation(xs, ys) if len(set(xs)) > 1 and len(set(ys)) > 1 else math.nan


def compare(rows: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """One predictor against the lines really changed, both plus one, in logarithms."""
    pairs = [(math.log1p(row[name]), math.log1p(row["changed"])) for row in rows]
    ratios = [math.exp(one - real) for one, real in pairs]
    chance = random.Random(0)
    again = sorted(
        value
        for _ in range(RESAMPLES)
        if not math.isnan(value := pearson(*zip(*chance.choices(pairs, k=len(pairs)), strict=True)))
    )
    return {
        "pearson": round(pearson(*zip(*pairs, strict=True)), 2),
        "interval": [round(again[int(len(again) * share)], 2) for share in (0.025, 0.975)],
        "median_ratio": round(statistics.median(ratios), 2),
        "within_2x": round(sum(0.5 <= ratio <= 2 for ratio in ratios) / len(ratios), 2),
        "within_3x": round(sum(1 / 3 <= ratio <= 3 for ratio in ratios) / len(ratios), 2),
    }


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    names = (*BEFOREHAND, "files touched", "whole")
    inside = sum(row["in_range"] for row in rows)
    return {"ports": len(rows), "in_range": inside} | {name: compare(rows, name) for name in names}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--half", choices=("seen", "fresh"))
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--json", type=Path)
    parser.add_argument("--recount", action="store_true")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for port in json.loads(PORTS.read_text("utf-8")):
        if (args.half and port["half"] != args.half) or (args.only and port["id"] not in args.only):
            continue
        git = directory_of(args.mirror, port)
        if git is None:
            print(f"{port['id']}: no copy of {port['repo']}", file=sys.stderr)
            continue
        if args.recount:
            found = count_port(args.mirror, port)
            kept = {name: port[name] for name in found}
            print(
                f"{port['id']:32} {'as in the data' if found == kept else f'{found}, not {kept}'}", flush=True
            )
            continue
        rows.append(row := measure(git, port))
        numbers = f"changed {row['changed']:5}  estimated {row['lines']:5}  whole {row['whole']:6}"
        print(f"{row['half']:5} {row['id']:40} {numbers}", flush=True)
    halves = {
        half: [row for row in rows if row["half"] == half and row["complete"]] for half in ("seen", "fresh")
    }
    told_of = {half: summary(part) for half, part in halves.items() if len(part) > 2}
    for half, figures in told_of.items():
        print(f"\n{half}: {figures['ports']} complete ports, {figures['in_range']} of them inside the range")
        for name in (*BEFOREHAND, "files touched", "whole"):
            print(f"  {name:14}" + "  ".join(f"{key} {value}" for key, value in figures[name].items()))
    if args.json:
        args.json.write_text(json.dumps({"rows": rows, "summary": told_of}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()

"""Compare the lines and hours a plan estimates with what public ports really changed.

usage: effort.py --mirror DIR [--half fit|held-out] [--only ID ...] [--json FILE]

DIR holds git directories as OWNER+NAME/repo or OWNER+NAME/repo/.git. Of every port in
effort_ports.json the files that the port changed are taken as they were before, and planned alone.
Prints a row per port, then Pearson (of logarithms), the median ratio and baselines for each half,
and one line of JSON. Uses the network for nothing.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

PORTS = Path(__file__).with_name("effort_ports.json")
ESTIMATES: dict[str, Callable[[dict[str, Any]], float]] = {
    "lines": lambda plan: plan["effort"]["lines_to_change"] + plan["fixed_effort"]["lines_to_change"],
    "hours": lambda plan: plan["effort"]["likely_hours"],
    "findings": lambda plan: plan["findings_summary"]["findings"],
    "files": lambda plan: plan["coverage"]["files"],
    "lines of code": lambda plan: plan["coverage"]["lines"],
}


def git_directory(mirror: Path, repo: str) -> Path | None:
    base = mirror / repo.replace("/", "+") / "repo"
    return next((path for path in (base / ".git", base) if (path / "objects").is_dir()), None)


def before(git: Path, port: dict[str, Any], folder: Path) -> None:
    """Write the port's files as they were."""
    for name in port["files"]:
        blob = f"{port['before']}:{name}"
        command = ["git", "-c", "safe.directory=*", f"--git-dir={git}", "show", blob]
        shown = subprocess.run(command, capture_output=True, check=True)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(shown.stdout)


def plan_of(folder: Path) -> dict[str, Any]:
    start = "from xlamig.cli import main; main()"
    command = [sys.executable, "-c", start, "plan", ".", "--isolated", "-n", "--output-format", "json"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if not run.stdout.startswith("{"):
        raise SystemExit(f"xlamig plan failed: {run.stderr.strip()[-500:]}")
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def pearson(xs: Sequence[float], ys: Sequence[float]) -> float:
    return statistics.correlation(xs, ys) if len(set(xs)) > 1 and len(set(ys)) > 1 else math.nan


def compare(rows: Sequence[dict[str, Any]], name: str) -> dict[str, float]:
    """Estimate against the lines really changed, both plus one, in logarithms."""
    told = [math.log1p(row[name]) for row in rows]
    real = [math.log1p(row["changed"]) for row in rows]
    ratios = sorted(math.exp(a - b) for a, b in zip(told, real, strict=True))
    return {
        "pearson": round(pearson(told, real), 2),
        "median_ratio": round(statistics.median(ratios), 2),
        "within_2x": round(sum(0.5 <= ratio <= 2 for ratio in ratios) / len(ratios), 2),
        "within_3x": round(sum(1 / 3 <= ratio <= 3 for ratio in ratios) / len(ratios), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--half", choices=("fit", "held-out"))
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for port in json.loads(PORTS.read_text("utf-8")):
        if (args.half and port["half"] != args.half) or (args.only and port["id"] not in args.only):
            continue
        git = git_directory(args.mirror, port["repo"])
        if git is None:
            print(f"{port['id']}: no copy of {port['repo']}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            before(git, port, Path(folder))
            plan = plan_of(Path(folder))
        changed = port["added"] + port["deleted"]
        row = {"id": port["id"], "half": port["half"], "changed": changed}
        row |= {name: estimate(plan) for name, estimate in ESTIMATES.items()}
        low, high = plan["effort"]["lines_low"], plan["effort"]["lines_high"]
        fixed = plan["fixed_effort"]["lines_to_change"]
        row["in_range"] = low <= changed <= high + fixed
        rows.append(row)
        ratio = (1 + row["lines"]) / (1 + changed)
        told = f"{row['lines']:6.0f} lines {row['hours']:6.1f} h"
        print(f"{row['half']:9} {row['id']:32} changed {changed:5}  estimated {told}  ratio {ratio:5.2f}")
    summary: dict[str, Any] = {}
    for half in ("fit", "held-out"):
        part = [row for row in rows if row["half"] == half]
        if len(part) < 3:
            continue
        summary[half] = {"ports": len(part), "in_range": sum(row["in_range"] for row in part)}
        print(f"\n{half}: {len(part)} ports, {summary[half]['in_range']} of them inside the range")
        for name in ESTIMATES:
            summary[half][name] = figures = compare(part, name)
            print(f"  {name:14}" + "  ".join(f"{key} {value:5.2f}" for key, value in figures.items()))
    if args.json:
        args.json.write_text(json.dumps({"rows": rows, "summary": summary}, indent=1) + "\n", "utf-8")
    print(json.dumps(summary))


if __name__ == "__main__":
    main()

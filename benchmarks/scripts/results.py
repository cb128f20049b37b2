"""Results of migrations: stored with the commit that they were measured at, and summed up by half."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.checked import fingerprint
from benchmarks.intervals import percent
from benchmarks.scripts.verdict import GOOD, SET_ASIDE
from benchmarks.split import SPLITS

RESULTS = Path(__file__).with_name("results.json")


class Results:
    """Results by script, written to a file after each one; without a file, kept in memory."""

    def __init__(self, file: Path | None, resume: bool) -> None:
        self.file, self.commit, self.xlamig = file, _commit(), fingerprint()
        stored = json.loads(file.read_text()) if file is not None and file.exists() else {}
        self.by_id: dict[str, dict[str, Any]] = {r["id"]: r for r in stored.get("results", ())}
        self.resume = resume

    def get(self, script: str) -> dict[str, Any] | None:
        """Return the result to resume from: one of the same sources and rules of xlamig."""
        found = self.by_id.get(script)
        return found if self.resume and found and found["xlamig"] == self.xlamig else None

    def add(self, result: dict[str, Any]) -> dict[str, Any]:
        """Store and return a result."""
        now = datetime.now(UTC).date().isoformat()
        stored = self.by_id[result["id"]] = {
            **_blind(result),
            "commit": self.commit,
            "xlamig": self.xlamig,
            "date": now,
        }
        if self.file is not None:
            rows = sorted(self.by_id.values(), key=lambda row: str(row["id"]))
            text = ",\n".join(json.dumps(row) for row in rows)
            self.file.write_text(f'{{"results": [\n{text}\n]}}\n')
        return stored


def _blind(result: dict[str, Any]) -> dict[str, Any]:
    """Return the result; of a script of test with the rules that name the reason alone, not its error."""
    if result["half"] != "test":
        return result
    return {**result, "why": str(result.get("why", "")).partition(":")[0]}


def totals(results: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return for each half how many scripts ran, how many migrated, and the verdicts."""
    rows = list(results)
    return {half: _totals([row for row in rows if row["half"] == half]) for half in SPLITS}


def _totals(rows: list[dict[str, Any]]) -> dict[str, Any]:
    ran = [row for row in rows if row["verdict"] not in SET_ASIDE]
    return {
        "scripts": len(rows),
        "ran": len(ran),
        "migrated": sum(row["verdict"] in GOOD for row in ran),
        "on the CPU": sum("safe on the CPU" in row for row in ran),
        "unchanged by safe fixes": sum(bool(row.get("safe on the CPU")) for row in ran),
        "portable": sum(bool(row.get("fixed on the CPU")) for row in ran),
        "verdicts": dict(Counter(row["verdict"] for row in rows).most_common()),
    }


def summary(results: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Return the totals of each half as lines of text."""
    for half, total in totals(results).items():
        if not total["scripts"]:
            continue
        ran = total["ran"]
        yield f"{half}: {total['migrated']} of {ran} migrated, {percent(total['migrated'], ran)}"
        if compared := total["on the CPU"]:
            yield f"  the same on the CPU after --fix: {total['unchanged by safe fixes']} of {compared}"
            yield f"  the same on the CPU after --fix --unsafe-fixes: {total['portable']} of {compared}"
        yield "  " + ", ".join(f"{verdict} {count}" for verdict, count in total["verdicts"].items())


def line(result: dict[str, Any]) -> str:
    """Return a result as one line of the table."""
    per_step = result.get("per step")
    costs = "/".join(f"{per_step[k]:g}" for k in ("compiles", "executions", "reads")) if per_step else "-"
    worst = f"{max(result['difference']):.1e}" if result.get("difference") else "-"
    worst += "*" if result.get("controlled") else ""
    checks = (result.get(name) for name in ("safe on the CPU", "fixed on the CPU"))
    cpu = "".join("-" if same is None else "y" if same else "n" for same in checks)
    return f"{result['id']:28} {result['verdict']:14} {costs:>9} {worst:>9}  {cpu:4} {result.get('why', '')}"


def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip() or "unknown"

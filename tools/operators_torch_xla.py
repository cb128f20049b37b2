"""Measures what torch_xla does with every public operator of torch: fallbacks, errors, wrong results.

    python tools/operators_torch_xla.py

in an environment with torch==2.9.0, torch_xla==2.9.0 and expecttest. Writes
`src/xlamig/knowledge/data/operators-torch_xla.json`. Intermediate results are kept in `--cache`, so a
second run goes on where the first one stopped; `docs/operators.md` tells the method.
"""

from __future__ import annotations

import os

os.environ["PJRT_DEVICE"] = "CPU"

import argparse
import datetime
import fnmatch
import json
import tempfile
import time
import warnings
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import torch
import torch_xla
from operator_samples import Subject, subjects
from xla_dispatch import dispatch
from xla_groups import groups
from xla_measure_operator import work_on
from xla_names import remaining
from xla_pool import Pool, Work
from xla_rows import Row
from xla_table import Rows, unknown_rows
from xla_verify import CASES

METHOD = (
    "every name is called on torch_xla's CPU client with samples of torch's test suite and cases of our own; "
    "fallback counters, exceptions, results and gradients are compared with those of the CPU"
)

TARGET = Path(__file__).parents[1] / "src/xlamig/knowledge/data/operators-torch_xla.json"


def all_subjects() -> list[Subject]:
    sampled = list(subjects())
    return [*sampled, *remaining(sampled)]


def named_like(every: Sequence[Subject], wanted: Sequence[str]) -> set[str]:
    """The names that a table is made for: those that fit a name or glob, and all that share their rows."""
    found = {case["api"] for case in CASES["case"] if _fits(case["api"], wanted)}
    for group in groups(every, lambda key: []):
        if any(_fits(name, wanted) for name in group.names):
            found |= set(group.names)
    return found


def _fits(name: str, wanted: Sequence[str]) -> bool:
    return not wanted or any(fnmatch.fnmatchcase(name, one) for one in wanted)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--cache",
        type=Path,
        default=Path(tempfile.gettempdir()) / f"operators-torch_xla-{torch_xla.__version__}",
    )
    parser.add_argument("--out", type=Path, default=TARGET)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--only", nargs="+", default=(), metavar="NAME", help="replace only the rows of these names or globs"
    )
    parser.add_argument("--forget", action="store_true", help="measure again what is in the cache")
    parser.add_argument("--more", action="store_true", help="make the calls that the cache does not have yet")
    parser.add_argument("--measure-only", action="store_true", help="fill the cache, write no table")
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    begun = time.monotonic()
    every = all_subjects()
    names = named_like(every, options.only)
    chosen = [s for s in every if not options.only or names & {*s.names, s.inplace}]
    pool = Pool(options.cache, options.jobs, options.more)
    for number, subject in enumerate(chosen):
        if options.forget:
            pool.forget(subject.key)
        pool.run(subject.key, work_on(subject))
        if number % 50 == 0:
            print(f"{number}/{len(chosen)} {time.monotonic() - begun:.0f} s", flush=True)
    pool.finish()
    if options.measure_only:
        return
    rows, refused = table(chosen, names, Pool(options.cache, options.jobs))
    for line in refused:
        print("refused:", line)
    kept = options.cache / "seconds"
    spent = time.monotonic() - begun + (float(kept.read_text()) if kept.exists() else 0)
    kept.write_text(str(spent))
    if options.only:
        known = json.loads(options.out.read_text("utf-8"))
        rows = known["operators"] | rows
        spent = max(spent, known["about"]["seconds"])
    options.out.write_text(document(unknown_rows(rows) | rows, spent), encoding="utf-8")


def table(chosen: Sequence[Subject], names: Collection[str], pool: Pool) -> tuple[dict[str, Row], list[str]]:
    def run(key: str, work: Work) -> list[dict[str, Any]]:
        pool.run(key, work)
        pool.finish()
        return pool.records(key)

    maker = Rows(run)
    rows: dict[str, Row] = {}
    for group in groups(chosen, pool.records):
        if group.names[0] in names:
            rows |= maker.of_group(group)
    return rows | maker.of_cases(set(names) - set(rows)), maker.refused


def document(rows: dict[str, Row], seconds: float) -> str:
    """JSON with one operator per line, so that a change is a small diff."""
    about = {
        "target": "torch_xla",
        "versions": {"torch": torch.__version__.partition("+")[0], "torch_xla": torch_xla.__version__},
        "date": datetime.date.today().isoformat(),
        "command": "python tools/operators_torch_xla.py",
        "method": METHOD,
        "seconds": round(seconds),
    }
    found = dispatch()
    lowered = {name: found[name] for name in sorted(found) if found[name] in ("kernel", "fallback")}
    parts = [
        f'"about": {json.dumps(about, indent=0)}',
        f'"operators": {lines({name: rows[name] for name in sorted(rows)})}',
        f'"dispatch": {lines(lowered)}',
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def lines(values: dict[str, Any]) -> str:
    return (
        "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in values.items()) + "\n}"
    )


if __name__ == "__main__":
    main()

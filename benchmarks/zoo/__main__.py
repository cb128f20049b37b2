"""Trace small models of published packages, and hold `xlamig check` against the traces.

usage: python -m benchmarks.zoo fetch [PACKAGE ...]
       python -m benchmarks.zoo run [PACKAGE ...] --python PYTHON [--seconds 90] [--only TEXT]
           [--again STATUS]
       python -m benchmarks.zoo compare [PACKAGE ...] [--split dev|test] [--format json]
       python -m benchmarks.zoo status [PACKAGE ...]

`fetch` downloads the sources with pip, `run` traces what has no trace yet, `compare` needs the sources and
the traces and no torch. With --split dev, `compare` names each miss, each finding that was not observed and
each exception; of test it prints totals only. `status` lists what did not build or run.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from functools import partial
from pathlib import Path

from benchmarks.checked import CACHE
from benchmarks.split import SPLITS
from benchmarks.zoo import manifest, observed, report, traces
from benchmarks.zoo.compare import score
from benchmarks.zoo.fetch import fetch
from benchmarks.zoo.manifest import Package
from benchmarks.zoo.predictions import CheckError, predict
from benchmarks.zoo.run import RunError, run

SOURCES = CACHE / "zoo-sources"


def fetch_command(packages: list[Package], arguments: argparse.Namespace) -> int:
    """Return 1 when a package could not be installed."""
    failures = fetch(packages, arguments.sources, print)
    for failure in failures:
        print(f"not installed: {failure}")
    return bool(failures)


def run_command(packages: list[Package], arguments: argparse.Namespace) -> int:
    chosen = [package.only(arguments.only) for package in packages]
    again = frozenset(arguments.again)
    say = partial(print, flush=True)
    run(chosen, arguments.sources, arguments.python, arguments.seconds, again, say)
    return 0


def status_command(packages: list[Package], arguments: argparse.Namespace) -> int:
    for package in packages:
        known = traces.read(package)
        counts = Counter(known[c.name].status if c.name in known else "missing" for c in package.cases)
        print(f"{package.requirement}: " + ", ".join(f"{n} {status}" for status, n in sorted(counts.items())))
        for trace in known.values():
            if trace.status in ("broken", "slow"):
                reason = f": {trace.error.type}: {trace.error.message}" if trace.error else ""
                print(f"  {trace.status}: {trace.case}{reason}")
    return 0


def compare_command(packages: list[Package], arguments: argparse.Namespace) -> int:
    seen = observed.load(packages)
    names = [name for name, _ in observed.counted(seen)]
    lacking = sorted({name.partition("/")[0] for name in names if not (arguments.sources / name).is_file()})
    for folder in lacking:
        print(f"left out, not fetched: {folder}", file=sys.stderr)
    found = predict((n for n in names if n.partition("/")[0] not in lacking), arguments.sources)
    seen = observed.without(seen, frozenset(lacking))
    results = {half: score(packages, seen, found, half) for half in arguments.split or SPLITS}
    if arguments.format == "json":
        print(json.dumps({half: report.as_json(one, seen.cases) for half, one in results.items()}, indent=1))
        return 0
    for half, one in results.items():
        print(f"== {half}", *report.as_text(one, seen.cases), sep="\n")
        if arguments.split == [half]:
            print(*report.details(one), sep="\n")
    return 0


COMMANDS = {"fetch": fetch_command, "run": run_command, "status": status_command, "compare": compare_command}


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m benchmarks.zoo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="all unless some are named")
    parser.add_argument("--sources", type=Path, default=SOURCES, help="folder of the packages' sources")
    parser.add_argument("--python", default=sys.executable, help="one with torch_xla and dependencies.txt")
    parser.add_argument("--seconds", type=float, default=90.0, help="processor time of a case")
    parser.add_argument("--only", default="", metavar="TEXT", help="run cases whose names contain TEXT")
    parser.add_argument("--again", action="append", default=[], help="run cases of this status again")
    parser.add_argument("--split", action="append", choices=SPLITS, help="one half; both unless given")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    return parser.parse_args()


def main() -> int:
    arguments = _parsed()
    try:
        return COMMANDS[arguments.command](manifest.load(arguments.packages), arguments)
    except (manifest.ManifestError, CheckError, RunError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

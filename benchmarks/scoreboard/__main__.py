"""Every figure that needs no torch, in one table, beside those of the previous commit.

usage: python -m benchmarks.scoreboard [--mirror DIR] [--only SECTION ...] [--store]

Runs what is fast or kept: the judged findings, the ports, the kept traces of the zoo and the programs, the
results of the last migration of scripts. What it cannot run it lists. --store adds the figures to
history.jsonl: commit that file. A measure that got better on dev and worse on test is named at the end.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.checked import CACHE, ROOT
from benchmarks.scoreboard import history
from benchmarks.scoreboard.rows import Row, diverging
from benchmarks.scoreboard.sections import SECTIONS, Run
from benchmarks.split import SPLITS


def table(rows: Sequence[Row], before: dict[str, Row]) -> Iterator[str]:
    """Yield the table as lines of text."""
    heads = "".join(f"{split:>24}{'before':>10}" for split in SPLITS)
    yield f"{'':<50}{heads}"
    for row in rows:
        old = before.get(row.name)
        cells = "".join(f"{row.text(split):>24}{row.change(split, old):>10}" for split in SPLITS)
        yield f"{row.name:<50}{cells}"


def _spent(started: float) -> str:
    """Return how long the run took, and on how busy a machine."""
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    cpu = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
    load = f"load {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores"
    return f"{time.monotonic() - started:.0f} s, {cpu:.0f} s of processor time, {load}"


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scoreboard",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    mirror = os.environ.get("XLAMIG_MIRROR")
    parser.add_argument("--mirror", type=Path, default=mirror, help="a folder of git directories")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where findings are kept")
    parser.add_argument(
        "--only", nargs="+", choices=tuple(SECTIONS), metavar="SECTION", help="these sections"
    )
    parser.add_argument("--store", action="store_true", help="add the figures to history.jsonl")
    arguments = parser.parse_args(words)
    started, commit = time.monotonic(), history.current(ROOT)
    run = Run(arguments.mirror, arguments.cache)
    rows = [row for name in arguments.only or SECTIONS for row in SECTIONS[name](run)]
    last = history.previous(history.load(), commit)
    before = last.rows if last else {}
    print(f"xlamig {commit}, before: {f'{last.commit} of {last.date}' if last else 'nothing stored'}")
    print("\n".join(table(rows, before)))
    print('own programs: those the analyser was developed on under "dev", those unseen when new under "test"')
    for name in diverging(rows, before):
        print(f"BETTER ON DEV, WORSE ON TEST: {name}")
    for problem in run.problems:
        print(f"not run: {problem}")
    print(_spent(started))
    if arguments.store:
        history.store(rows, commit)
    return 0


if __name__ == "__main__":
    sys.exit(main())

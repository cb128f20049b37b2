"""How many planted bugs `xlamig verify` catches, and how many right ports it refuses.

python -m benchmarks.verify_gate [--python PATH] [--processes N] [--state FILE] [NAME ...]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.verify_gate.cases import Case, cases
from benchmarks.verify_gate.forks import forked
from xlamig.observations import Check
from xlamig.observe import run, verify
from xlamig.observe.launch import Program
from xlamig.observe.run import Asked, Run


def remembered(plain: Callable[[Program, Asked], Run]) -> Callable[[Program, Asked], Run]:
    """`run`, which runs the reference of several ports once."""
    done: dict[tuple[str, Asked], Run] = {}

    def once(program: Program, asked: Asked) -> Run:
        key = Path(program.target).read_text(), asked
        if key not in done:
            done[key] = plain(program, asked)
        return done[key]

    return once


def failed(case: Case, python: str, locate: bool) -> list[Check]:
    """The checks that a port fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in case.files.items():
            (folder / file).write_text(text)
        original = str(folder / "original.py") if "original.py" in case.files else None
        asked = verify.Asked(steps=12, compare=True, original=original, tolerance=0.02, locate=locate)
        program = Program(target=str(folder / "train.py"), python=python, quiet_stdout=True)
        return [check for check in verify.verify(program, asked) if not check.passed]


Outcome = tuple[str, bool, list[str]]
"""A case's name, whether it is a right port, and what `verify` refused."""


def outcome(case: Case, options: argparse.Namespace) -> Outcome:
    lines = []
    for check in failed(case, options.python, options.locate):
        where = f" [line {check.spot.row}]" if check.spot else ""
        lines.append(f"{check.title}: {check.found}{where} -> {check.rule} {check.advice}")
    return case.name, case.right, lines


def outcomes(chosen: list[Case], options: argparse.Namespace) -> Iterator[Outcome]:
    """Yield the outcomes that `options.state` holds, then the rest, each of which it holds afterwards."""
    state: Path | None = options.state
    kept: list[Outcome] = []
    if state and state.exists():
        kept = [tuple(json.loads(line)) for line in state.read_text().splitlines()]
    names = {case.name for case in chosen}
    yield from (one for one in kept if one[0] in names)
    done = {name for name, _, _ in kept}
    with ThreadPoolExecutor(options.processes) as threads:
        for one in threads.map(
            lambda case: outcome(case, options), [case for case in chosen if case.name not in done]
        ):
            if state:
                with state.open("a") as file:
                    file.write(json.dumps(one) + "\n")
            yield one


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=os.environ.get("XLAMIG_XLA_PYTHON", sys.executable))
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--locate", action="store_true", help="also look for the line of each difference")
    parser.add_argument("--state", type=Path, help="file that keeps what is done, to go on from")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    run.launch = forked
    run.run = remembered(run.run)
    run.require = lambda program, package: None
    chosen = [case for case in cases() if not options.names or any(n in case.name for n in options.names)]
    tally: Counter[tuple[bool, bool]] = Counter()
    for name, right, refused in outcomes(chosen, options):
        as_expected = right is not bool(refused)
        tally[right, as_expected] += 1
        print(f"{'ok  ' if as_expected else 'MISS'}  {'right' if right else 'bug  '}  {name}")
        for line in refused:
            print(f"        {line}", flush=True)
    print(
        f"{tally[True, True]} of {tally[True, True] + tally[True, False]} right ports accepted, "
        f"{tally[False, True]} of {tally[False, True] + tally[False, False]} bugs caught"
    )
    return int(tally[True, False] + tally[False, False] > 0)


if __name__ == "__main__":
    sys.exit(main())

"""Damages files at random and gives each to `check` and `fix`.

    python -m benchmarks.damage FOLDER --count 100000 --state damage.json

The files of FOLDER that xlamig reads are damaged in turn, Python files also as the cell of a notebook. The
number of a case is its seed. `--state` keeps how far a run has come and what failed, so that an
interrupted run goes on where it was; `--only N` runs one case again. A failure is a traceback, a crashed
rule, a fix that does not parse or does not settle, and a case that takes more CPU time than `--seconds`.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.damage import cases
from benchmarks.damage.mutations import mutant
from xlamig import __version__
from xlamig.source.files import is_wanted

SECONDS = 10
MOST_BYTES = 40_000
SAVE_EVERY = 100


def files_of(folder: Path) -> list[Path]:
    wanted = (path for path in folder.rglob("*") if path.is_file() and is_wanted(path.as_posix()))
    return sorted(path for path in wanted if 0 < path.stat().st_size < MOST_BYTES)


def case(number: int, files: Sequence[Path]) -> tuple[str, bytes]:
    """The name and the bytes of a case; every eighth Python file becomes a notebook."""
    rng = random.Random(number)
    path = files[number % len(files)]
    data = mutant(number, path.read_bytes())
    if path.suffix == ".py":
        return ("a.ipynb", mutant(number, cases.notebook(data))) if rng.random() < 1 / 8 else ("a.py", data)
    return path.name, data


def failure(number: int, files: Sequence[Path], seconds: int) -> str | None:
    """The last line of what went wrong, if anything did."""
    name, data = case(number, files)

    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"more than {seconds} CPU s")

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # of the processor: other programs may have it
    try:
        (cases.fix if name == "a.py" else cases.check)(name, data)
    except Exception:
        return traceback.format_exc().strip().splitlines()[-1][:500]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


def cases_left(done: int, count: int, deadline: float) -> Iterator[int]:
    for number in range(done, count):
        if time.monotonic() > deadline:
            return
        yield number


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="the most CPU time that a case may take")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--state", type=Path, default=Path("damage.json"))
    parser.add_argument("--only", type=int, help="run this case alone")
    given = parser.parse_args()
    files = files_of(given.folder)
    if not files:
        parser.error(f"{given.folder}: nothing there that xlamig reads")
    if given.only is not None:
        raise SystemExit(failure(given.only, files, given.seconds))
    state: dict[str, Any] = {"done": 0, "failures": {}}
    if given.state.exists():
        state = json.loads(given.state.read_text("utf-8"))
    for number in cases_left(state["done"], given.count, time.monotonic() + 60 * given.minutes):
        found = failure(number, files, given.seconds)
        if found:
            state["failures"][str(number)] = found
            print(f"{number} ({files[number % len(files)]}): {found}", flush=True)
        state["done"] = number + 1
        if found or state["done"] % SAVE_EVERY == 0:
            given.state.write_text(json.dumps(state), "utf-8")
    given.state.write_text(json.dumps(state), "utf-8")
    print(f"xlamig {__version__}: {state['done']} of {given.count} cases, {len(state['failures'])} failed")


if __name__ == "__main__":
    main()

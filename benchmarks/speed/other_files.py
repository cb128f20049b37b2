"""Measure the share of files that are not Python in a cold check of a repository: with them against without
them.

Both run in turn, round after round, so that a busy machine disturbs them alike; the figure is the ratio of
CPU seconds (user + system) within a round, its median over the rounds.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from benchmarks.speed.packages import RUN, measure
from xlamig.source.kinds import kind_of

SRC = Path(__file__).parents[2] / "src"
CHECK = ("check", ".", "--isolated", "--no-cache", "-j1", "--exit-zero", "--quiet")


def others(repository: Path) -> dict[str, int]:
    """The files that are read beside Python, and their bytes."""
    names = (path.relative_to(repository).as_posix() for path in repository.rglob("*") if path.is_file())
    return {name: (repository / name).stat().st_size for name in names if kind_of(name)}


def ratios(repository: Path, rounds: int) -> tuple[float, float, float]:
    """CPU seconds with and without them, and the ratio; medians."""
    command = [sys.executable, "-c", RUN, str(SRC), *CHECK]
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / repository.name
        shutil.copytree(repository, python, symlinks=True, ignore=_others_in)
        pairs = [(measure(command, repository).cpu, measure(command, python).cpu) for _ in range(rounds)]
    return (
        median(one for one, _ in pairs),
        median(other for _, other in pairs),
        median(one / other for one, other in pairs),
    )


def _others_in(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if name == ".git" or kind_of(f"{Path(folder).name}/{name}")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    print("| repository | other files | MB | with, s | without, s | added |")
    print("|---|---|---|---|---|---|")
    for repository in given.repositories:
        found = others(repository)
        every, python, ratio = ratios(repository, given.rounds)
        size = sum(found.values()) / 1e6
        row = (
            repository.name,
            len(found),
            f"{size:.1f}",
            f"{every:.1f}",
            f"{python:.1f}",
            f"{ratio - 1:+.1%}",
        )
        print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()

"""Print the commands that fetch the repositories which a mirror lacks.

usage: python -m benchmarks.missing --mirror DIR [--for judged ports scripts effort] | sh
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.mirror import MissingMirror, git_directory

HERE = Path(__file__).parent
URL = "https://github.com/{}"


def _jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _json(path: Path) -> list[dict[str, Any]]:
    stored = json.loads(path.read_text("utf-8"))
    return stored if isinstance(stored, list) else [stored]


def _toml(path: Path) -> list[dict[str, Any]]:
    return [row for rows in tomllib.loads(path.read_text("utf-8")).values() for row in rows]


SETS: dict[str, tuple[str, Callable[[Path], list[dict[str, Any]]]]] = {
    "judged": ("judged/sets/*.jsonl", _jsonl),
    "ports": ("ports/labels/*.json", _json),
    "scripts": ("scripts/manifest.toml", _toml),
    "effort": ("effort/ports.json", _json),
}


def repositories(names: Sequence[str] = tuple(SETS)) -> list[str]:
    """Return the repositories of sets, by name."""
    found = set()
    for name in names:
        pattern, read = SETS[name]
        for path in HERE.glob(pattern):
            found |= {row[key] for row in read(path) for key in ("repo", "upstream") if row.get(key)}
    return sorted(found)


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.missing", description=__doc__.splitlines()[0])
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--for", nargs="+", choices=tuple(SETS), default=tuple(SETS), dest="sets")
    arguments = parser.parse_args(words)
    wanted, lacking = repositories(arguments.sets), 0
    for repository in wanted:
        try:
            git_directory(arguments.mirror, repository)
        except MissingMirror:
            lacking += 1
            target = arguments.mirror / repository.replace("/", "+") / "repo"
            print(shlex.join(["git", "clone", "--quiet", "--bare", URL.format(repository), str(target)]))
    print(f"{lacking} of {len(wanted)} repositories are not in {arguments.mirror}", file=sys.stderr)


if __name__ == "__main__":
    main()

"""Rewrite programs and compare their findings by statement: `python -m benchmarks.metamorphic FOLDER ...`."""

from __future__ import annotations

import argparse
import ast
import os
import random
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from benchmarks.metamorphic.rewrites import MAIN, Rewritten, rewrites
from xlamig import engine
from xlamig.engine import Options

Finding = tuple[int, str]


@lru_cache(maxsize=4)
def _of_program(text: str) -> Counter[Finding]:
    return Counter({(row, code): n for (_, row, code), n in findings({MAIN: text}).items()})


def findings(files: dict[str, str], folder: str = "") -> Counter[tuple[str, int, str]]:
    """File, line and code of each finding of a program."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as made:
        place = Path(made) / folder
        place.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (place / name).write_text(text)
        os.chdir(made)
        try:
            settings = {"select": ["ALL"], "confidence": "possible", "preview": True}
            report = engine.check([Path()], Options(settings, jobs=1, cache=False, isolated=True))
        finally:
            os.chdir(before)
    return Counter((f.filename.rpartition("/")[2], f.place.location.row, f.code) for f in report.findings)


def difference(text: str, rewritten: Rewritten) -> tuple[Counter[Finding], Counter[Finding]]:
    """The findings that a rewrite loses and those it adds, by the line they have in the program."""
    before = _of_program(text)
    after: Counter[Finding] = Counter()
    for (name, row, code), count in findings(rewritten.files, rewritten.folder).items():
        after[(rewritten.rows.get((name, row), 0), code)] += count
    return before - after, after - before


def programs(folders: list[Path]) -> Iterator[tuple[Path, str]]:
    for folder in folders:
        for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            text = path.read_text()
            try:
                ast.parse(text)
            except SyntaxError:
                continue
            yield path, text


_Case = tuple[Path, str, Rewritten]


def _sampled(cases: list[_Case], count: int, chance: random.Random) -> list[_Case]:
    """The same number of each kind of rewrite, in their order."""
    kinds: dict[str, list[int]] = {}
    for i, (_, _, made) in enumerate(cases):
        kinds.setdefault(made.kind, []).append(i)
    chosen = (chance.sample(found, min(count, len(found))) for found in kinds.values())
    return [cases[i] for i in sorted(i for found in chosen for i in found)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument(
        "--sample", type=int, default=0, help="rewrites of each kind, drawn at random; 0: all"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quiet", action="store_true", help="print the totals only")
    options = parser.parse_args()
    todo = [(path, text, made) for path, text in programs(options.folders) for made in rewrites(text)]
    if options.sample:
        todo = _sampled(todo, options.sample, random.Random(options.seed))
    tried: Counter[str] = Counter()
    different: Counter[str] = Counter()
    for path, text, made in todo:
        lost, added = difference(text, made)
        tried[made.kind] += 1
        if lost or added:
            different[made.kind] += 1
            if not options.quiet:
                print(f"{path} {made.kind} ({made.what}): lost {sorted(lost)}, added {sorted(added)}")
    for kind, count in sorted(tried.items()):
        print(f"{kind:10} {count:5} rewrites, {different[kind]:4} different")
    print(f"{'all':10} {sum(tried.values()):5} rewrites, {sum(different.values()):4} different")


if __name__ == "__main__":
    main()

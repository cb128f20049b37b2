"""Rewrite programs and compare their findings by statement: `python -m benchmarks.metamorphic FOLDER ...`."""

from __future__ import annotations

import argparse
import ast
import os
import random
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from itertools import product
from pathlib import Path

from benchmarks.metamorphic.program import MAIN, Program, Rewritten
from benchmarks.metamorphic.rewrites import KINDS, rewrites
from xlamig import engine
from xlamig.config.settings import Settings
from xlamig.engine import Options
from xlamig.engine.session import session_for

Finding = tuple[int, str]


@lru_cache(maxsize=4)
def _of_program(text: str) -> tuple[Counter[Finding], list[int]]:
    """Return the findings of a program by statement, and the statement of each line."""
    rows = Program(text).statement_rows
    found: Counter[Finding] = Counter()
    for (_, row, code), count in findings({MAIN: text}).items():
        found[rows[row], code] += count
    return found, rows


def findings(files: dict[str, str], folder: str = "") -> Counter[tuple[str, int, str]]:
    """File, line and code of each place of the findings of a program."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as made:
        place = Path(made) / folder
        place.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (place / name).write_text(text)
        os.chdir(made)
        try:
            settings = {
                "select": ["ALL"],
                "confidence": "possible",
                "preview": True,
                "include-no-action": True,
            }
            report = engine.check([Path()], Options(settings, jobs=1, cache=False, isolated=True))
        finally:
            os.chdir(before)
    places = (place for finding in report.findings for place in finding.places)
    return Counter((p.filename.rpartition("/")[2], p.place.location.row, p.code) for p in places)


def difference(text: str, rewritten: Rewritten) -> tuple[Counter[Finding], Counter[Finding]]:
    """The findings that a rewrite loses and those it adds, by the first line of the statement before.

    What is reported at a call may be reported in the function that it calls once the call is gone, and
    the other way round; what a program has once may be reported at another place."""
    before, statements = _of_program(text)
    by_file: dict[str, Counter[Finding]] = {name: Counter() for name in rewritten.files}
    for (name, row, code), count in findings(rewritten.files, rewritten.folder).items():
        by_file[name][statements[rewritten.rows.get((name, row), 0)], code] += count
    after: Counter[Finding] = Counter()
    for found in by_file.values():
        after |= found  # an import that stands in both files counts once
    lost, added = before - after, after - before
    call, moved = rewritten.call, {statements[row] for row in rewritten.moved}
    for row, code in list(lost.elements()):
        others = moved if row == call else {call} if row in moved else set()
        for other in others:
            if added[other, code] and lost[row, code]:
                added[other, code] -= 1
                lost[row, code] -= 1
    lost, added = +lost, +added
    for (row, code), (other, found) in product(sorted(lost), sorted(added)):
        if code == found in _once() and lost[row, code] and added[other, found]:
            lost[row, code] -= 1
            added[other, code] -= 1
    return +lost, +added


@cache
def _once() -> frozenset[str]:
    """The codes that a program has once, at the first of their places, which a rewrite may change."""
    return session_for(Settings()).outline.once


def programs(folders: list[Path]) -> Iterator[tuple[Path, str]]:
    """Each program that Python can read, once."""
    seen: set[str] = set()
    for folder in folders:
        for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            text = path.read_text()
            try:
                ast.parse(text)
            except SyntaxError:
                continue
            if text not in seen:
                yield path, text
            seen.add(text)


_Case = tuple[Path, str, Rewritten]
_PER_PROGRAM = 2


def cases(folders: list[Path], kinds: Collection[str]) -> Iterator[_Case]:
    return ((path, text, made) for path, text in programs(folders) for made in rewrites(text, kinds))


def sampled(
    folders: list[Path], kinds: Collection[str], count: int, chance: random.Random
) -> Iterator[_Case]:
    """The same number of each kind of rewrite, and at most two of one program."""
    found = list(programs(folders))
    chance.shuffle(found)
    missing = Counter(dict.fromkeys(kinds, count))
    for path, text in found:
        if not missing:
            return
        by_kind: dict[str, list[Rewritten]] = {}
        for made in rewrites(text, missing):
            by_kind.setdefault(made.kind, []).append(made)
        for kind, all_made in by_kind.items():
            for made in chance.sample(all_made, min(_PER_PROGRAM, missing[kind], len(all_made))):
                yield path, text, made
                missing -= Counter([kind])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument(
        "--sample", type=int, default=0, help="rewrites of each kind, drawn at random; 0: all"
    )
    parser.add_argument("--kind", action="append", choices=KINDS, help="only rewrites of this kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quiet", action="store_true", help="print the totals only")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    kinds = options.kind or KINDS
    some = options.sample
    todo = sampled(options.folders, kinds, some, chance) if some else cases(options.folders, kinds)
    tried: Counter[str] = Counter()
    different: Counter[str] = Counter()
    for path, text, made in todo:
        lost, added = difference(text, made)
        tried[made.kind] += 1
        if lost or added:
            different[made.kind] += 1
            if not options.quiet:
                print(
                    f"{path} {made.kind} ({made.what}): lost {sorted(lost)}, added {sorted(added)}",
                    flush=True,
                )
    for kind, count in sorted(tried.items()):
        print(f"{kind:10} {count:5} rewrites, {different[kind]:4} different")
    print(f"{'all':10} {sum(tried.values()):5} rewrites, {sum(different.values()):4} different")


if __name__ == "__main__":
    main()

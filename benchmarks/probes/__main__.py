"""Check the probes and count which marks hold.

usage: python -m benchmarks.probes [--split dev]

With `--split dev` each miss and each false report is printed, with `--split test` totals alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.checked import CHECK, ROOT, RUN, cpu_seconds, with_places
from benchmarks.intervals import percent
from benchmarks.probes.marks import Mark, Verdict, judge, marks_in, without_marks
from benchmarks.split import SPLITS, Split

PROGRAMS = Path(__file__).with_name("programs")


@dataclass(frozen=True, slots=True)
class Probe:
    """A program of one or more files."""

    item: str
    path: Path

    @property
    def files(self) -> list[Path]:
        return sorted(self.path.rglob("*.py")) if self.path.is_dir() else [self.path]

    @property
    def marks(self) -> list[Mark]:
        return [mark for file in self.files for mark in marks_in(self._name(file), file.read_text("utf-8"))]

    def findings(self) -> list[dict[str, Any]]:
        """Return what `check` reports on a copy without the marks, alone in a folder."""
        with tempfile.TemporaryDirectory() as made:
            folder, output = Path(made, self.path.stem), Path(made, "findings.json")
            for file in self.files:
                copy = folder / self._name(file)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(without_marks(file.read_text("utf-8")), "utf-8")
            command = [sys.executable, "-c", RUN, str(ROOT / "src"), *CHECK, "-j1", "-o", str(output)]
            cpu_seconds(command, folder)
            return list(with_places(json.loads(output.read_text("utf-8"))["findings"]))

    def _name(self, file: Path) -> str:
        return file.relative_to(self.path if self.path.is_dir() else self.path.parent).as_posix()


def probes(split: Split) -> Iterator[Probe]:
    """Yield the probes of a half."""
    for item in sorted((PROGRAMS / split).iterdir()):
        for path in sorted(item.iterdir()):
            if path.suffix == ".py" or (path.is_dir() and any(path.glob("*.py"))):
                yield Probe(item.name, path)


def totals(verdicts: Sequence[Verdict]) -> str:
    """Return the totals as a line."""
    fire = [one for one in verdicts if one.must_fire]
    alike = [one for one in verdicts if not one.must_fire]
    counts = {
        "must be reported, complete": (sum(one.right for one in fire), len(fire)),
        "look-alikes, silent": (sum(one.right for one in alike), len(alike)),
    }
    return "; ".join(f"{name}: {part}/{of} {percent(part, of)}" for name, (part, of) in counts.items())


def _show(probe: Probe, verdict: Verdict) -> None:
    where = f"{probe.item}/{probe.path.name}"
    for group in verdict.missed:
        print(f"missed  {where}: {' or '.join(map(str, group))}")
    for mark, codes in verdict.false:
        print(f"false   {where}: {mark} ({', '.join(codes)})")


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.probes", description=__doc__)
    parser.add_argument("--split", choices=SPLITS, help="one half")
    asked = parser.parse_args(words)
    for split in (asked.split,) if asked.split else SPLITS:
        verdicts: dict[str, list[Verdict]] = {}
        for probe in probes(split):
            verdict = judge(probe.marks, probe.findings())
            verdicts.setdefault(probe.item, []).append(verdict)
            if asked.split == "dev":
                _show(probe, verdict)
        for item, some in verdicts.items() if asked.split == "dev" else ():
            print(f"{item}: {totals(some)}")
        print(f"{split}: {totals([one for some in verdicts.values() for one in some])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

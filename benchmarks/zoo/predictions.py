"""Collect the findings of `xlamig check` in the files that ran."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.checked import CACHE, ROOT, RUN, fingerprint, with_places
from benchmarks.zoo.inside.spans import Span

OPTIONS = (
    "--isolated", "--no-cache", "--exit-zero", "--no-effort", "--quiet", "--confidence", "possible",
    # The cases use what they run, and run it every step, which the files that ran need not show.
    "--include-unused", "--include-no-action",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Prediction:
    """A finding about torch_xla."""

    code: str
    mechanism: str
    severity: str
    confidence: str
    frequency: str
    message: str
    span: Span


Predictions = Mapping[str, Sequence[Prediction]]
"""By file, relative to the sources."""


class CheckError(Exception):
    """`xlamig check` could not run."""


def predict(files: Iterable[str], sources: Path, store: Path = CACHE) -> Predictions:
    """Check the files package by package, or take what this version of xlamig said before. Each place
    of a job predicts its own events.

    Raises CheckError.
    """
    by_package: dict[str, list[str]] = {}
    for file in sorted(files):
        by_package.setdefault(file.partition("/")[0], []).append(file)
    found: dict[str, list[Prediction]] = {}
    for package, names in by_package.items():
        known = hashlib.sha256("\n".join(names).encode()).hexdigest()[:12]
        kept = store / "zoo" / fingerprint() / f"{package}-{known}.json"
        if not kept.is_file():
            _check(names, sources, kept)
        for place in with_places(json.loads(kept.read_text())["findings"]):
            found.setdefault(place["filename"], []).append(_prediction(place))
    return found


def _check(files: Sequence[str], sources: Path, output: Path) -> None:
    output.parent.mkdir(parents=True, exist_ok=True)
    part = output.with_suffix(".part")
    arguments = ("check", *OPTIONS, "--output-format", "json", "--output-file", str(part), *files)
    command = [sys.executable, "-c", RUN, str(ROOT / "src"), *arguments]
    done = subprocess.run(command, cwd=sources, capture_output=True, text=True, check=False)
    if done.returncode or not part.is_file():
        raise CheckError(f"xlamig check ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    part.rename(output)


def _prediction(raw: Mapping[str, Any]) -> Prediction:
    start, end = raw["location"], raw["end_location"]
    return Prediction(
        raw["code"],
        raw["mechanism"],
        raw["severity"],
        raw["confidence"],
        raw["frequency"],
        raw["message"],
        (start["row"], start["column"], end["row"], end["column"]),
    )

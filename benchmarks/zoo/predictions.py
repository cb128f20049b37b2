"""What `xlamig check` says of the files that ran."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.zoo.traces import Span

OPTIONS = ("--isolated", "--exit-zero", "--quiet", "--confidence", "possible", "--output-format", "json")


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


def predict(files: Iterable[str], sources: Path) -> Predictions:
    """Check the files package by package; a package is a program of its own. Raises CheckError."""
    by_package: dict[str, list[str]] = {}
    for file in files:
        by_package.setdefault(file.partition("/")[0], []).append(file)
    found: dict[str, list[Prediction]] = {}
    for names in by_package.values():
        for raw in _findings(sorted(names), sources):
            found.setdefault(raw["filename"], []).append(_prediction(raw))
    return found


def _findings(files: Sequence[str], sources: Path) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="zoo-") as folder:
        output = Path(folder, "findings.json")
        command = [sys.executable, "-m", "xlamig.cli", "check", *OPTIONS, "--output-file", str(output), *files]
        done = subprocess.run(
            command, cwd=sources, env=os.environ, capture_output=True, text=True, check=False
        )
        if not output.is_file():
            raise CheckError(f"xlamig check ended with {done.returncode}: {done.stderr.strip()[-500:]}")
        content: dict[str, Any] = json.loads(output.read_text())
    return content["findings"]  # type: ignore[no-any-return]


def _prediction(raw: dict[str, Any]) -> Prediction:
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

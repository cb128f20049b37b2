"""Traces of the programs on torch_xla's CPU client, kept so that a comparison needs no torch."""

from __future__ import annotations

import contextlib
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TRACES = Path(__file__).with_name("traces")
XLAMIG = [sys.executable, "-c", "from xlamig.cli import main; main()"]
EVENT = ("kind", "via", "count", "frequency", "detail", "operators", "compiles")
LIMIT = 900  # seconds


def kept(program: Path, folder: Path = TRACES) -> dict[str, Any] | None:
    """Return the trace of a program; None without one, or where the program has changed since."""
    path = folder / f"{program.stem}.json"
    traced: dict[str, Any] | None = json.loads(path.read_text("utf-8")) if path.exists() else None
    return traced if traced is not None and traced.get("program") == _digest(program) else None


def trace(program: Path, python: str, options: Sequence[str]) -> dict[str, Any] | None:
    """Run a program under `xlamig trace`; None where that fails or takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "trace.json")
        command = [*XLAMIG, "trace", "--as-cuda", "--python", python, *options, "--output-format", "json"]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(
                [*command, "-o", output, program.resolve()], cwd=folder, capture_output=True, timeout=LIMIT
            )
        return json.loads(output.read_text("utf-8")) if output.exists() else None


def keep(program: Path, traced: dict[str, Any], folder: Path = TRACES) -> None:
    """Store of a trace what the comparison needs."""
    lines = (rows for name, rows in traced["lines"].items() if Path(name).name == program.name)
    stored = {
        "program": _digest(program),
        "steps": traced["steps"],
        "steady_state": traced["steady_state"],
        "lines": {program.name: next(lines, {})},
        "events": [_event(event) for event in traced["events"]],
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{program.stem}.json").write_text(json.dumps(stored, separators=(",", ":")) + "\n", "utf-8")


def _event(event: dict[str, Any]) -> dict[str, Any]:
    rows = {name: {"row": event[name]["row"]} for name in ("location", "end_location") if event.get(name)}
    name = event["filename"] and Path(event["filename"]).name
    return {"filename": name, **rows, **{key: event[key] for key in EVENT}}


def _digest(program: Path) -> str:
    return hashlib.sha256(program.read_bytes()).hexdigest()[:16]

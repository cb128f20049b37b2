"""Runs cases on torch_xla's CPU client and keeps what the recorder saw."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.quickly import XLA_FLAGS
from benchmarks.zoo import traces
from benchmarks.zoo.inside.spans import Span
from benchmarks.zoo.manifest import Case, Package
from benchmarks.zoo.traces import OFTEN, CaseTrace, Error, Seen
from xlamig.observations import Trace
from xlamig.observe.collect import collect

ROOT = Path(__file__).resolve().parents[2]
Server = subprocess.Popen[str]
_LEFT_OUT = frozenset({"step-boundary", "transfer"})


class RunError(Exception):
    """The server could not run a job to its end."""


def run(
    packages: Iterable[Package],
    sources: Path,
    python: str,
    seconds: float,
    again: frozenset[str],
    say: Callable[[str], None],
) -> None:
    """Trace each case that has no trace yet, or whose status is one of `again`."""
    with _server(python) as server:
        for package in packages:
            known = traces.read(package)
            wanted = [c for c in package.cases if c.name not in known or known[c.name].status in again]
            if not (sources / package.folder).is_dir():
                say(f"{package.requirement}: not fetched, {len(wanted)} cases left out")
                continue
            for trace in _observe(server, package, wanted, sources, seconds) if wanted else ():
                known[trace.case] = trace
                traces.write(package, known)
                say(f"{package.name}: {trace.case}: {trace.status}{_reason(trace)}")


def _reason(trace: CaseTrace) -> str:
    if trace.error is None:
        return f", {trace.steps} steps, {len(trace.events)} events"
    return f": {trace.error.type}: {trace.error.message} ({trace.error.file}:{trace.error.row})"


def _observe(
    server: Server, package: Package, cases: list[Case], sources: Path, seconds: float
) -> Iterator[CaseTrace]:
    root = f"{sources.resolve()}/"
    with tempfile.TemporaryDirectory(prefix="zoo-") as folder:
        job = {
            "sources": [f"{root}{package.folder}", *_others(sources, package)],
            "root": root,
            "folder": folder,
            "seconds": seconds,
            "setup": package.setup,
            "cases": [asdict(case) for case in cases],
        }
        for answer in _answers(server, job):
            if answer["status"] == "import":
                error = Error(**answer["error"])
                yield from (CaseTrace(case.name, "broken", error) for case in cases)
            else:
                yield _trace(answer, root)
                shutil.rmtree(answer["folder"], ignore_errors=True)


def _others(sources: Path, package: Package) -> list[str]:
    """Packages of the zoo use each other."""
    return [
        str(path.resolve())
        for path in sorted(sources.iterdir())
        if path.is_dir() and path.suffix != ".part" and path.name != package.folder
    ]


def _server(python: str) -> Server:
    environment = {
        "XLA_FLAGS": XLA_FLAGS,
        "OMP_NUM_THREADS": "1",
        **os.environ,
        "PJRT_DEVICE": "CPU",
        "HF_HUB_OFFLINE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src"))),
    }
    command = [python, "-m", "benchmarks.zoo.inside.server"]
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )


def _answers(server: Server, job: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Raises RunError when the server ends before the job does."""
    assert server.stdin and server.stdout
    server.stdin.write(json.dumps(job) + "\n")
    server.stdin.flush()
    for line in server.stdout:
        answer = json.loads(line)
        if answer["status"] == "end":
            return
        yield answer
    raise RunError(f"the server ended with {server.wait()}")


def _trace(answer: dict[str, Any], root: str) -> CaseTrace:
    folder = Path(answer["folder"])
    seen = collect(folder)
    error = answer["error"] and Error(**answer["error"])
    if seen is None or answer["status"] == "broken":
        return CaseTrace(answer["case"], answer["status"], error)
    often = dict(_often(seen, root))
    return CaseTrace(
        answer["case"],
        answer["status"],
        error,
        seen.steps,
        tuple(sorted(_seen(seen, root), key=lambda e: (e.file, e.span, e.kind, e.via, e.operators))),
        often,
        {name: spans for name, spans in _unreached(folder / "unreached", root) if name in often},
    )


def _unreached(path: Path, root: str) -> Iterator[tuple[str, tuple[Span, ...]]]:
    content = json.loads(path.read_text()) if path.is_file() else {}
    for name, spans in sorted(content.items()):
        yield (
            name.removeprefix(root),
            tuple((row, column + 1, end, last + 1) for row, column, end, last in spans),
        )


def _often(trace: Trace, root: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    for name, rows in sorted(trace.lines.items()):
        frequent = tuple(sorted(row for row, steps in rows.items() if steps >= OFTEN))
        if name.startswith(root) and frequent:
            yield name.removeprefix(root), frequent


def _seen(trace: Trace, root: str) -> Iterator[Seen]:
    for event in trace.events:
        spot = event.spot
        if spot and spot.filename.startswith(root) and event.kind not in _LEFT_OUT:
            span = (spot.row, spot.column, spot.end_row, spot.end_column)
            backward = event.through == "backward"
            name = spot.filename.removeprefix(root)
            yield Seen(name, span, event.kind, event.via, event.steps_seen, backward, event.operators)

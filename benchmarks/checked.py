"""Run `xlamig check` on a repository once per version of xlamig, and keep the result."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import xlamig
from benchmarks.mirror import check_out, git_directory

_IMPORTED = Path(xlamig.__file__).parents[2]
ROOT = _IMPORTED if (_IMPORTED / "rules").is_dir() else Path(__file__).parents[1]  # of the xlamig to measure
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xlamig-benchmarks"
RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from xlamig.cli import main; main()"
CHECK = ("check", "--isolated", "--no-cache", "--exit-zero", "--no-effort", "--output-format", "json")
LIMIT = 1200  # seconds


class CheckFailed(Exception):
    """`xlamig check` ended with an error or took too long."""


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings of one repository; those with `aside` are only counted in the report, and infos here.
    `folder` holds its files; `cpu` is in seconds."""

    folder: Path
    findings: list[dict[str, Any]]
    lines: int
    cpu: float

    @property
    def shown(self) -> list[dict[str, Any]]:
        """The findings that a report lists."""
        return [finding for finding in self.findings if not finding.get("aside")]


@cache
def fingerprint(source: Path = ROOT) -> str:
    """Return a hash of the sources and rules of a checkout of xlamig."""
    digest = hashlib.sha256()
    for path in sorted(p for top in ("src", "rules") for p in (source / top).rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(str(path.relative_to(source)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def checked(
    repository: str,
    commit: str,
    mirror: Path,
    store: Path = CACHE,
    source: Path = ROOT,
    patterns: tuple[str, ...] = (),
) -> Checked:
    """Check a commit of a repository, or its files that match a pattern, with the xlamig of a checkout.

    Raises MissingMirror and CheckFailed.
    """
    name = f"{repository.replace('/', '+')}@{commit[:12]}"
    if patterns:
        name += f"-{hashlib.sha256(repr(patterns).encode()).hexdigest()[:8]}"
    folder = store / "checkouts" / name
    if not folder.exists():
        part = folder.with_name(f"{name}.part{os.getpid()}")
        check_out(git_directory(mirror, repository), commit, part, patterns)
        part.rename(folder)
    kept = store / "checks" / fingerprint(source) / f"{name}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        part = kept.with_suffix(f".part{os.getpid()}")
        part.write_text(json.dumps(_run(folder, source)))
        part.rename(kept)
    stored = json.loads(kept.read_text())
    return Checked(folder, stored["findings"], stored["lines"], stored["cpu"])


def _run(folder: Path, source: Path) -> dict[str, Any]:
    """Check a folder in one process."""
    with tempfile.TemporaryDirectory() as made:
        output = Path(made, "findings.json")
        command = [sys.executable, "-c", RUN, str(source / "src"), *CHECK, "-j1", "-o", str(output)]
        cpu = cpu_seconds(command, folder)
        report = json.loads(output.read_text("utf-8"))
    aside = report.get("set_aside", ())
    findings = [*with_places(report["findings"]), *({**f, "severity": "info"} for f in aside)]
    for finding in findings:
        finding.pop("fix", None)
    lines = sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py") if path.is_file())
    return {"findings": findings, "lines": lines, "cpu": round(cpu, 2)}


def with_places(findings: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the findings and the other places of their jobs, with the finding that names them."""
    for finding in findings:
        others = finding.pop("also", ())
        yield finding
        yield from ({**other, "aside": "job", "of": finding["code"]} for other in others)


def cpu_seconds(command: Sequence[str], folder: Path) -> float:
    """Run a command in a folder and return its CPU time; raises CheckFailed."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=errors)
        limit = threading.Timer(LIMIT, process.kill)
        limit.start()
        _, status, usage = os.wait4(process.pid, 0)
        in_time = limit.is_alive()
        limit.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            why = errors.read().decode(errors="replace").strip()[-300:] if in_time else f"more than {LIMIT} s"
            raise CheckFailed(f"{folder.name}: {why}")
    return usage.ru_utime + usage.ru_stime

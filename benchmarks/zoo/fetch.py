"""Fetches the sources of the packages with pip, each into a folder of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from benchmarks.zoo.manifest import Package


def fetch(packages: Iterable[Package], sources: Path, say: Callable[[str], None]) -> list[str]:
    """Return a line for each package that pip could not install; those that are there are kept."""
    sources.mkdir(parents=True, exist_ok=True)
    failures = []
    for package in packages:
        if not (sources / package.folder).is_dir():
            say(f"fetching {package.requirement}")
            if problem := _install(package, sources):
                failures.append(f"{package.requirement}: {problem}")
    return failures


def _install(package: Package, sources: Path) -> str:
    """Return what pip says when it fails. A folder appears only when it is complete."""
    part = sources / f"{package.folder}.part"
    shutil.rmtree(part, ignore_errors=True)
    options = ("--quiet", "--no-deps", "--no-compile", "--target", str(part))
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, package.requirement],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        return lines[-1] if lines else f"pip ended with {done.returncode}"
    part.rename(sources / package.folder)
    return ""

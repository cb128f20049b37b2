"""The test suites of published packages, before and after `xlamig check --fix`.

Each package of the manifest is laid out three times: as it is, after `--fix`, and after `--fix
--unsafe-fixes`. Its own tests run in each copy on the CPU. A regression is a test that passes as it is and
does not pass after a fix. Nothing outside a temporary folder is written.

python -m benchmarks.suites.run --mirror DIR [--python PATH] [ID ...]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.mirror import MissingMirror, check_out, git_directory
from benchmarks.scripts.runs import CHECK, INSTALLED, XLAMIG

MANIFEST = Path(__file__).with_name("manifest.toml")
COPIES: Mapping[str, tuple[str, ...] | None] = {
    "plain": None,
    "safe": ("--fix",),
    "unsafe": ("--fix", "--unsafe-fixes"),
}


@dataclass(frozen=True)
class Suite:
    """A package at a commit; `path` is the folder that its package lies in."""

    id: str
    repo: str
    commit: str
    tests: list[str]
    path: str = "."
    requires: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)


def passed(suite: Suite, folder: Path, python: str, limit: int) -> set[str] | None:
    """Return the tests that pass in a folder; None where they do not end in time."""
    report = folder.with_suffix(".xml")
    path = folder / suite.path
    environment = {**os.environ, **suite.environment, "PYTHONPATH": f"{path}{os.pathsep}{folder}"}
    environment.pop("PJRT_DEVICE", None)
    # Options of the package itself may name plugins that are not installed, such as those for coverage.
    options = ("-q", "-o", "addopts=", "-p", "no:cacheprovider", "-p", "no:randomly", f"--junitxml={report}")
    command = [python, "-m", "pytest", *options, *suite.tests]
    try:
        subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if not report.exists():
        return set()
    bad = {"failure", "error", "skipped"}
    return {
        f"{case.get('classname')}::{case.get('name')}"
        for case in ET.parse(report).iter("testcase")
        if not any(child.tag in bad for child in case)
    }


def changed(plain: Path, fixed: Path) -> list[Path]:
    """Return the Python files that differ from the package as it is."""
    names = {path.relative_to(root) for root in (plain, fixed) for path in root.rglob("*.py")}
    return sorted(n for n in names if _bytes(plain / n) != _bytes(fixed / n))


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def judge(suite: Suite, mirror: Path, python: str, limit: int, work: Path) -> bool:
    """Print how the tests of a package end in each copy; return whether none ends worse."""
    missing = subprocess.run([python, "-c", INSTALLED, *suite.requires], capture_output=True, text=True)
    if missing.stdout.split() or missing.returncode:
        print(f"{suite.id:26} not run: {' '.join(missing.stdout.split())} missing")
        return True
    before: set[str] = set()
    good = True
    for name, options in COPIES.items():
        folder = work / suite.id / name
        try:
            check_out(git_directory(mirror, suite.repo), suite.commit, folder, ("*",))
        except MissingMirror as why:
            print(f"{suite.id:26} not run: {why}")
            return True
        if options is not None:
            subprocess.run([*XLAMIG, *CHECK, *options, "."], cwd=folder, capture_output=True, check=True)
        found = passed(suite, folder, python, limit)
        if found is None or (options is None and not found):
            print(f"{suite.id:26} {name:7} not judged: {'too slow' if found is None else 'no test passes'}")
            return options is None
        if options is None:
            before = found
            print(f"{suite.id:26} {name:7} {len(found)} tests pass")
            continue
        files, lost = changed(work / suite.id / "plain", folder), sorted(before - found)
        print(f"{suite.id:26} {name:7} {len(files)} files changed, {len(lost)} regressions", flush=True)
        for text in (*map(str, files), *(f"regression: {test}" for test in lost)):
            print(f"    {text}")
        good &= not lost
    return good


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help="suites of the manifest; without any, all")
    parser.add_argument("--mirror", type=Path, required=True, help="folder of git directories")
    parser.add_argument("--python", default=sys.executable, help="one with torch, pytest and requirements")
    parser.add_argument("--limit", type=int, default=600, help="seconds per run of a suite")
    args = parser.parse_args()
    suites = [Suite(**entry) for entry in tomllib.loads(MANIFEST.read_text())["suite"]]
    if unknown := set(args.ids) - {suite.id for suite in suites}:
        parser.error(f"not in the manifest: {', '.join(sorted(unknown))}")
    chosen = [suite for suite in suites if not args.ids or suite.id in args.ids]
    with tempfile.TemporaryDirectory() as work:
        judged = [judge(s, args.mirror.resolve(), args.python, args.limit, Path(work)) for s in chosen]
    return 0 if all(judged) else 1


if __name__ == "__main__":
    sys.exit(main())

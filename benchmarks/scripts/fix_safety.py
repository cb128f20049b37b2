"""`xlamig check --fix` on copies of whole repositories: what it must never break.

For each repository, given as a checkout or a bare Git directory: every changed file compiles, the
helper's import resolves from each import path that resolved the file's own imports of the project before,
fixes settle, and a second run changes nothing. A repository that cannot be read counts as not safe.
`--runs` names a manifest, a JSON list of objects `repository`, `command` and optionally `cwd`, `env`,
`limit`, `compare`: the command has to end as it did before the fixes, with the same output unless
`compare` is false. Nothing outside a temporary folder is written.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from benchmarks.mirror import MissingMirror, check_out
from xlamig.fix.loop import RESTLESS

XLAMIG = [sys.executable, "-c", "from xlamig.cli import main; main()"]
HELPER = "xla_compat"
SUFFIXES = (".py", ".ipynb", ".md", ".sh", ".toml", ".cfg", ".txt", ".yml", ".yaml", "Makefile")
DEFINITION = "def default_device(cuda_index=None)", "def step_boundary()", "def seed_xla(seed)"


@dataclass
class Row:
    """The result of one repository."""

    repository: str
    files: int = 0
    changed: int = 0
    helpers: int = 0
    defined: int = 0  # files that define what they use
    broken: int = 0  # changed files that no longer compile
    unresolved: int = 0  # changed files whose import of the helper does not resolve
    unsettled: int = 0
    again: int = 0  # files that a second run changes
    examined: bool = True
    seconds: float = 0
    runs: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def is_safe(self) -> bool:
        return self.examined and not (
            self.broken or self.unresolved or self.unsettled or self.again or "differs" in self.runs
        )


def copy(repository: Path, to: Path) -> None:
    """The files of a checkout, or of a bare repository's HEAD, as a repository of its own."""
    if (repository / ".git").is_dir():
        shutil.copytree(repository, to, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    else:
        check_out(repository, "HEAD", to, [f"*{suffix}" for suffix in SUFFIXES])
    for command in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-qm", "before", "--no-verify"]):
        subprocess.run(
            ["git", "-C", str(to), "-c", "user.name=x", "-c", "user.email=x@x", *command],
            check=True,
            capture_output=True,
        )


def fix(root: Path, limit: float) -> str:
    """Run `--fix`; what it says on standard error."""
    command = [*XLAMIG, "check", ".", "--fix", "--isolated", "--no-cache", "--quiet"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=limit, check=False)
    return done.stderr


def changed(root: Path) -> list[Path]:
    status = subprocess.run(
        ["git", "-C", str(root), "status", "--porcelain", "-z", "-uall"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [root / entry[3:] for entry in status.split("\0") if entry]


def examine(repository: Path, limit: float, run: Mapping[str, Any] | None) -> Row:
    name = repository.parent.name if repository.name == "repo" else repository.name
    row = Row(name.replace("+", "/"))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "copy")
        copy(repository, root)
        row.files = sum(1 for _ in root.rglob("*.py"))
        before = outcome(root, run) if run else None
        started = time.monotonic()
        said = fix(root, limit)
        row.seconds = round(time.monotonic() - started, 1)
        row.unsettled = said.count(RESTLESS)
        if "Error" in said or "Traceback" in said:
            row.notes.append(said.strip().splitlines()[-1])
        for path in changed(root):
            note(row, root, path)
        if run:
            after = outcome(root, run)
            row.runs = "as before" if before == after else f"differs: {before} {after}"
        subprocess.run(["git", "-C", str(root), "add", "-A", "-f"], check=True)
        fixed = {path: path.read_bytes() for path in root.rglob("*.py")}
        fix(root, limit)
        row.again = sum(fixed.get(path) != path.read_bytes() for path in root.rglob("*.py"))
    return row


def note(row: Row, root: Path, path: Path) -> None:
    """Count what one changed file shows."""
    if path.name == f"{HELPER}.py":
        row.helpers += 1
        return
    if path.suffix != ".py":
        row.changed += path.suffix == ".ipynb"
        return
    row.changed += 1
    text = path.read_text(encoding="utf-8", errors="replace")
    row.defined += any(head in text for head in DEFINITION)
    tree = parsed(text)
    if tree is None:
        old = subprocess.run(
            ["git", "-C", str(root), "show", f"HEAD:{path.relative_to(root).as_posix()}"],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        row.broken += parsed(old) is not None
        row.notes.append(f"does not compile: {path.relative_to(root)}")
    elif not resolves(tree, root, path):
        row.unresolved += 1
        row.notes.append(f"helper not found: {path.relative_to(root)}")


def parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "file", "exec", dont_inherit=True)
            return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def resolves(tree: ast.Module, root: Path, path: Path) -> bool:
    """Return whether the helper is found on each import path that served the file's other imports."""
    names = list(absolute(tree))
    helpers = [name for name in names if name.rpartition(".")[2] == HELPER]
    others = [n for n in names if n not in helpers and any(found(p, n) for p in paths(root, path))]
    if not helpers:
        return True
    served = [p for p in paths(root, path) if others and all(found(p, name) for name in others)]
    if not served:
        served = next(filter(None, (list(imported_from(root, p)) for p in loaded_with(root, path))), [])
        served = served or [starts_from(tree, root, path)]
    return all(found(p, name) for p in served for name in helpers)


def loaded_with(root: Path, path: Path) -> Iterator[Path]:
    """A module, and the packages that load it by a relative import."""
    yield path
    for folder in path.parents:
        if folder == root or not (folder / "__init__.py").exists():
            return
        yield folder / "__init__.py"


def imported_from(root: Path, path: Path) -> Iterator[Path]:
    """The import paths from which other files of the repository import this one."""
    for folder in paths(root, path):
        if not path.is_relative_to(folder):
            continue
        parts = path.relative_to(folder).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name == folder.name and (folder / "__init__.py").exists():
            continue  # this name means the package
        dotted = re.escape(name)
        pattern = re.compile(rf"^\s*(?:import {dotted}\b|from {dotted} import)", re.MULTILINE)
        others = (other for other in folder.rglob("*.py") if other != path)
        if name and any(pattern.search(other.read_text(errors="replace")) for other in others):
            yield folder


def starts_from(tree: ast.Module, root: Path, path: Path) -> Path:
    """The import path of a file that imports nothing of the project by an absolute name."""
    inside = (path.parent / "__init__.py").exists() and not has_main_guard(tree)
    if not inside:
        return path.parent
    folder = path.parent
    while (folder / "__init__.py").exists() and folder != root:
        folder = folder.parent
    return folder


def has_main_guard(tree: ast.Module) -> bool:
    return any(isinstance(s, ast.If) and "__main__" in ast.unparse(s.test) for s in tree.body)


def absolute(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and not statement.level and statement.module:
            yield statement.module
        elif isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)


def paths(root: Path, path: Path) -> list[Path]:
    folders = [p for p in path.parents if p.is_relative_to(root)]
    return [*folders, *(folder / "src" for folder in folders)]


def found(folder: Path, name: str) -> bool:
    target = folder.joinpath(*name.split("."))
    return target.with_suffix(".py").is_file() or (target / "__init__.py").is_file()


def outcome(root: Path, run: Mapping[str, Any]) -> object:
    environment = {**os.environ, **run.get("env", {}), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        run["command"],
        cwd=root / run.get("cwd", "."),
        env=environment,
        shell=True,
        capture_output=True,
        text=True,
        timeout=run.get("limit", 300),
        check=False,
    )
    return (done.returncode, done.stdout if run.get("compare", True) else "")


def table(rows: list[Row]) -> str:
    names = [f.name for f in fields(Row) if f.name not in ("examined", "notes")]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(str(getattr(row, name)) for name in names) + " |" for row in rows]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--runs", type=Path, help="the manifest of commands")
    parser.add_argument("--limit", type=float, default=1200, help="seconds for one run of xlamig")
    options = parser.parse_args()
    runs = {r["repository"]: r for r in json.loads(options.runs.read_text())} if options.runs else {}
    rows: list[Row] = []
    for repository in options.repositories:
        name = repository.parent.name if repository.name == "repo" else repository.name
        try:
            row = examine(repository, options.limit, runs.get(name.replace("+", "/")))
        except (subprocess.SubprocessError, OSError, MissingMirror) as error:
            row = Row(name.replace("+", "/"), examined=False, notes=[f"not examined: {error}"])
        rows.append(row)
        print(table([row]).splitlines()[-1], *row.notes, sep="\n  ", flush=True)
    print(table(rows))
    return 0 if all(row.is_safe for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())

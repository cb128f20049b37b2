"""List the contents of a program besides findings: the packages it needs and is, and its kernels."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from packaging.utils import canonicalize_name

from xlamig import artifacts
from xlamig.engine.options import Options
from xlamig.engine.run import Run
from xlamig.engine.source import Source
from xlamig.facts import Fact, Interest, Package
from xlamig.findings import FileReport, Report

_REQUIRING = ("requirements", "toml", "setup-cfg", "yaml", "dockerfile", "shell")
_TRITON = ("triton.jit", "triton.autotune")
_INTEREST = Interest(kinds=frozenset({"package"}))


@dataclass(frozen=True, slots=True, order=True)
class UsedPackage:
    """A package by its name in the normal form of PEP 503. `via`: it is required, imported by that name,
    the distribution that the program is ("own"), or a module of it. `filename` is the first of `files`
    files that say so."""

    name: str
    via: Literal["requirement", "import", "own", "module"]
    version: str
    optional: bool
    filename: str
    files: int = 1


@dataclass(frozen=True, slots=True, order=True)
class KernelSource:
    """A kernel that is part of the program. `lines` is 0 where they are not counted."""

    filename: str
    row: int
    name: str
    kind: Literal["cuda", "triton"]
    lines: int
    operators: tuple[str, ...] = ()  # by which Python calls it
    features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inventory:
    report: Report
    packages: tuple[UsedPackage, ...]
    kernels: tuple[KernelSource, ...]


def take_inventory(paths: Sequence[Path], options: Options) -> Inventory:
    """A check, with the packages and kernels of the program that was checked.

    Raises:
        UsageError: as for `engine.check`.
    """
    run = Run(paths, options)
    report = run.report()
    sources = [run.sources[name] for name in sorted(run.sources)]
    found = [*_required_packages(sources), *_imported_packages(sources, run), *_own(sources, run)]
    kernels = [*_cuda(sources, run), *(kernel for file in report.files for kernel in _triton(file))]
    return Inventory(report, _together(found), tuple(sorted(kernels)))


def _together(found: Sequence[UsedPackage]) -> tuple[UsedPackage, ...]:
    """One row for each package, way and version."""
    rows: dict[tuple[str, str, str, bool], list[str]] = {}
    for one in found:
        rows.setdefault((one.name, one.via, one.version, one.optional), []).append(one.filename)
    return tuple(
        sorted(
            UsedPackage(name, via, version, optional, min(files), len(set(files)))  # type: ignore[arg-type]
            for (name, via, version, optional), files in rows.items()
        )
    )


def _required_packages(sources: Sequence[Source]) -> Iterator[UsedPackage]:
    for source in sources:
        kind, text, name = source.source.kind, source.source.text, source.file.name
        facts: list[Fact] = []
        if kind in _REQUIRING:
            facts = artifacts.facts_of(text, kind, _INTEREST, frozenset(), name)
        elif name.rpartition("/")[2] == "setup.py":
            facts = artifacts.setup_py_facts(text, frozenset())
        for fact in facts:
            if isinstance(fact, Package):
                yield UsedPackage(fact.name, "requirement", fact.version, fact.optional, name)


def _imported_packages(sources: Sequence[Source], run: Run) -> Iterator[UsedPackage]:
    """Yield the packages from outside the program that files using torch import."""
    inside = {part for source in sources for part in source.module.split(".")} | run.program.own
    inside |= sys.stdlib_module_names
    for source in sources:
        interface = source.loaded.interface if source.loaded else None
        tops = {dotted.partition(".")[0] for dotted in interface.imports} if interface else set()
        for top in sorted(tops - inside):
            if top:
                yield UsedPackage(canonicalize_name(top), "import", "", False, source.file.name)


def _own(sources: Sequence[Source], run: Run) -> Iterator[UsedPackage]:
    """The distribution that the program is, by its own word, and the modules at its top."""
    for name in sorted(run.program.own):
        at = next(s.file.name for s in sources if s.file.name.endswith(f"{name}/__init__.py"))
        yield UsedPackage(canonicalize_name(name), "module", "", False, at)
    for source in sources:
        read = _NAMED.get(source.file.name)
        if read is not None and (name := read(source.source.text)):
            yield UsedPackage(canonicalize_name(name), "own", "", False, source.file.name)


def _in_pyproject(text: str) -> str:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return ""
    tool = document.get("tool", {})
    for table in (document.get("project"), tool.get("poetry") if isinstance(tool, dict) else None):
        if isinstance(table, dict) and isinstance(table.get("name"), str):
            return str(table["name"])
    return ""


def _in_setup_py(text: str) -> str:
    found = _SETUP_NAME.search(text)
    return found[1] if found else ""


def _in_setup_cfg(text: str) -> str:
    found = _METADATA_NAME.search(text)
    return found[1] if found else ""


_SETUP_NAME = re.compile(r"\bsetup\([^()]*?\bname\s*=\s*[\"']([\w.-]+)[\"']")
_METADATA_NAME = re.compile(r"^\[metadata\][^\[]*?^name\s*=\s*([\w.-]+)\s*$", re.MULTILINE | re.DOTALL)
_NAMED = {"pyproject.toml": _in_pyproject, "setup.py": _in_setup_py, "setup.cfg": _in_setup_cfg}


def _cuda(sources: Sequence[Source], run: Run) -> Iterator[KernelSource]:
    for source in sources:
        native = source.loaded.native if source.loaded else None
        if native is None or native.hipified:
            continue
        operators = tuple(bound.operator for bound in run.program.natives.links(source.file.name).operators)
        for kernel in native.kernels:
            if kernel.form != "declaration":
                row = source.source.text.count("\n", 0, kernel.span[0]) + 1
                yield KernelSource(
                    source.file.name, row, kernel.name, "cuda", kernel.lines, operators, native.features
                )


def _triton(file: FileReport) -> Iterator[KernelSource]:
    for part in file.parts:
        if any(decorator in _TRITON for decorator in part.decorators):
            lines = part.last_row - part.first_row + 1
            yield KernelSource(file.filename, part.first_row, part.name, "triton", lines)

"""What a program consists of besides findings: the packages it needs and is, and its kernels."""

from __future__ import annotations

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
    """A package by its name in the normal form of PEP 503. `via`: it is required, imported by that
    name, or the program itself is ("own"). `filename` is the first of `files` files that say so."""

    name: str
    via: Literal["requirement", "import", "own"]
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
    found = [*_required(sources), *_imported(sources, run), *_own(sources, run)]
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


def _required(sources: Sequence[Source]) -> Iterator[UsedPackage]:
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


def _imported(sources: Sequence[Source], run: Run) -> Iterator[UsedPackage]:
    """What the files that work with torch import from outside of the program."""
    inside = {part for source in sources for part in source.module.split(".")} | run.own
    inside |= sys.stdlib_module_names
    for source in sources:
        interface = source.loaded.interface if source.loaded else None
        tops = {dotted.partition(".")[0] for dotted in interface.imports} if interface else set()
        for top in sorted(tops - inside):
            if top:
                yield UsedPackage(canonicalize_name(top), "import", "", False, source.file.name)


def _own(sources: Sequence[Source], run: Run) -> Iterator[UsedPackage]:
    """The packages at the top of the program, and the name of its distribution."""
    for name in sorted(run.own):
        at = next(s.file.name for s in sources if s.file.name.endswith(f"{name}/__init__.py"))
        yield UsedPackage(canonicalize_name(name), "own", "", False, at)
    for source in sources:
        if source.file.name == "pyproject.toml" and (name := _project(source.source.text)):
            yield UsedPackage(canonicalize_name(name), "own", "", False, source.file.name)


def _project(text: str) -> str:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return ""
    project = document.get("project", {})
    name = project.get("name") if isinstance(project, dict) else None
    return name if isinstance(name, str) else ""


def _cuda(sources: Sequence[Source], run: Run) -> Iterator[KernelSource]:
    for source in sources:
        native = source.loaded.native if source.loaded else None
        if native is None or native.hipified:
            continue
        operators = tuple(bound.operator for bound in run.natives.links(source.file.name).operators)
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

"""Rewrites that keep what a program does. Each tells which line of the new text was which line before."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.metamorphic.branches import swapped_branches
from benchmarks.metamorphic.extraction import extracted_helpers
from benchmarks.metamorphic.files import split_files, started_elsewhere
from benchmarks.metamorphic.inlining import inlined_helpers
from benchmarks.metamorphic.names import aliased_imports, renamed_parameters, renamed_variables
from benchmarks.metamorphic.program import Program, Rewritten

_REWRITES: tuple[Callable[[Program], Iterator[Rewritten]], ...] = (
    swapped_branches,
    renamed_variables,
    renamed_parameters,
    aliased_imports,
    inlined_helpers,
    extracted_helpers,
    split_files,
    started_elsewhere,
)
KINDS = (
    "branches", "variable", "parameter", "import", "inlined", "helper", "method", "split", "module", "start"
)  # fmt: skip


def rewrites(text: str) -> Iterator[Rewritten]:
    """Every rewrite that applies to a program."""
    program = Program(text)
    for rewrite in _REWRITES:
        yield from rewrite(program)

"""Rewrites that keep what a program does. Each tells which line of the new text was which line before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from benchmarks.metamorphic.branches import swapped_branches
from benchmarks.metamorphic.extraction import extracted_helpers
from benchmarks.metamorphic.files import split_files, started_elsewhere
from benchmarks.metamorphic.inlining import inlined_helpers
from benchmarks.metamorphic.names import aliased_imports, renamed_parameters, renamed_variables
from benchmarks.metamorphic.program import Program, Rewritten

_REWRITES: dict[Callable[[Program], Iterator[Rewritten]], tuple[str, ...]] = {
    swapped_branches: ("branches",),
    renamed_variables: ("variable",),
    renamed_parameters: ("parameter",),
    aliased_imports: ("import",),
    inlined_helpers: ("inlined",),
    extracted_helpers: ("helper", "method"),
    split_files: ("split", "module"),
    started_elsewhere: ("start",),
}
KINDS = tuple(kind for kinds in _REWRITES.values() for kind in kinds)


def rewrites(text: str, wanted: Collection[str] = KINDS) -> Iterator[Rewritten]:
    """Every rewrite of the wanted kinds that applies to a program."""
    program = Program(text)
    for rewrite, kinds in _REWRITES.items():
        if set(kinds) & set(wanted):
            yield from (made for made in rewrite(program) if made.kind in wanted)

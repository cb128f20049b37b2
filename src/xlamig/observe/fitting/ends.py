"""How a `fit` can end: one exit code for each cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xlamig.fits import Compiled, ProblemKind


class End(IntEnum):
    """The exit codes, from the best end to the worst for what a compiler can say of a graph."""

    FITS = 0
    TOO_LARGE = 1
    WRONG_USAGE = 2
    NO_BOUNDARY = 3
    CHANGING = 4
    ENDED_EARLY = 5
    NOT_SHARDED = 6
    REFUSED = 7
    ABORTED = 8
    TIMEOUT = 9
    MISSING_PACKAGE = 10
    OLD_PYTHON = 11


MEANINGS: Mapping[End, str] = {
    End.FITS: "every graph fits every chip",
    End.TOO_LARGE: "a graph does not fit: the report lists its largest buffers",
    End.WRONG_USAGE: "wrong usage, or no such program, graph or interpreter",
    End.NO_BOUNDARY: "the program never ends a step",
    End.CHANGING: "the graph is different in every step",
    End.ENDED_EARLY: "the program ended, or died, before a step repeated",
    End.NOT_SHARDED: "a graph cannot be sharded over that many chips",
    End.REFUSED: "the compiler refuses a graph",
    End.ABORTED: "the compiler aborts",
    End.TIMEOUT: "the compiler does not finish in 15 minutes",
    End.MISSING_PACKAGE: "torch_xla, jax or libtpu is not installed",
    End.OLD_PYTHON: "an interpreter is too old",
}

_ENDS: Mapping[ProblemKind, End] = {
    "out of memory": End.TOO_LARGE,
    "not sharded": End.NOT_SHARDED,
    "refused": End.REFUSED,
    "aborted": End.ABORTED,
    "timeout": End.TIMEOUT,
}


class FitError(Exception):
    """There is nothing to report. `end` says why."""

    def __init__(self, message: str, end: End) -> None:
        super().__init__(message)
        self.end = end


def of(found: Iterable[Compiled]) -> End:
    """Return the end of a whole report: the highest code of its graphs."""
    return max((_ENDS[one.problem.kind] for one in found if one.problem), default=End.FITS)

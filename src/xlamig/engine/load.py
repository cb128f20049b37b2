"""First stage, per file and independent of every other: text -> IR and interface."""

from __future__ import annotations

import ast
import pickle
import re
import warnings
from dataclasses import dataclass
from itertools import accumulate

from xlamig.engine.cache import digest
from xlamig.flow import Interface, interface_of

_NOT_BRACKETS = re.compile(r"[^()\[\]{}]+")
_RISKY_DEPTH = 90
_RISKY_QUOTES = 2_500  # in a row of lines that hold nothing but strings
_STRING_LINES = re.compile(r"(?:[ \t(]*[rbuRBU]{0,2}(?:\"[^\"\n]*\"|'[^'\n]*')[ \t)]*\n){500,}")
_RISKY_SIZE = 1_000_000
_STEPS = str.maketrans("()[]{}", "\2\0\2\0\2\0")


def _descend(depth: int, step: int) -> int:
    return depth + step - 1


@dataclass(frozen=True, slots=True)
class LoadJob:
    """`needed` is False for a file that can give no fact: its syntax is checked, no more."""

    text: str
    module: str
    is_package: bool
    needed: bool


@dataclass(frozen=True, slots=True)
class Failure:
    message: str
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """`tree` is the pickled IR: at rest it is an eighth of its size as objects. `seal` is the
    interface's digest."""

    interface: Interface | None = None
    seal: str = ""
    tree: bytes | None = None
    failure: Failure | None = None


def load(job: LoadJob) -> Loaded:
    if not job.needed and _python_accepts(job.text):
        return Loaded()
    from xlamig import syntax  # LibCST takes long to import, and a warm run parses nothing

    try:
        module = syntax.module_from_text(job.text)
    except syntax.Unparsable as error:
        return Loaded(failure=Failure(error.message, error.row, error.column))
    interface = interface_of(module, job.text, job.module, job.is_package)
    return Loaded(interface, digest(interface), pickle.dumps(module, 5))


def _python_accepts(text: str) -> bool:
    """Whether CPython's own parser, ten times as fast, accepts the text; a newer syntax or a
    deeper nesting than it knows is left to LibCST."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def is_risky(job: LoadJob) -> bool:
    """Whether a native parser may overflow its stack on this text, or take minutes."""
    text = job.text
    if len(text) > _RISKY_SIZE or _STRING_LINES.search(text):
        return True
    if text.count('" "') + text.count("' '") + text.count('""') > _RISKY_QUOTES:
        return True
    steps = _NOT_BRACKETS.sub("", text).translate(_STEPS).encode("ascii")
    return max(accumulate(steps, _descend), default=0) > _RISKY_DEPTH

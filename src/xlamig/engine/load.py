"""First stage, per file and independent of every other: text -> IR and interface."""

from __future__ import annotations

import pickle
import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from xlamig import artifacts, ir
from xlamig.artifacts.native import Native
from xlamig.engine import parser_limits
from xlamig.engine.cache import digest, digest_of
from xlamig.engine.clues import NO_CLUES, Clues, clues_of
from xlamig.engine.packed import Packed
from xlamig.flow import Interface, summary_of
from xlamig.flow.model.given import Given
from xlamig.flow.model.mentioned import Mentions
from xlamig.flow.model.option_codes import Codes
from xlamig.flow.model.pieces import Pieces
from xlamig.source.kinds import Kind
from xlamig.source.notebook import SUFFIX as NOTEBOOK
from xlamig.source.notebook import readable_cells
from xlamig.source.python import parses


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text, its tree, and what was found out about its statements."""

    text: str
    tree: bytes
    pieces: Pieces


@dataclass(frozen=True, slots=True)
class LoadJob:
    """`needed` is False for a file that can give no fact: its syntax is checked, no more. `kind` is
    that of a file that is not Python. `before` is the file before an edit, which spares most of the parse and
    changes no result."""

    text: str
    module: str
    is_package: bool
    needed: bool
    kind: Kind | None = None
    before: Parsed | None = None

    def key(self) -> str:
        """Return the key of the result."""
        return digest_of(self, before="")


@dataclass(frozen=True, slots=True)
class Failure:
    message: str
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """`tree` is the pickled IR, an eighth of its size as objects; right after an edit the IR itself (see
    first). `seal` is the interface's digest; `tested` are the keys of the options that the module tests,
    `assigned` of those that it gives values to."""

    interface: Interface | None = None
    seal: str = ""
    tree: bytes | ir.Module | None = None
    failure: Failure | None = None
    uses: str = ""  # see flow.summary_of
    native: Native | None = None
    given: Packed[Given] | None = None
    tested: Codes = frozenset()
    assigned: tuple[str, ...] = ()
    mentions: Packed[Mentions] | None = None
    clues: Clues = NO_CLUES


def module_identity(name: str) -> str:
    """ "src.pkg.utils" for "src/pkg/utils.py"; a package is named like its folder. Nothing imports a
    notebook, and its name hides no module's."""
    path = PurePosixPath(name)
    stem = path if path.suffix == NOTEBOOK else path.with_suffix("")
    parts = [part.replace(".", "_") for part in stem.parts if part != "/"]
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts) or "__init__"


def load(job: LoadJob) -> Loaded:
    if job.kind is not None:
        return Loaded(native=artifacts.native_of(job.text) if job.kind == "native" else None)
    clues = clues_of(job.text)
    if not job.needed and parses(job.text):
        return Loaded(clues=clues)
    if parser_limits.is_risky(job.text):
        reason = parser_limits.too_deep(job.text)
        if reason is not None:
            return Loaded(failure=Failure(reason, 1, 1), clues=clues)
    module, failure = _module_of(job)
    if module is None:
        return Loaded(failure=failure, clues=clues)
    pieces = job.before.pieces if job.before is not None else None
    summary = summary_of(module, job.text, job.module, job.is_package, pieces)
    clues = clues._replace(habits=clues.habits | summary.saved)
    seal = digest(summary.interface._replace(calls={}))  # what calls come to is in `AnalyseJob.callers`
    return Loaded(
        summary.interface,
        seal,
        pickle.dumps(module, 5),
        failure,
        uses=summary.uses,
        given=Packed(summary.given),
        tested=summary.given.tested,
        assigned=tuple(summary.given.in_reach().values),
        mentions=Packed(summary.mentions),
        clues=clues,
    )


def _module_of(job: LoadJob) -> tuple[ir.Module | None, Failure | None]:
    """Return what can be read, and why that is not all."""
    from xlamig import syntax  # LibCST takes long to import, and a warm run parses nothing

    try:
        edited = edited_module(job.text, job.before) if job.before is not None else None
        return edited or syntax.module_from_text(job.text), None
    except syntax.Unparsable as error:
        failure = Failure(error.message, error.row, error.column)
    rest = readable_cells(job.text)
    try:
        return syntax.module_from_text(rest) if rest is not None else None, failure
    except syntax.Unparsable:
        return None, failure


def edited_module(text: str, before: Parsed) -> ir.Module | None:
    """Return the module after an edit; None where all of it needs to be parsed."""
    from xlamig import syntax

    return syntax.module_from_edit(pickle.loads(before.tree), syntax.Edit.between(before.text, text))


_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+([^\n#]+)", re.MULTILINE)


def imports_any(text: str, modules: frozenset[str]) -> bool:
    """Return whether an import names one of these modules, by its last name."""
    return any(not modules.isdisjoint(re.findall(r"\w+", line)) for line in _IMPORT.findall(text))


def is_risky(job: LoadJob) -> bool:
    return job.kind is None and parser_limits.is_risky(job.text)

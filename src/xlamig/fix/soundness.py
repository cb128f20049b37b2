"""Check that a fixed text is still a program: it parses, compiles, and every name it reads is bound."""

from __future__ import annotations

import builtins
import warnings
from dataclasses import dataclass

from xlamig import ir
from xlamig.fix.scopes import all_bindings
from xlamig.source.kinds import Kind
from xlamig.syntax import Unparsable, module_from_text

_KNOWN = frozenset(dir(builtins)) | {"__file__", "__path__", "__annotations__", "__class__", "reveal_type"}


@dataclass(frozen=True, slots=True)
class Soundness:
    """The properties of the text before any fix, which a fixed text has to keep. `unbound` are the names that
    nothing in the file binds; None where a star import may bind any."""

    compiles: bool
    unbound: frozenset[str] | None

    @staticmethod
    def of(text: str, module: ir.Module) -> Soundness:
        return Soundness(_compiles(text), _unbound(module))

    def holds(self, text: str) -> bool:
        module = parse(text)
        if module is None or (self.compiles and not _compiles(text)):
            return False
        unbound = _unbound(module)
        return self.unbound is None or (unbound is not None and unbound <= self.unbound)


def parse(text: str, kind: Kind | None = None) -> ir.Module | None:
    """None for what is no Python; a file that is not meant to be has nothing to parse."""
    if kind is not None:
        return ir.Module(0, len(text), (), 0, "\n", "    ")
    try:
        return module_from_text(text)
    except Unparsable:
        return None


def _compiles(text: str) -> bool:
    """Return whether this Python compiles the text; a notebook's, and a newer syntax, it may not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<fixed>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _unbound(module: ir.Module) -> frozenset[str] | None:
    stars = (n for n in ir.walk(module) if isinstance(n, ir.ImportFrom))
    if any(alias.name == "*" for statement in stars for alias in statement.names):
        return None
    read = {node.id for node in ir.walk(module) if isinstance(node, ir.Name)}
    return frozenset(read - all_bindings(module).keys() - _KNOWN)

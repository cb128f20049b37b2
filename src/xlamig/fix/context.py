"""The input and output of a fix strategy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xlamig import ir
from xlamig.config.settings import Settings
from xlamig.facts import Fact, Span
from xlamig.findings import Create, Edit
from xlamig.fix.scope import Scope
from xlamig.source.text import SourceText


@dataclass(frozen=True, slots=True)
class FixContext:
    """The file a fix is for. `package_root` is the folder of its top package, None for a script; `home`
    is where it imports the helper from, None where it has to do without; `exposes` are the places that
    raise once the program chooses XLA; `unread` is a file of the program that was not read; `elsewhere`
    says what its other files do, where a fix may ask: "masks" and "packs" padded sequences, computes the
    "longest" of several lengths, converts to named "types". `starts_early`: only scripts that start no
    processes import the module, so that it may choose a device while it is imported."""

    source: SourceText
    module: ir.Module
    settings: Settings
    module_name: str = ""
    package_root: Path | None = None
    home: Scope | None = None
    exposes: tuple[str, ...] = ()
    unread: str = ""
    elsewhere: tuple[str, ...] = ()
    starts_early: bool = False
    shared: dict[Span, Draft | None] = field(default_factory=dict, compare=False)
    """The fixes that several findings carry, by the place of what decides them."""

    def text(self, span: Span) -> str:
        return self.source.text[span[0] : span[1]]

    def text_of(self, node: ir.Node) -> str:
        return self.text((node.start, node.end))

    def edit(self, start: int, end: int, content: str) -> Edit:
        place = self.source.range(start, end)
        return Edit(self.source.filename, self.source.cell_at(start), place, content)


@dataclass(frozen=True, slots=True)
class Draft:
    """The proposal of a strategy. Without edits it is only shown. `covers` is code that it takes off XLA."""

    message: str
    edits: tuple[Edit, ...] = ()
    creates: tuple[Create, ...] = ()
    covers: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Expression:
    """Source text to write at a place. `edits` and `creates` are what the text needs to work."""

    text: str
    edits: tuple[Edit, ...] = ()
    creates: tuple[Create, ...] = ()


class FixDeclined(Exception):
    """Raised by a strategy that cannot write its fix at this place; the message says why, to people."""


Options = Mapping[str, Any]
Strategy = Callable[[Fact, Options, FixContext], Draft | None]
"""None, or `FixDeclined`, when the fix cannot be proven here."""

"""A file on its way through the stages of a run."""

from __future__ import annotations

from dataclasses import dataclass

from xlamig.engine.load import Loaded
from xlamig.engine.session import Session
from xlamig.source.files import SourceFile
from xlamig.source.text import SourceText


@dataclass(slots=True)
class Source:
    file: SourceFile
    source: SourceText
    module: str  # its identity, see ProjectIndex
    session: Session
    loaded: Loaded | None = None
    key: str = ""

    @property
    def is_package(self) -> bool:
        return self.file.path.name == "__init__.py"

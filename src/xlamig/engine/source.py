"""A file on its way through the stages of a run."""

from __future__ import annotations

from dataclasses import dataclass

from xlamig.engine.load import Loaded
from xlamig.engine.session import Session
from xlamig.flow.model.scripts import MARK
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

    @property
    def is_script(self) -> bool:
        """Return whether it is a script or a notebook."""
        uses = self.loaded.uses if self.loaded else ""
        return f"\n{MARK}\n" in uses or not self.file.name.endswith(".py")

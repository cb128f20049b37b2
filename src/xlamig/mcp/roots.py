"""Where an agent may look: nothing outside the given roots is read, checked or written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from xlamig.engine import Options, open_workspace
from xlamig.engine.workspace import Workspace
from xlamig.findings import Report


class Refused(Exception):
    """A request that is not allowed or makes no sense: one sentence for the agent."""


@dataclass(slots=True)
class Roots:
    """`folders` are absolute and free of symbolic links. Names in answers are relative to the working
    directory, which is the first of them."""

    folders: Sequence[Path]
    writable: bool = False
    _workspaces: dict[Path, Workspace] = field(default_factory=dict)

    @staticmethod
    def of(folders: Sequence[Path], writable: bool) -> Roots:
        return Roots([folder.resolve() for folder in folders], writable)

    def path(self, name: str) -> Path:
        """Raises Refused for a path outside the roots, or one that does not exist."""
        path = Path(os.path.normpath(self.folders[0] / name))
        if not self.holds(path):
            shown = ", ".join(str(folder) for folder in self.folders)
            raise Refused(f"{name} is outside the roots of this server ({shown})")
        if not path.exists():
            raise Refused(f"{name} does not exist")
        return path

    def holds(self, path: Path) -> bool:
        """Return whether a path is inside, also once its symbolic links are followed."""
        real = path.resolve()
        return any(real.is_relative_to(folder) for folder in self.folders)

    def check(self, path: Path) -> Report:
        """The report on the program around `path`: its root, so that lines mean what they do there."""
        root = next(folder for folder in self.folders if path.resolve().is_relative_to(folder))
        if root not in self._workspaces:
            self._workspaces[root] = open_workspace([root], Options())
        workspace = self._workspaces[root]
        workspace.refresh()
        workspace.free()
        return workspace.check()

    def require_writable(self, what: str) -> None:
        if not self.writable:
            raise Refused(f"{what} is not allowed: the server was started without --allow-write")

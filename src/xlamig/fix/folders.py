"""Answer questions about the folders of a project, each asked once."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from xlamig.config.disk import ASKED, MARKS
from xlamig.config.paths import read_regular
from xlamig.fix.helper_text import is_helper

_BUILDS = re.compile(r"^\[(?:build-system|tool\.poetry)\]", re.MULTILINE)
LAYOUTS = ("src", "python", "lib")


class Folders:
    """Answers about the disk; one object serves one run."""

    def __init__(self) -> None:
        self._listed: dict[Path, frozenset[str]] = {}
        self._installs: dict[Path, bool] = {}
        self._projects: dict[Path, Path] = {}
        self._packages: dict[Path, Path | None] = {}
        self._helpers: dict[Path, bool] = {}

    def names(self, folder: Path) -> frozenset[str]:
        known = self._listed.get(folder)
        if known is None:
            known = self._listed[folder] = ASKED.names_in(folder)
        return known

    def is_package(self, folder: Path) -> bool:
        return "__init__.py" in self.names(folder)

    @staticmethod
    def may_provide(first: str) -> bool:
        """A project never holds a module of Python's own, nor torch."""
        return first not in sys.stdlib_module_names and first != "torch"

    def provides(self, root: Path, first: str, name: str) -> bool:
        """`root` holds the module or package `first`; of a folder without `__init__.py`, the module
        in it that `name` asks for, since an installed package of that name would win otherwise."""
        if not self.may_provide(first):
            return False
        here = self.names(root)
        if f"{first}.py" in here:
            return True
        if first not in here:
            return False
        second = name.split(".")[1:2]
        inside = self.names(root / first)
        return "__init__.py" in inside or bool(second and {f"{second[0]}.py", second[0]} & inside)

    def installs(self, root: Path) -> bool:
        """Return whether the files in `root` may be installed, and so be imported without `root`."""
        if root not in self._installs:
            above = (root.parent,) if root.name in LAYOUTS else ()
            self._installs[root] = any(map(self._has_build, (root, *above)))
        return self._installs[root]

    def _has_build(self, folder: Path) -> bool:
        if "setup.py" in self.names(folder) or "setup.cfg" in self.names(folder):
            return True
        ASKED.note_file(folder / "pyproject.toml")
        try:
            return bool(_BUILDS.search(read_regular(folder / "pyproject.toml")))
        except (OSError, UnicodeDecodeError):
            return False

    def top_package(self, path: Path) -> Path | None:
        """The folder of the file's top package, also for a folder of it without `__init__.py`; None
        for a script outside any."""
        if path.parent not in self._packages:
            self._packages[path.parent] = self._top_package(path)
        return self._packages[path.parent]

    def _top_package(self, path: Path) -> Path | None:
        top: Path | None = None
        for folder in path.parents:
            if self.is_package(folder):
                top = folder
            elif top is not None or ".git" in self.names(folder):
                break
        return top

    def project_of(self, path: Path) -> Path:
        """The nearest folder above that is marked as a project; else the working directory, or the
        file's own folder if it lies elsewhere."""
        folder = path.parent
        if folder not in self._projects:
            here = Path.cwd()
            fallback = here if path.is_relative_to(here) else folder
            self._projects[folder] = self.marked_project_of(path) or fallback
        return self._projects[folder]

    def marked_project_of(self, path: Path) -> Path | None:
        """The nearest folder above that is marked as a project."""
        return next((f for f in path.parents if self.names(f).intersection(MARKS)), None)

    def has_helper(self, folder: Path, name: str) -> bool:
        """A helper that xlamig wrote lies there."""
        path = folder / f"{name}.py"
        if path not in self._helpers:
            ASKED.note_file(path)
            try:
                self._helpers[path] = is_helper(read_regular(path))
            except (OSError, UnicodeDecodeError):
                self._helpers[path] = False
        return self._helpers[path]

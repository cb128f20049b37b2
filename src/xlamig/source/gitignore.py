"""Which files git leaves out: nested .gitignore files and .git/info/exclude."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from xlamig.config.globs import Globs
from xlamig.config.paths import read_regular

Level = tuple[str, Globs]
"""The folder an ignore file speaks of, with a closing "/", and what it says."""


class Ignores:
    """The ignore files that hold in one folder. Paths are absolute, with "/"."""

    __slots__ = ("_levels",)

    def __init__(self, levels: Iterable[Level] = ()) -> None:
        self._levels = tuple(levels)  # weakest first

    @classmethod
    def above(cls, folder: str) -> Ignores:
        """Return the rules of the folders above `folder`, up to its repository."""
        above: list[Path] = []
        for parent in Path(folder).parents:
            above.insert(0, parent)
            if (parent / ".git").exists():
                found = cls()
                for each in above:
                    found = found.entering(
                        each.as_posix(), {p for p in (".git", ".gitignore") if (each / p).exists()}
                    )
                return found
        return cls()

    def entering(self, folder: str, entries: Collection[str]) -> Ignores:
        """With the folder's own ignore files, which `entries`, its content, may name."""
        levels = self._levels
        if ".git" in entries:  # a repository of its own
            levels = _read(folder, ".git/info/exclude")
        if ".gitignore" in entries:
            levels = (*levels, *_read(folder, ".gitignore"))
        return self if levels is self._levels else Ignores(levels)

    def inside(self, folder: str) -> Ignores:
        """For a folder named by the user: less the patterns that leave out the folder as a whole."""
        return Ignores((base, globs.inside(folder[len(base) :])) for base, globs in self._levels)

    def ignored(self, path: str, is_folder: bool = False) -> bool:
        """Return whether this entry itself is ignored; its parents are known not to be."""
        for base, globs in reversed(self._levels):
            verdict = globs.check(path[len(base) :], is_folder)
            if verdict is not None:
                return verdict
        return False


def _read(folder: str, name: str) -> tuple[Level, ...]:
    try:
        text = read_regular(Path(folder, name), encoding="utf-8-sig", errors="replace")
    except OSError:
        return ()
    globs = Globs(line for line in text.split("\n") if _is_pattern(line))
    return ((f"{folder.rstrip('/')}/", globs),) if len(globs) else ()


def _is_pattern(line: str) -> bool:
    """Git passes over a line that is no pattern."""
    try:
        Globs([line])
    except ValueError:
        return False
    return True

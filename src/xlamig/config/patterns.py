"""Names and globs of the configuration, matched below its root."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from xlamig.config.globs import Globs


class Patterns:
    """Globs with the meaning they have in a .gitignore at `root`: `build` is any folder or file of
    that name, `src/gen` one place, `*.gen.py` any file, `**` any folders. Last match wins, `!` negates.
    Raises ValueError for what is no glob. Paths are absolute, with "/"."""

    def __init__(self, globs: Iterable[str], root: Path) -> None:
        self._root = f"{root.as_posix().rstrip('/')}/"
        cleaned = [self._clean(glob) for glob in globs]
        # Most exclude lists are bare names; a set answers for them far faster than a regex each.
        split = not any(glob.startswith("!") for glob in cleaned)
        self._names = frozenset(glob for glob in cleaned if split and not set(glob) & set("*?[]!#/\\ "))
        self._globs = Globs(glob for glob in cleaned if glob not in self._names)

    def _clean(self, glob: str) -> str:
        negated, glob = glob.startswith("!"), glob.removeprefix("!").removeprefix("./")
        if glob.startswith(self._root):
            glob = "/" + glob[len(self._root) :]
        return f"!{glob}" if negated else glob

    def _relative(self, path: str) -> str:
        """The path as the globs see it; outside the root, all of it."""
        return path[len(self._root) :] if path.startswith(self._root) else path.lstrip("/")

    def inside(self, folder: str) -> Patterns:
        """For a folder that was asked for: less the globs that mean the folder as a whole."""
        kept = Patterns((), Path(self._root))
        kept._names, kept._globs = self._names, self._globs.inside(self._relative(folder))
        return kept

    def match_entry(self, path: str, is_folder: bool = False) -> bool:
        """Return whether this file or folder itself is meant; its parents are known not to be."""
        if path.rpartition("/")[2] in self._names:
            return True
        return len(self._globs) > 0 and self._globs.check(self._relative(path), is_folder) is True

    def match(self, path: str, is_folder: bool = False) -> bool:
        """Return whether this file or folder, or a folder above it up to the root, is meant."""
        relative = self._relative(path)
        if not self._names.isdisjoint(relative.split("/")):
            return True
        return len(self._globs) > 0 and self._globs.match(relative, is_folder)

"""Names and globs of the configuration, matched below its root."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pathspec import GitIgnoreSpec


class Patterns:
    """Globs with the meaning they have in a .gitignore at `root`: `build` is any folder or file of
    that name, `src/gen` one place, `*.gen.py` any file, `**` any folders. Last match wins, `!` negates.
    Raises ValueError for what is no glob."""

    def __init__(self, globs: Iterable[str], root: Path) -> None:
        self._given_root = root
        self._root = f"{root.as_posix().rstrip('/')}/"
        self._globs = cleaned = [self._clean(glob) for glob in globs]
        # Most exclude lists are bare names; a set answers for them far faster than a regex each.
        split = not any(glob.startswith("!") for glob in cleaned)
        self._names = frozenset(glob for glob in cleaned if split and not set(glob) & set("*?[]!#/\\ "))
        self._spec = GitIgnoreSpec.from_lines(glob for glob in cleaned if glob not in self._names)

    def _clean(self, glob: str) -> str:
        negated, glob = glob.startswith("!"), glob.removeprefix("!").removeprefix("./")
        if glob.startswith(self._root):
            glob = "/" + glob[len(self._root) :]
        return f"!{glob}" if negated else glob

    def relative(self, path: str) -> str:
        """An absolute path as the globs see it; outside the root, all of it."""
        return path[len(self._root) :] if path.startswith(self._root) else path.lstrip("/")

    def inside(self, folder: str) -> Patterns:
        """These patterns for what lies in `folder`, less those that mean the folder as a whole."""
        relative = self.relative(folder) + "/"
        if not self._spec.match_file(relative):
            return self
        kept = [g for g in self._globs if not GitIgnoreSpec.from_lines([g]).match_file(relative)]
        return Patterns(kept, self._given_root)

    def match_entry(self, path: str, is_folder: bool = False) -> bool:
        """Whether this file or folder itself is meant; its parents are known not to be."""
        if path.rpartition("/")[2] in self._names:
            return True
        return len(self._spec) > 0 and self._spec.match_file(self.relative(path) + "/" * is_folder)

    def match(self, path: str, is_folder: bool = False) -> bool:
        """Whether this file or folder, or a folder above it up to the root, is meant."""
        relative = self.relative(path)
        if not self._names.isdisjoint(relative.split("/")):
            return True
        return len(self._spec) > 0 and self._spec.match_file(relative + "/" * is_folder)

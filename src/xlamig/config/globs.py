"""A list of .gitignore patterns, with the order and the exceptions git gives them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import AnyStr, NamedTuple

from pathspec import GitIgnoreSpec, Pattern
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

_MOST_DEEP = 4  # `**` in a pattern: matching takes as many steps as there are ways to place them
_STAR_THEN_STAR = re.compile(r"\[\^/\]\*((?:\\.|\[(?:\\.|[^\]\\])+\](?!\*)|[^/()\[\\])*)(?=\[\^/\]\*)")


class _Linear(GitIgnoreSpecPattern):
    """A pattern that takes linear time for its `*`: where another follows in the same name, the first
    place that fits is as good as any later one, and is not left again."""

    @classmethod
    def pattern_to_regex(cls, pattern: AnyStr) -> tuple[AnyStr | None, bool | None]:
        regex, include = super().pattern_to_regex(pattern)
        if isinstance(regex, str):
            regex = _STAR_THEN_STAR.sub(r"(?>[^/]*?\1)", regex)
        return regex, include


class _Glob(NamedTuple):
    text: str  # without "!", an opening "**/" and a closing "/"
    compiled: Pattern

    def means(self, path: str, is_folder: bool) -> bool:
        """Return whether it means this entry itself and not only a folder above it."""
        parent, _, name = path.rpartition("/")
        slash = "/" * is_folder
        if "/" not in self.text:
            return self.compiled.match_file(name + slash) is not None
        if self.text.endswith("**"):  # what is in a folder, not the folder
            return self.compiled.match_file(path) is not None
        return self.compiled.match_file(path + slash) is not None and not (
            parent and self.compiled.match_file(f"{parent}/") is not None
        )


class Globs:
    """Paths are relative, with "/". Raises ValueError for a line that is no pattern."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = tuple(lines)
        self._globs = [glob for line in self._lines for glob in _compile(line)]
        self._spec = GitIgnoreSpec.from_lines(self._lines, _Linear)

    def __len__(self) -> int:
        return len(self._globs)

    def check(self, path: str, is_folder: bool = False) -> bool | None:
        """Return whether an entry is left out, taken back in, or not mentioned. The folders above it are
        asked on the way down: pathspec would let their verdict reach below what is nearer."""
        if self._spec.check_file(path + "/" * is_folder).include is not None:
            for glob in reversed(self._globs):
                if glob.means(path, is_folder):
                    return glob.compiled.include
        return None

    def match(self, path: str, is_folder: bool = False) -> bool:
        """Return whether a path or a folder above it is left out."""
        return self._spec.match_file(path + "/" * is_folder)

    def inside(self, folder: str) -> Globs:
        """For a folder that was asked for: less the patterns that leave it out as a whole."""
        if not self.match(folder, is_folder=True):
            return self
        kept = (line for line in self._lines if not Globs([line]).match(folder, is_folder=True))
        return Globs(kept)


def _compile(line: str) -> list[_Glob]:
    if line.count("**") > _MOST_DEEP:
        raise ValueError(f"more than {_MOST_DEEP} `**` in a pattern")
    text = line.rstrip().removeprefix("!").removeprefix("**/").rstrip("/")
    patterns = GitIgnoreSpec.from_lines([line], _Linear).patterns
    return [_Glob(text, pattern) for pattern in patterns if pattern.include is not None]

"""State that a process keeps between runs on the same program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xlamig.engine.cache import Cache
from xlamig.engine.homes import Homes
from xlamig.engine.load import Parsed
from xlamig.engine.remembered import Answers
from xlamig.engine.whole_program import Seals
from xlamig.flow import Interface, ProjectIndex
from xlamig.source.files import SourceFile
from xlamig.source.read import read_source
from xlamig.source.text import SourceText

Stamp = bytes | tuple[int, int]
"""The source of a text: the bytes of a buffer, or the time and size of a file."""


class Memory(Cache):
    """A cache in front of the one on disk. It holds the values that the last finished run used, and those
    since, so its size is bounded by that of the program. With `writes` off, nothing reaches the disk."""

    def __init__(self) -> None:
        super().__init__(None)
        self.writes = True
        self._disk = Cache(None)
        self._recent: dict[str, Any] = {}
        self._older: dict[str, Any] = {}
        self._texts: dict[Path, tuple[Stamp, SourceText]] = {}
        self._index = ProjectIndex({})
        self._interfaces: Mapping[str, Interface] = {}
        self.seals: Seals = {}  # for that index
        self.parsed: dict[Path, Parsed] = {}  # see Loader
        self.forget_folders()

    def forget_folders(self) -> None:
        """Forget what depends on the folders as they were."""
        self.homes: Homes = {}  # as the last run found them
        self.answers = Answers()

    def open(self, folder: Path | None) -> None:
        """Begin a run; `close` ends it."""
        self._disk = Cache(folder)

    def close(self) -> None:
        self._disk.close()

    def forget_unused(self) -> None:
        """Forget what the run that has just finished did not use: one cut short may still need it."""
        self._recent, self._older = {}, self._recent

    def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        missing: list[str] = []
        for key in keys:
            value = self._recent.get(key) or self._older.get(key)
            if value is None:
                missing.append(key)
            else:
                found[key] = value
        found.update(self._disk.get_many(missing))
        self._recent.update(found)
        return found

    def put_many(self, entries: Mapping[str, object]) -> None:
        self._recent.update(entries)
        if self.writes:
            self._disk.put_many(entries)

    def hold(self, entries: Mapping[str, object]) -> None:
        """Add entries for the next run alone: they do not reach the disk."""
        self._recent.update(entries)

    def text_of(self, file: SourceFile, buffer: bytes | None) -> SourceText:
        """The text of a file, read again only when the file or its buffer has changed.

        Raises:
            OSError: as for reading a file.
            Undecodable: as for `read_source`.
        """
        stamp: Stamp
        if buffer is not None:
            stamp = buffer
        else:
            status = file.path.stat()
            stamp = status.st_mtime_ns, status.st_size
        known = self._texts.get(file.path)
        if known is None or known[0] != stamp:
            data = file.path.read_bytes() if buffer is None else buffer
            known = self._texts[file.path] = stamp, read_source(data, file.name)
        return known[1]

    def index_of(self, interfaces: Mapping[str, Interface]) -> ProjectIndex:
        """The index of the last run where no interface has changed."""
        if interfaces != self._interfaces:
            self._interfaces, self._index = interfaces, ProjectIndex(interfaces)
            self.seals = {}
        return self._index

    @property
    def size(self) -> int:
        return len(self._recent.keys() | self._older.keys()) + len(self._texts) + len(self.parsed)

    def forget_files(self, kept: Iterable[Path]) -> None:
        """Drop the texts of files that are no longer part of the program."""
        paths = set(kept)
        self._texts = {path: known for path, known in self._texts.items() if path in paths}
        self.parsed = {path: known for path, known in self.parsed.items() if path in paths}

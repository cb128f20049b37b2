"""A rulebook and a selection for one value of the settings, made once per process."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from xlamig.config.book import Stamp, stamp
from xlamig.config.select import Selection
from xlamig.config.settings import Settings
from xlamig.engine.cache import Cache, digest
from xlamig.rulebook import Rulebook
from xlamig.rulebook.load import Files, Heads, compile_book, read_book, read_heads
from xlamig.rulebook.outline import Outline

K = TypeVar("K")
V = TypeVar("V")
_NO_CACHE = Cache(None)
_MOST = 4
_MOST_BOOKS = 16  # of 10 MB each: a target, a style and previews make another
_MOST_SESSIONS = 64  # a repository may have a configuration per folder
_books: dict[tuple[object, ...], Rulebook] = {}
_files: dict[Stamp, Files] = {}
_parsed: dict[str, Heads] = {}


class Session:
    """`key` are the settings in full. A run that finds nothing to do needs the book's outline only,
    which is remembered; a book whose outline is has been compiled, and so has no mistakes."""

    def __init__(self, settings: Settings, cache: Cache) -> None:
        self.settings = settings
        self.key = repr(settings)
        self.stamp = _stamp_of(settings)
        self._files = _files_of(settings)
        self._book: Rulebook | None = None
        key = digest("outline", self._files.digest, self.key)
        outline: Outline | None = cache.get_many([key]).get(key)
        self._outline = outline
        if outline is None:
            outline = self.compile(cache).outline()
            cache.put_many({key: outline})
        self.outline = outline
        self.digest = digest(self._files.digest, self.key)
        self.selection = Selection(settings, outline.codes)

    def compile(self, cache: Cache) -> Rulebook:
        """The whole book."""
        if self._book is None:
            heads = self._heads(cache)
            known = _books.get(self._book_key)
            self._book = known or compile_book(self._files, self.settings, heads, self._outline)
            _keep(_books, self._book_key, self._book, _MOST_BOOKS)
        return self._book

    def _heads(self, cache: Cache) -> Heads:
        key = digest("heads", self._files.digest)
        heads: Heads | None = cache.get_many([key]).get(key)
        if heads is None:
            heads = _parsed.get(key) or read_heads(self._files)
            cache.put_many({key: heads})
        _keep(_parsed, key, heads)
        return heads

    @property
    def _book_key(self) -> tuple[object, ...]:
        """Return the key of a compiled book; the rules that run are not part of it."""
        asked = self.settings
        return (
            self._files.digest,
            asked.target,
            asked.target_version,
            asked.style,
            asked.preview,
            asked.helper,
        )

    @property
    def rulebook(self) -> Rulebook:
        return self.compile(_NO_CACHE)


def _keep(memory: dict[K, V], key: K, value: V, most: int = _MOST) -> None:
    while key not in memory and len(memory) >= most:
        del memory[next(iter(memory))]
    memory[key] = value


_sessions: dict[str, Session] = {}
_stamps: dict[tuple[Path, ...], Stamp] = {}  # of books, by the user's folders, as this run found them


def session_for(settings: Settings, cache: Cache = _NO_CACHE) -> Session:
    """The session of a book as it was when the run began. Raises RulebookError for a broken page."""
    key = repr(settings)
    session = _sessions.get(key)
    if session is None or session.stamp != _stamp_of(settings):
        session = Session(settings, cache)
        _keep(_sessions, key, session, _MOST_SESSIONS)
    return session


def _files_of(settings: Settings) -> Files:
    """The book on disk, read once for the settings that share it."""
    now = _stamp_of(settings)
    if now not in _files:
        _keep(_files, now, read_book(settings))
    return _files[now]


def _stamp_of(settings: Settings) -> Stamp:
    if settings.rules not in _stamps:
        _stamps[settings.rules] = stamp(settings)
    return _stamps[settings.rules]


def look_again() -> None:
    """Begin a run: a rulebook that has changed on disk is read again when asked for."""
    _stamps.clear()

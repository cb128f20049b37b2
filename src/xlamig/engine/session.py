"""A rulebook and a selection for one value of the settings, made once per process."""

from __future__ import annotations

from xlamig.config.select import Selection
from xlamig.config.settings import Settings
from xlamig.engine.cache import Cache, digest
from xlamig.rulebook import Rulebook
from xlamig.rulebook.load import compile_book, read_book, read_heads, stamp
from xlamig.rulebook.outline import Outline

_NO_CACHE = Cache(None)


class Session:
    """`key` are the settings in full. A run that finds nothing to do needs the book's outline only,
    which is remembered; a book whose outline is has been compiled, and so has no mistakes."""

    def __init__(self, settings: Settings, cache: Cache) -> None:
        self.settings = settings
        self.key = repr(settings)
        self.stamp = stamp(settings)
        self._files = read_book(settings)
        self._book: Rulebook | None = None
        key = digest("outline", self._files.digest, self.key)
        outline: Outline | None = cache.get_many([key]).get(key)
        if outline is None:
            outline = self.compile(cache).outline()
            cache.put_many({key: outline})
        self.outline = outline
        self.selection = Selection(settings, outline.codes)

    def compile(self, cache: Cache) -> Rulebook:
        """The whole book."""
        if self._book is None:
            key = digest("heads", self._files.digest)
            heads = cache.get_many([key]).get(key)
            if heads is None:
                heads = read_heads(self._files)
                cache.put_many({key: heads})
            self._book = compile_book(self._files, self.settings, heads)
        return self._book

    @property
    def rulebook(self) -> Rulebook:
        return self.compile(_NO_CACHE)


_sessions: dict[str, Session] = {}


def session_for(settings: Settings, cache: Cache = _NO_CACHE) -> Session:
    """Raises RulebookError for a broken page."""
    key = repr(settings)
    if key not in _sessions:
        _sessions[key] = Session(settings, cache)
    return _sessions[key]


def forget_changed() -> None:
    """Sessions whose rulebook has changed on disk are made anew when asked for."""
    for key, session in list(_sessions.items()):
        if stamp(session.settings) != session.stamp:
            del _sessions[key]

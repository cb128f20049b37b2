"""A rulebook and a selection for one value of the settings, made once per process."""

from __future__ import annotations

from dataclasses import dataclass

from xlamig.config.select import Selection
from xlamig.config.settings import Settings
from xlamig.rulebook import Rulebook, load


@dataclass(frozen=True)
class Session:
    settings: Settings
    key: str  # the settings in full
    rulebook: Rulebook
    selection: Selection


_sessions: dict[str, Session] = {}


def session_for(settings: Settings) -> Session:
    """Raises RulebookError for a broken page."""
    key = repr(settings)
    if key not in _sessions:
        book = load(settings)
        _sessions[key] = Session(settings, key, book, Selection(settings, book.codes))
    return _sessions[key]

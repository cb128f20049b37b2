"""A rulebook and a selection for one value of the settings, made once per process."""

from __future__ import annotations

from dataclasses import dataclass

from xlamig.config.select import Selection
from xlamig.config.settings import Settings
from xlamig.rulebook import Rulebook, load
from xlamig.rulebook.load import stamp


@dataclass(frozen=True)
class Session:
    settings: Settings
    key: str  # the settings in full
    rulebook: Rulebook
    selection: Selection
    stamp: object  # of the rulebook's files


_sessions: dict[str, Session] = {}


def session_for(settings: Settings) -> Session:
    """Raises RulebookError for a broken page."""
    key = repr(settings)
    if key not in _sessions:
        before = stamp(settings)
        book = load(settings)
        _sessions[key] = Session(settings, key, book, Selection(settings, book.codes), before)
    return _sessions[key]


def forget_changed() -> None:
    """Sessions whose rulebook has changed on disk are made anew when asked for."""
    for key, session in list(_sessions.items()):
        if stamp(session.settings) != session.stamp:
            del _sessions[key]

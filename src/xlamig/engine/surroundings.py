"""Add to the interfaces of modules what files beside them say."""

from __future__ import annotations

from collections.abc import Collection

from xlamig.engine.configured import note_configured
from xlamig.engine.search_paths import note_search_paths
from xlamig.engine.source import Source


def note_surroundings(sources: Collection[Source]) -> None:
    """Add what configurations name and the folders that scripts put on the search path."""
    note_configured(sources)
    note_search_paths(sources)

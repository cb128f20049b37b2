"""The rule pages that hold for the working directory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xlamig.rulebook.book import Rulebook


def open_book() -> Rulebook:
    """All rules, the user's own included."""
    from xlamig.config.load import Resolver
    from xlamig.rulebook.load import load

    return load(Resolver().settings_for(Path()))

"""The rule book that ships, loaded once for all tests that only read it."""

from __future__ import annotations

from xlamig.config.settings import Settings
from xlamig.rulebook import load

BOOK = load(Settings(preview=True))

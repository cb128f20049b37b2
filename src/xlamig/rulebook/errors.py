"""Mistakes in the rule book, told by file and key."""

from __future__ import annotations

from dataclasses import dataclass

from xlamig.config.errors import ConfigError


class RulebookError(ConfigError):
    """One or more mistakes in pages or tables; one line each, all that could be found in one go."""

    def __init__(self, *mistakes: str) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = mistakes


@dataclass(frozen=True, slots=True)
class Where:
    """A key of a page's head or of a table, for messages."""

    filename: str
    key: str = ""

    def at(self, key: str | int) -> Where:
        if isinstance(key, int):
            return Where(self.filename, f"{self.key}[{key}]")
        return Where(self.filename, f"{self.key}.{key}" if self.key else key)

    def error(self, message: str) -> RulebookError:
        return RulebookError(": ".join(part for part in (self.filename, self.key, message) if part))

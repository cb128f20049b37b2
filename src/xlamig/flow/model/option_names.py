"""The names of options, by their role."""

from __future__ import annotations

from xlamig.knowledge import values as table


def is_mode(option: str) -> bool:
    """Return whether an option is a way to run the program, which users choose between."""
    return table.name_like("mode").search(option) is not None


def is_work(option: str) -> bool:
    """Return whether an option says what part of its work a class of the program does."""
    return table.name_like("work").search(option) is not None


def is_choice(option: str) -> bool:
    """Return whether an option names what users choose between, such as a model or a data set."""
    return table.name_like("choice").search(option) is not None

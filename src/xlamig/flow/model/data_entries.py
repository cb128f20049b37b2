"""Entries of batches, states and other data that have the names of options: they set no option of a command
line, as `target["masks"] = masks` does not set `--masks`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xlamig.flow.model.given import Given
from xlamig.flow.model.option_codes import DATA, Codes, name_of


def without_data(modules: Iterable[tuple[str, Given]]) -> list[tuple[str, Given]]:
    """Return what modules give, without what entries of data say of the options that parsers define."""
    every = list(modules)
    parsed = frozenset[str]().union(*(given.parsed for _, given in every))
    return [(module, given._replace(values=_settled(given.values, parsed))) for module, given in every]


def _settled(values: Mapping[str, Codes], parsed: Codes) -> Mapping[str, Codes]:
    return {
        key: frozenset(
            code.removeprefix(DATA)
            for code in codes
            if not (code.startswith(DATA) and name_of(key) in parsed)
        )
        for key, codes in values.items()
    }

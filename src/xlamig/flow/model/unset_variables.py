"""The variables of the environment that nothing in a project sets."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from xlamig.flow.model.environment import WHILE_UNSET
from xlamig.flow.model.given import Given
from xlamig.flow.model.option_codes import ENTRY, FALLBACK, UNKNOWN, Codes, keys_in, name_of


def values_while_unset(every: Collection[Given], named: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the keys of expressions of variables, each with the code of its value where no module sets the
    variable, and UNKNOWN for one that is set, or `named` in other files."""
    given = {key for one in every for key, codes in one.values.items() if _sets(codes)}
    for key in sorted({key for one in every for key in _keys(one) if WHILE_UNSET in key}):
        variable, _, code = key.rpartition(WHILE_UNSET)
        name = name_of(variable)
        yield key, UNKNOWN if not given.isdisjoint((variable, ENTRY + name)) or name in named else code


def _keys(given: Given) -> Iterator[str]:
    """Yield the keys of the options that a module tests, or gives the values of to anything."""
    yield from given.tested
    for codes in given.values.values():
        yield from keys_in(codes)
    for calls in given.calls.values():
        for codes in (*calls.positional, *calls.keywords.values()):
            yield from keys_in(codes)


def _sets(codes: Codes) -> bool:
    """Return whether codes are more than what look-ups give where an option is missing."""
    return not all(code.startswith(FALLBACK) for code in codes)

"""Tell apart the options of one name that several scripts define, each by a parser of its own."""

from __future__ import annotations

from collections.abc import Container

from xlamig.flow.model.given import Given
from xlamig.flow.model.option_codes import ENTRY, SECTION, Codes, key_in, name_of, section_key

_SCRIPT = ENTRY + ":"  # before the module of the script


def script_key(module: str, key: str) -> str:
    """Return the key of an option for the script that defines it; other keys stay as they are."""
    if not key.startswith(ENTRY) or SECTION in key:
        return key
    return _SCRIPT + section_key(module.replace(SECTION, "/"), name_of(key))


def is_of_script(key: str) -> bool:
    """Return whether a key is that of an option of one script."""
    return key.startswith(_SCRIPT)


def with_own_options(given: Given, module: str, alone: Container[str]) -> Given:
    """Return what a module gives; one that is `alone` has keys of its own for the options that its parser
    defines."""
    own = {ENTRY + option: script_key(module, ENTRY + option) for option in given.parsed}
    if not own or module not in alone:
        return given

    def renamed(code: str) -> str:
        key = key_in(code)
        return code.removesuffix(key) + own.get(key, key)

    def coded(codes: Codes) -> Codes:
        return frozenset(map(renamed, codes))

    calls = {
        name: now._replace(
            positional=tuple(map(coded, now.positional)),
            keywords={name: coded(codes) for name, codes in now.keywords.items()},
        )
        for name, now in given.calls.items()
    }
    values = {own.get(key, key): coded(codes) for key, codes in given.values.items()}
    return given._replace(values=values, calls=calls, tested=coded(given.tested))

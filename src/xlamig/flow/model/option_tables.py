"""The possible values of options, from those that a project gives them by key, or by name alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from functools import lru_cache

from xlamig.flow.model.closure import closure
from xlamig.flow.model.lowered_keys import LOWERED
from xlamig.flow.model.option_codes import (
    ANY,
    ATTRIBUTE,
    CUDA,
    ENTRY,
    GLOBAL,
    NO_NUMBER,
    NONE,
    NOT,
    OFF,
    ONLY_IF,
    PARAMETER,
    SECTION,
    UNKNOWN,
    Codes,
    is_constant,
    key_in,
    keys_in,
    name_of,
    opposite,
    owner_of,
)
from xlamig.flow.model.own_parsers import is_of_script

_NOTHING: Codes = frozenset()
_WEAK = frozenset({OFF, CUDA})


class OptionTable:
    """The values of options by key. What an entry or another object's attribute is, says any entry, attribute
    or global of its name; and an entry may come to any parameter and attribute of its name. `related` returns
    the classes that an object of a class may be of, and those above them."""

    def __init__(self, related: Callable[[str], Set[str]]) -> None:
        self._related = related
        self._attributes: dict[str, list[str]] = {}  # the keys with values by name
        self._entries: dict[str, list[str]] = {}
        self._reads: dict[str, list[str]] = {}
        self._values: dict[str, set[str]] = {}
        self._explicit: set[str] = set()  # keys that something gives a known value
        self._evident: set[str] = set()  # those, and the defaults that calls leave
        self._seen: set[str] = set()  # parameters of functions whose calls are all known
        self._open: set[str] = set()  # parameters that a mapping may give values to
        self._derived: set[str] = set()  # keys, but of parameters, whose value is one of another name

    def give(self, key: str, codes: Iterable[str]) -> None:
        """Note values that are given to an option."""
        if self.note(key, codes):
            self._explicit.add(self._key(key))

    def note(self, key: str, codes: Iterable[str], evident: bool = True) -> bool:
        """Note values that an option may have; return whether any is known."""
        given = self._coded(codes)
        no_number = NO_NUMBER in given
        given = frozenset(NONE if code == NO_NUMBER else code for code in given)
        own = self._key(key)
        if own not in self._values:
            self._values[own] = set()
            self._reads.clear()
            for start, keys in ((ATTRIBUTE, self._attributes), (ENTRY, self._entries)):
                if own.startswith(start):
                    keys.setdefault(name_of(own), []).append(own)
        self._values[own].update(given)
        if PARAMETER not in key and any(name_of(source) != name_of(key) for source in keys_in(codes)):
            self._derived.add(own)
        known = no_number or any(is_constant(one) and one not in (NONE, UNKNOWN) for one in given)
        if known and evident:
            self._evident.add(self._key(key))
        return known

    def given(self, key: str) -> Codes:
        """Return the codes that were noted for a key alone."""
        return frozenset(self._values.get(key, _NOTHING))

    def leave(self, key: str) -> None:
        """Note that a call leaves a parameter at None."""
        self._evident.add(self._key(key))

    def open(self, key: str) -> None:
        """Note that a call may give a parameter a value of a mapping."""
        self._open.add(key)

    def see_all(self, key: str) -> None:
        """Note that all calls of the function of a parameter are known: it has what they give it alone."""
        self._seen.add(key)

    def sees_all(self, key: str) -> bool:
        """Return whether only such parameters decide a parameter."""
        return self._seen.issuperset(closure([key], lambda one: keys_in(self._values.get(one, _NOTHING))))

    def is_inside(self, key: str) -> bool:
        """Return whether an option has what constructors and functions of the program are called with, and no
        entry of settings or attribute that is set from outside."""
        every = closure([key], lambda one: {*self._read(one), *keys_in(self._values_of(one))})
        return every.isdisjoint(self._open) and all(PARAMETER in one or owner_of(one) for one in every)

    def has(self, key: str) -> bool:
        """Return whether anything gives an option a value, known or not."""
        return bool(self._read(key))

    def _sources(self, keys: Iterable[str]) -> Codes:
        """Return keys, and those that their values come from."""
        return frozenset(closure(map(self._key, keys), lambda key: keys_in(self._values_of(key))))

    def undecided(self, keys: Iterable[str]) -> Codes:
        """Return those of the keys that have values and may have no unknown one, and their sources."""
        unknown = self._unknown()
        found = self._sources(key for key in map(self._key, keys) if key not in unknown and self._read(key))
        return found.union(*map(self._read, found))

    def _unknown(self) -> set[str]:
        """Return the keys that an unknown value may come to."""
        readers: dict[str, list[str]] = {}  # by key with values, the keys that are read as it
        for key in self._every_key():
            for source in self._read(key):
                readers.setdefault(source, []).append(key)
        takers: dict[str, list[str]] = {}  # by key, what gives its values on
        waiting: list[str] = []
        for source, codes in self._values.items():
            if UNKNOWN in codes:
                waiting += readers.pop(source, ())
            for given in keys_in(codes):
                takers.setdefault(given, []).append(source)
        return closure(
            waiting, lambda key: [one for source in takers.get(key, ()) for one in readers.pop(source, ())]
        )

    def _every_key(self) -> set[str]:
        return self._values.keys() | frozenset[str]().union(*map(keys_in, self._values.values()))

    def codes(self, key: str) -> Codes:
        """Return codes of values, UNKNOWN among them if there are others."""
        return self._codes(self._key(key), _NOTHING)

    def _codes(self, key: str, above: Codes) -> Codes:
        """Return the codes; none if all come from keys `above` that are asked already."""
        asked, seen = {key}, {key}
        waiting, found, weak, read = [key], set[str](), False, set[str]()
        while waiting:
            one = waiting.pop()
            if not self._read(one):
                return ANY
            seen.update(self._read(one))
            for code in self._values_of(one):
                if code[0] == ENTRY and (name_of(code) == name_of(one) or seen.issuperset(self._read(code))):
                    read.add(name_of(code))
                if code[0] == NOT:
                    found |= self._opposite(code[1:], above | seen)
                    continue
                if code[0] == ONLY_IF:
                    weak, code = True, code[1:]
                if is_constant(code):
                    found.add(code)
                elif code not in asked:
                    asked.add(code)
                    waiting.append(code)
            if UNKNOWN in found:
                return ANY
        if not found:
            return _NOTHING if above else ANY
        set_here = {name_of(key) for key in seen & self._explicit if PARAMETER not in key}
        set_here |= set(map(name_of, seen & self._derived))
        if not read <= set_here | self._lowered(set_here):
            return ANY  # `f(x=args.x)`: what sets it there is not known
        known = not self._evident.isdisjoint(seen) and not (weak and not found <= _WEAK)
        return frozenset(found) if known else ANY

    def _opposite(self, key: str, above: Codes) -> Codes:
        return _NOTHING if key in above else frozenset(map(opposite, self._codes(key, above)))

    def _values_of(self, key: str) -> Codes:
        return frozenset(code for source in self._read(key) for code in self._values[source])

    def _read(self, key: str) -> list[str]:
        """Return the keys with values that say what an option is."""
        if key not in self._reads:
            if key in self._seen:
                self._reads[key] = [key] if key in self._values else []
                return self._reads[key]
            name = name_of(key)
            globals_ = (GLOBAL + name,) if key[0] == ENTRY else ()
            keys = dict.fromkeys(
                (key, *self._of_attributes(key, name), *globals_, *self._of_entries(key, name))
            )
            self._reads[key] = [one for one in keys if one in self._values]
            self._reads[key] += [one for one in self._in_capitals(name) if key[0] == ENTRY]
        return self._reads[key]

    def _in_capitals(self, name: str) -> list[str]:
        """Return the keys of the entries that a program may have under a name in lower case."""
        return self._entries.get(name.upper(), []) if name.islower() and self._lowered((name,)) else []

    def _lowered(self, names: Iterable[str]) -> Codes:
        """Return names as a program has them that writes the keys of its settings in lower case."""
        return frozenset(map(str.lower, names)) if self._key(LOWERED) in self._values else _NOTHING

    def _of_entries(self, key: str, name: str) -> list[str]:
        """Return the keys of the entries that an option may be; one of a section is not one of others, if
        something gives it a value, and one of a script's own parser is none of another script."""
        if is_of_script(key):
            return [one for one in self._entries.get(name, []) if one == key or not is_of_script(one)]
        if key[0] == ENTRY and SECTION in key and key in self._values:
            return [ENTRY + name]
        return self._entries.get(name, [])

    def _of_attributes(self, key: str, name: str) -> list[str]:
        """Return the keys of the attributes that an option may be."""
        if key[0] not in (ATTRIBUTE, ENTRY):
            return []
        owner = owner_of(key)
        every = self._attributes.get(name, [])
        if not owner:
            return every
        return [one for one in every if (other := owner_of(one)) == "" or other in self._related(owner)]

    def _key(self, key: str) -> str:
        return key

    def _coded(self, codes: Iterable[str]) -> Codes:
        return frozenset(codes)


class NameTable(OptionTable):
    """The values of options by name: all options of a name are one."""

    def _read(self, key: str) -> list[str]:
        name = name_of(key)
        return [one for one in dict.fromkeys((name, *self._in_capitals(name))) if one in self._values]

    def _in_capitals(self, name: str) -> list[str]:
        return [name.upper()] if name.islower() and self._lowered((name,)) else []

    def _key(self, key: str) -> str:
        return name_of(key)

    def _coded(self, codes: Iterable[str]) -> Codes:
        return frozenset(map(_by_name, codes))


@lru_cache(maxsize=100_000)
def _by_name(code: str) -> str:
    """Return a code with the name of its option instead of the key; a program says few, and each often."""
    if is_constant(code) or code[0] == ENTRY:
        return code
    key = key_in(code)
    return code.removesuffix(key) + name_of(key)

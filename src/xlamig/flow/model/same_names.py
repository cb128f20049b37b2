"""Tell apart the functions and classes of one name that several modules define at their top."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from xlamig.flow.model.callees import HANDED, IMPORTED, OWN, SUPER
from xlamig.flow.model.callgraph import OUTSIDE
from xlamig.flow.model.given import Given
from xlamig.flow.model.given_calls import Calls, join_calls
from xlamig.flow.model.option_codes import (
    ATTRIBUTE,
    PARAMETER,
    SECTION,
    is_constant,
    key_in,
    name_of,
    owner_of,
    parameter_key,
)
from xlamig.flow.model.outcomes import State, States
from xlamig.flow.model.own_parsers import script_key, with_own_options

_IN = ":"  # between a name and the module that it is of


def told_apart(modules: Iterable[tuple[str, Given]], alone: Container[str] = ()) -> list[Given]:
    """Return what the modules of a project give, with names of their own for the functions and classes that
    have namesakes in other modules and are no method anywhere. A call that may mean any of them means all;
    one of a library's function, which an import leads to, means none of them. The modules `alone`, which no
    other imports, have options of their own where their parsers define them."""
    every = list(modules)
    own = frozenset(part for module, _ in every for part in module.split("."))
    count = Counter(name for _, given in every for name in given.own)
    inner = frozenset[str]().union(*(given.inner for _, given in every))
    shared = frozenset(name for name, number in count.items() if number > 1) - inner
    homes: dict[str, list[str]] = {}
    for module, given in every:
        for name in shared & given.own:
            homes.setdefault(name, []).append(module)
    scripts = ((module, with_own_options(given, module, alone)) for module, given in every)
    return [_renamed(given, module, homes, own) for module, given in scripts]


class StatesInModule(Mapping[str, State]):
    """The states of options, as a module asks for them by key."""

    def __init__(self, states: States, module: str) -> None:
        self._states = states
        self._own = _Renamed(module, None)

    def __getitem__(self, key: str) -> State:
        own = self._own.key(key)
        return self._states[own if own in self._states else key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._states)

    def __len__(self) -> int:
        return len(self._states)


def _renamed(given: Given, module: str, homes: Mapping[str, list[str]], own: Container[str]) -> Given:
    shared = homes.keys() & given.own
    renamed = _Renamed(module, shared)
    calls: dict[str, Calls] = {}
    for called, now in given.calls.items():
        coded = now._replace(
            positional=tuple(renamed.codes(codes) for codes in now.positional),
            keywords={name: renamed.codes(codes) for name, codes in now.keywords.items()},
        )
        for name in _called(called, module, homes, own):
            calls[name] = join_calls(calls[name], coded) if name in calls else coded
    bases = {
        renamed.name(name): tuple(one for base in above for one in _called(base, module, homes, own))
        for name, above in given.bases.items()
    }
    if not shared and homes.keys().isdisjoint(given.handed):
        return given._replace(calls=calls, bases=bases)
    return Given(
        {renamed.key(key): renamed.codes(codes) for key, codes in given.values.items()},
        calls,
        {renamed.name(name): found for name, found in given.parameters.items()},
        bases,
        frozenset(map(renamed.key, given.tested)),
        frozenset(one for name in given.handed for one in _every(name, homes)),
        given.own,
        given.inner,
        given.kept,
        given.assigned,
        given.parsed,
        given.settings,
        given.foreign,
        given.replaced,
    )


def _called(called: str, module: str, homes: Mapping[str, list[str]], own: Container[str]) -> Iterator[str]:
    """Yield the functions and classes that a call, or a base, may mean; `own` are the parts of the names of
    the project's modules."""
    if called.startswith(OWN):
        name = called.removeprefix(OWN)
        yield _in(name, module) if name in homes else name
    elif called.startswith(IMPORTED):
        path = called.removeprefix(IMPORTED)
        home, _, name = path.rpartition(".")
        if (first := path.partition(".")[0]) in OUTSIDE and first not in own:
            yield called
            return
        nearest = [one for one in homes.get(name, ()) if f".{one}".endswith(f".{home}")]
        yield from (_in(name, one) for one in nearest) if nearest else _every(name, homes)
    elif called.startswith(SUPER):
        name = called.removeprefix(SUPER)
        yield SUPER + (_in(name, module) if name in homes else name)
    elif called.startswith(HANDED):
        yield from (HANDED + one for one in _every(called.removeprefix(HANDED), homes))
    else:
        yield from _every(called, homes)


def _every(name: str, homes: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield a name, or those that all its namesakes have."""
    yield from (_in(name, home) for home in homes[name]) if name in homes else (name,)


def _in(name: str, module: str) -> str:
    return f"{name}{_IN}{module.replace('.', '/')}"


def plain(name: str) -> str:
    """Return the name that a function or class has in its module."""
    return name.partition(_IN)[0]


@dataclass(frozen=True, slots=True)
class _Renamed:
    """The names of a module's own functions and classes; None says that all of them are `shared`."""

    module: str
    shared: frozenset[str] | set[str] | None

    def name(self, name: str) -> str:
        return _in(name, self.module) if self.shared is None or name in self.shared else name

    def key(self, key: str) -> str:
        if PARAMETER in key:
            return parameter_key(self.name(key.rpartition(PARAMETER)[0]), name_of(key))
        if owner := owner_of(key):
            return f"{ATTRIBUTE}{self.name(owner)}{SECTION}{name_of(key)}"
        return script_key(self.module, key) if self.shared is None else key

    def codes(self, codes: frozenset[str]) -> frozenset[str]:
        return frozenset(map(self._code, codes)) if self.shared is None or self.shared else codes

    def _code(self, code: str) -> str:
        if is_constant(code):
            return code
        key = key_in(code)
        return code.removesuffix(key) + self.key(key)

"""Switches: options that everything in a project leaves off, or on, or at one of a few values."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping

from xlamig.flow.model.callees import HANDED, SUPER
from xlamig.flow.model.closure import closure
from xlamig.flow.model.data_entries import without_data
from xlamig.flow.model.forwarded import Forwarded
from xlamig.flow.model.given import Given
from xlamig.flow.model.given_calls import MOST_STARRED, STARRED, Calls, Parameter, join_calls
from xlamig.flow.model.option_codes import (
    ANY,
    CUDA,
    ENTRY,
    FALLBACK,
    INSTANCE,
    NO_CUDA,
    NONE,
    OFF,
    ON,
    TEXT,
    UNGIVEN,
    UNKNOWN,
    Codes,
    name_of,
    parameter_key,
)
from xlamig.flow.model.option_names import is_choice, is_mode, is_work
from xlamig.flow.model.option_tables import NameTable, OptionTable
from xlamig.flow.model.outcomes import NO_STATE, State
from xlamig.flow.model.own_parsers import is_of_script
from xlamig.flow.model.related import Related
from xlamig.flow.model.same_names import plain, told_apart
from xlamig.knowledge import values as table


class Switches:
    """The states of the options of a project, from what its modules give, each with its name. A project that
    `never_trains` leaves its modules in the mode for evaluation; settings that are no modules name the
    functions and classes that are `made` of what they say. The keys `left` alone are of what has other values
    only where nothing runs: nobody chooses between these. No module imports those that are `alone`. Commands
    that run a `documented` project are known."""

    def __init__(
        self,
        modules: Iterable[tuple[str, Given]],
        never_trains: bool = False,
        made: Iterable[str] = (),
        left: Collection[str] = (),
        alone: Collection[str] = (),
        documented: bool = False,
    ) -> None:
        every = told_apart(without_data(modules), alone)
        self.tested = frozenset[str]().union(*(given.tested for given in every))
        self._set: dict[str, set[str]] = {}  # what is given a value, by name
        for key in {key for given in every for key in given.values}:
            self._set.setdefault(name_of(key), set()).add(key)
        foreign = {name_of(key) for given in every for key in given.foreign}
        of_settings = frozenset[str]().union(*(given.settings for given in every))
        self._of_settings = {key for key in of_settings if name_of(key) not in foreign}
        self._never_trains = never_trains
        self._documented = documented
        self._left = left
        self._states: dict[str, State] = {}
        functions: dict[str, list[Parameter]] = {}
        derived: dict[str, set[str]] = {}
        above: dict[str, set[str]] = {}
        for given in every:
            for name, parameters in given.parameters.items():
                functions.setdefault(name, []).extend(parameters)
            for name, bases in given.bases.items():
                above.setdefault(name, set()).update(bases)
                for base in bases:
                    derived.setdefault(base, set()).add(name)
        related = Related(above, derived)
        self._tables = (OptionTable(related), NameTable(related))
        parsed = frozenset[str]().union(*(given.parsed for given in every))
        self._replaced = frozenset[str]().union(*(given.replaced for given in every)) - parsed
        for given in every:
            for key, codes in given.values.items():
                option = name_of(key)
                self._give(key, _known_values(codes, option not in parsed, documented))
        calls = _joined(every, functions, functions.keys() | above.keys())
        handed = frozenset[str]().union(*(given.handed for given in every))
        kept = handed.union(*(given.kept for given in every))
        unseen = kept.union(*(given.inner for given in every)) | above.keys()
        made = frozenset(made).union(_named_in(every))

        def called(name: str) -> list[Calls]:
            found = list(_calls_of(name, calls, derived, functions, set()))
            return found or [_OF_SETTINGS] * (plain(name) in made)

        forwarded = Forwarded(lambda name: [] if plain(name) in kept else called(name), functions)
        calls = {name: forwarded.settle(one) for name, one in calls.items()}
        unseen |= {
            ENTRY + keyword
            for name, one in calls.items()
            if name not in functions
            for keyword in one.keywords
        }
        for name, params in functions.items():
            every_call = called(name)
            known = plain(name) not in unseen and bool(every_call) and all(map(_says_all, every_call))
            for param in params:
                if known and ENTRY + param.name not in unseen:
                    self._tables[0].see_all(parameter_key(name, param.name))
                self._pass(name, param, every_call)
                if name in handed:
                    self._tables[0].note(parameter_key(name, param.name), (UNKNOWN,))
        self._give_keywords(calls, functions, above)

    def _give_keywords(
        self,
        calls: Mapping[str, Calls],
        functions: Mapping[str, list[Parameter]],
        above: Mapping[str, set[str]],
    ) -> None:
        """Note the keywords of calls that the functions themselves have no parameter for: those that their
        bases have one for come to it, others may come to anything."""
        named = {name: {param.name for param in params} for name, params in functions.items()}
        for name, one in calls.items():
            overridden = name.removeprefix(SUPER) if name.startswith(SUPER) else ""
            starts = above.get(overridden, ()) if overridden else (name,)
            makers = named.keys() & closure([name, *starts], lambda one: above.get(one, ()))
            first = set[str]().union(*(named.get(start, ()) for start in starts))
            for keyword, codes in one.keywords.items():
                takers = [maker for maker in makers if keyword in named[maker]]
                if not takers and keyword != STARRED:
                    self._give(ENTRY + keyword, codes)
                elif keyword not in first and not named.keys().isdisjoint(starts):
                    for taker in takers:  # as one of its `**kwargs`
                        self._give(parameter_key(taker, keyword), codes)

    def _give(self, key: str, codes: Iterable[str]) -> None:
        for one in self._tables:
            one.give(key, codes)

    def give(self, option: str, code: str) -> None:
        """Note a value that settings give to the options of a name."""
        self._give(ENTRY + option, (code,))

    def leave(self, key: str, code: str) -> None:
        """Note the value that an option has because nothing gives it another one."""
        for one in self._tables:
            one.give(key, (code,))
            one.leave(key)

    def _pass(self, function: str, param: Parameter, called: list[Calls]) -> None:
        key = parameter_key(function, param.name)
        default = {param.default or UNKNOWN}
        for one in self._tables:
            if not called:
                one.note(key, default, evident=False)
            for calls in called:
                given = calls.keywords.get(param.name, frozenset())
                if 0 <= param.position < len(calls.positional):
                    given |= calls.positional[param.position]
                one.give(key, given - {key})
                left = not calls.fill(param.position, param.name)
                starred = STARRED in calls.keywords
                if left and starred:
                    one.open(key)
                if left and starred and param.default in ("", NONE):
                    one.note(key, (ENTRY + param.name,), evident=False)  # `**settings` have to give it
                if left and (param.default or not starred):
                    one.note(key, default)
                if NONE in (given | default if left else given) and not starred:
                    one.leave(key)

    def is_on(self, option: str) -> bool:
        """Return whether the modules turn on the entry of a name, as `action="store_false"` does."""
        named = self._set.get(option, ())
        keys = (key for key in named if key == ENTRY + option or is_of_script(key))
        return frozenset[str]().union(*map(self._tables[0].given, keys)) == {ON}

    def undecided(self) -> Codes:
        """Return the names of the options that tests ask for and no module gives an unknown value, with their
        sources, and of the entries that only settings have."""
        asked = [
            key
            for key in self.tested
            if not is_mode(option := name_of(key)) or is_work(option) or self._is_left(key)
        ]
        found = frozenset(name_of(key) for one in self._tables for key in one.undecided(asked))
        of_files = (key for key in self._of_settings.intersection(asked) if not self._tables[0].has(key))
        of_training = filter(self._is_of_training, map(name_of, asked))
        return found.union(of_training, map(name_of, of_files)) - self._replaced

    def states(self) -> Mapping[str, State]:
        """Return the known states of the options that tests ask for, and of others of their names that are
        set, by key."""
        names = set(map(name_of, self.tested))
        asked = self.tested.union(*(self._set.get(name, ()) for name in names))
        return {key: state for key in sorted(asked) if (state := self.state(key))}

    def state(self, key: str) -> State:
        """Return the codes of the values that an option may have; none if others are possible."""
        if key not in self._states:
            found = (self._state(key, one) for one in self._tables)
            self._states[key] = next(filter(None, found), NO_STATE)
        return self._states[key]

    def _state(self, key: str, values: OptionTable) -> State:
        option = name_of(key)
        if self._is_of_training(option):
            return (OFF,)
        codes = values.codes(key)
        texts = any(code[0] == TEXT for code in codes)
        chosen = texts and is_choice(option) and not values.sees_all(key)
        of_cuda = not codes.isdisjoint({CUDA, NO_CUDA})
        inside = values.sees_all(key) or (is_work(option) and values.is_inside(key))
        chosen |= is_mode(option) and not (of_cuda or key in self._left or inside or self._is_left(key))
        unsure = of_cuda and isinstance(values, NameTable)
        return NO_STATE if UNKNOWN in codes or chosen or unsure else tuple(sorted(codes))

    def _is_left(self, key: str) -> bool:
        """Return whether the commands that run the project are known, and none gives an option a string."""
        return self._documented and self._tables[0].codes(key) <= _LEFT

    def _is_of_training(self, option: str) -> bool:
        """Return whether an option is off because nothing trains: the mode of modules, and what saves memory
        for gradients in classes of libraries, unless the project gives it a value."""
        saves = table.name_like("checkpointing").search(option) is not None and not self._tables[1].has(
            option
        )
        return self._never_trains and (option == "training" or saves)


_UNGIVEN: Codes = frozenset({UNGIVEN})
_LEFT: Codes = frozenset({UNGIVEN, TEXT})
"""The codes of an option that takes a string and that no command gives: None, or an empty one."""
NAMING = ("_target_", "class_path", "name", "target", "type")
"""The entries of settings that may name a function or class, which is called with the other entries."""
_OF_SETTINGS = Calls((), {STARRED: ANY}, frozenset({(0, frozenset({STARRED}))}))
"""The call of what settings name, with what they say."""


def _known_values(codes: Codes, may_be_missing: bool, documented: bool) -> Codes:
    """Return the codes of an option's values, those of look-ups without it only if it may be missing; one
    that has to be given if no commands are known may have any."""
    known = (code for code in codes if may_be_missing or not code.startswith(FALLBACK))
    unknown = frozenset[str]() if documented else _UNGIVEN
    return frozenset(UNKNOWN if code in unknown else code.removeprefix(FALLBACK) for code in known)


def _named_in(every: Iterable[Given]) -> Iterator[str]:
    """Yield the last parts of the texts that modules give to such entries: `dict(type="Net", width=3)`."""
    for given in every:
        entries = [given.values.get(ENTRY + option, ANY) for option in NAMING]
        if made := given.calls.get("dict"):
            entries += [made.keywords.get(option, ANY) for option in NAMING]
        for code in frozenset[str]().union(*entries):
            if code[0] == TEXT:
                yield code[1:].rpartition(".")[2]


def _joined(
    every: Iterable[Given], functions: Mapping[str, object], known: Container[str]
) -> dict[str, Calls]:
    """Return the calls by function; an object that no function is named after is an instance, and what is
    handed to a call and no function is not called."""
    found: dict[str, Calls] = {}
    for given in every:
        for called, calls in given.calls.items():
            name = called.removeprefix(HANDED)
            if name != called and name not in known:
                continue
            if called.startswith(INSTANCE) and called != INSTANCE:
                method = called.removeprefix(INSTANCE)
                name = method if method in functions else INSTANCE
            found[name] = join_calls(found[name], calls) if name in found else calls
    return found


def _calls_of(
    name: str,
    calls: Mapping[str, Calls],
    derived: Mapping[str, set[str]],
    functions: Mapping[str, object],
    seen: set[str],
) -> Iterator[Calls]:
    """Yield the calls of a function; of a constructor, those from the classes derived from it as well."""
    seen.add(name)
    if name in calls:
        yield calls[name]
    for below in sorted(derived.get(name, ())):
        if SUPER + below in calls:
            yield calls[SUPER + below]
        if below not in functions and below not in seen:
            yield from _calls_of(below, calls, derived, functions, seen)


def _says_all(calls: Calls) -> bool:
    """Return whether calls say which arguments they give."""
    return STARRED not in calls.keywords and all(count < MOST_STARRED for count, _ in calls.filled)

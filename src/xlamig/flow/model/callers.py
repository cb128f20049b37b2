"""Find the functions that steps call, and those that only datasets or the workers of a loader run, in all
modules."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from xlamig.flow.model.cuda_callers import CudaCalls, only_on_cuda

STEP = ""
"""The caller, in the calls of a module, of what a step calls."""
WORKERS = "<workers>"
"""The caller of what the workers of a loader call."""
DATASETS = "<datasets>"
"""The caller of the methods of datasets and loaders."""
SAMPLES = "<samples>"
"""The caller of what is given to a dataset to transform its samples."""
FIRST_RANK = "<rank 0>"
"""The caller of what a module calls on one rank only."""
AT_TIMES = "<at times>"
"""The caller of what a module calls in some iterations only."""
OWN = "self."
"""The prefix of a method that a class calls on its own object and does not define: "self.C.m"."""
HELD = "<held>"
"""The caller of what a module keeps in lists and dictionaries, which is called through them."""
BODY = "<module>"
"""The caller of what the top-level statements of a module call."""
BUILT = "*."
"""Begins the name of a method of an object that a factory makes."""

_Calls = Mapping[str, Mapping[str, tuple[str, ...]]]
_Locate = Callable[[str, str], tuple[str, str] | None]
_Function = tuple[str, str]  # the module and the name there
_Dispatched = Mapping[_Function, Sequence[_Function]]
_Built = Mapping[str, Sequence[_Function]]
_NOTHING: _Dispatched = MappingProxyType({})
_NONE_BUILT: _Built = MappingProxyType({})


class Callers(NamedTuple):
    """The callers of a module's functions, as far as they are known.

    `steps` are the functions that a step of any module calls, and a module that calls them, another than
    their own where there is one; `workers` are those that only the workers of a loader call, or what
    transforms the samples of a dataset; `elsewhere` are those that other modules call, also outside of steps;
    `samples` are the classes that only datasets make; `cuda` are the functions that only code for CUDA calls,
    each with the test.
    """

    steps: Mapping[str, str]
    workers: frozenset[str]
    elsewhere: frozenset[str] = frozenset()
    samples: frozenset[str] = frozenset()
    first_rank: frozenset[str] = frozenset()
    cuda: tuple[tuple[str, str], ...] = ()


NO_CALLERS = Callers({}, frozenset())


def callers_of(
    calls: _Calls,
    locate: _Locate,
    dispatched: _Dispatched = _NOTHING,
    built: _Built = _NONE_BUILT,
    on_cuda: Mapping[str, CudaCalls] = MappingProxyType({}),
) -> Mapping[str, Callers]:
    """Return the callers by module; `calls` maps each function of each module to its callees, `dispatched`
    each method to others that run where it does, `built` the names of methods to those of objects that
    factories make, `on_cuda` are the calls of each module for CUDA."""
    graph = _Graph(calls, locate, dispatched, built)
    workers, (samples, transforms) = graph.workers(), graph.samples()
    steps, elsewhere, first_rank = graph.steps(samples), graph.elsewhere(), graph.first_rank()
    guarded = any(part.guarded for part in on_cuda.values())
    cuda = only_on_cuda(on_cuda, graph.callers(), graph.place) if guarded else {}
    return {
        module: Callers(
            steps.get(module, {}),
            frozenset((*workers.get(module, ()), *transforms.get(module, ()))),
            frozenset(elsewhere.get(module, ())),
            frozenset(samples.get(module, ())),
            frozenset(first_rank.get(module, ())),
            tuple(sorted(cuda.get(module, {}).items())),
        )
        for module in {*steps, *cuda, *workers, *elsewhere, *samples, *transforms, *first_rank}
    }


class _Graph:
    def __init__(self, calls: _Calls, locate: _Locate, dispatched: _Dispatched, built: _Built) -> None:
        self.calls = calls
        self.dispatched = dispatched
        self.built = built
        self.locate = locate
        self._places: dict[_Function, _Function | None] = {}  # by the module that calls, and what it calls

    def _callees(self, module: str, name: str) -> Iterator[_Function]:
        for called in self.calls[module].get(name, ()):
            place = self.place(called, module)
            if place is not None:
                yield place

    def place(self, called: str, module: str) -> _Function | None:
        """Return the function that a module calls by a name, if it is one of the project."""
        if called.startswith("."):
            return module, called[1:]
        if (module, called) not in self._places:
            self._places[module, called] = self.locate(called, module)
        return self._places[module, called]

    def steps(self, samples: Mapping[str, Container[str]]) -> dict[str, dict[str, str]]:
        """Return the functions by module that steps call, each with a caller; forward passes of the classes
        that only datasets make, `samples`, are no steps."""
        found: dict[str, dict[str, str]] = {}
        waiting = [(module, STEP) for module in self.calls]
        while waiting:
            module, name = waiting.pop()
            for place in self._run_with(module, name):
                known = found.setdefault(place[0], {})
                if name == STEP and place[1].partition(".")[0] in samples.get(place[0], ()):
                    continue
                if place[1] not in known:
                    waiting.append(place)
                if known.get(place[1], place[0]) == place[0]:
                    known[place[1]] = module
        return found

    def _run_with(self, module: str, name: str) -> Iterator[_Function]:
        """Yield what runs where a function does."""
        yield from self._callees(module, name)
        yield from self.dispatched.get((module, name), ())
        for called in self.calls[module].get(name, ()):
            if called.startswith(BUILT):
                yield from self.built.get(called.removeprefix(BUILT), ())
            elif called.startswith(OWN):
                yield from self.dispatched.get((module, called.removeprefix(OWN)), ())

    def callers(self) -> Mapping[_Function, set[_Function]]:
        """Return the functions that call each function, those of tests left out."""
        found: dict[_Function, set[_Function]] = {}
        for module, functions in self.calls.items():
            if any(part.startswith("test") for part in module.split(".")):
                continue
            for name in functions.keys() - {STEP, WORKERS, DATASETS, SAMPLES}:
                for place in self._callees(module, name):
                    found.setdefault(place, set()).add((module, name))
        return found

    def elsewhere(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for module, functions in self.calls.items():
            for called in {one for names in functions.values() for one in names if not one.startswith(".")}:
                place = self.place(called, module)
                if place is not None and place[0] != module:
                    found.setdefault(place[0], set()).add(place[1])
        return found

    def first_rank(self) -> dict[str, set[str]]:
        """Return the functions by module that are called on one rank, or by such functions, and nowhere else.
        A method may be called where its class is not known."""
        callers: dict[_Function, set[_Function]] = {}
        for module, functions in self.calls.items():
            for name in functions:
                for place in self._callees(module, name):
                    callers.setdefault(place, set()).add((module, name))
        found: dict[str, set[str]] = {}
        waiting = [place for module in self.calls for place in self._callees(module, FIRST_RANK)]
        while waiting:
            place = waiting.pop()
            known = found.setdefault(place[0], set())
            ranked = all(name == FIRST_RANK or name in found.get(one, ()) for one, name in callers[place])
            if ranked and "." not in place[1] and place[1] not in known:
                known.add(place[1])
                waiting += self._callees(*place)
        return found

    def workers(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        waiting = [place for module in self.calls for place in self._callees(module, WORKERS)]
        callers = self._callers() if waiting else {}
        while waiting:
            module, name = waiting.pop()
            name = name.removesuffix("__init__") + "__call__" if name.endswith(".__init__") else name
            if name in found.setdefault(module, set()):
                continue
            found[module].add(name)
            for place in self._callees(module, name):
                others = callers.get(_last(place[1]), ())
                if all(self._is_worker(caller, called, place, found) for caller, called in others):
                    waiting.append(place)
        return found

    def samples(self) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
        """Return the classes by module that only datasets make, and classes that only these make; and the
        functions that only methods of these call."""
        found: dict[str, set[str]] = {}
        for module in self.calls:
            known = found.setdefault(module, {SAMPLES})
            known.update(name for _, name in self._callees(module, DATASETS))
        classes: dict[str, set[str]] = {}
        functions: dict[str, set[str]] = {}
        of_classes: set[_Function] = set()
        waiting = [(module, name) for module, names in found.items() for name in names]
        served = any(not calls.keys().isdisjoint((DATASETS, SAMPLES)) for calls in self.calls.values())
        callers = self._callers(at_times=True) if served else {}
        while waiting:
            caller = waiting.pop()
            for module, name in self._callees(*caller):
                known = found.setdefault(module, set())
                others = callers.get(_last(name), ())
                makes = name.endswith(".__init__")
                if name in known or ("." in name and not makes):
                    continue
                if not all(self._is_worker(one, called, (module, name), found) for one, called in others):
                    continue
                if not makes:  # a function that returns one, maybe
                    known.add(name)
                    waiting.append((module, name))
                    if caller in of_classes:
                        of_classes.add((module, name))
                        functions.setdefault(module, set()).add(name)
                else:
                    owner = name.removesuffix("__init__")
                    classes.setdefault(module, set()).add(owner[:-1])
                    methods = {name, *(one for one in self.calls[module] if one.startswith(owner))}
                    of_classes.update((module, one) for one in methods)
                    waiting.extend((module, one) for one in methods - known)
                    known |= methods
        return classes, functions

    def _is_worker(
        self, caller: _Function, called: str, place: _Function, found: Mapping[str, set[str]]
    ) -> bool:
        """Return whether a caller runs in workers, or calls another function of that name."""
        return caller[1] in found.get(caller[0], ()) or self.place(called, caller[0]) != place

    def _callers(self, at_times: bool = False) -> dict[str, list[tuple[_Function, str]]]:
        """Return by last name the functions that call it, each with the name that it calls; with `at_times`
        also what calls it on one rank, or in some iterations."""
        left_out = {STEP, WORKERS, DATASETS, *(() if at_times else (FIRST_RANK, AT_TIMES))}
        found: dict[str, list[tuple[_Function, str]]] = {}
        for module, functions in self.calls.items():
            if any(part.startswith("test") for part in module.split(".")):
                continue
            for name, called in functions.items():
                if name not in left_out:
                    for one in called:
                        found.setdefault(_last(one), []).append(((module, name), one))
        return found


def _last(dotted: str) -> str:
    return dotted.removesuffix(".__init__").rpartition(".")[2]

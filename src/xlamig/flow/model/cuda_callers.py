"""The functions of a project that nothing calls but code for CUDA: no other device runs what they do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple


class CudaCalls(NamedTuple):
    """The part of one module. `guarded` are the functions that call others under a test for CUDA alone, each
    with what it calls and the test; `values` are the functions that the module uses as values, so that
    anything may call them."""

    guarded: tuple[tuple[str, str, str], ...] = ()
    values: tuple[str, ...] = ()


NO_CUDA_CALLS = CudaCalls()


Function = tuple[str, str]
"""A function: its module, and its name there."""
Place = Callable[[str, str], Function | None]
"""Gives the function that a module calls by a name, if it is one of the project."""


def only_on_cuda(
    parts: Mapping[str, CudaCalls], callers: Mapping[Function, set[Function]], place: Place
) -> Mapping[str, Mapping[str, str]]:
    """Return the functions by module that are called under tests for CUDA, or by such functions, and nowhere
    else, each with the test. `callers` are the functions that call each function. A method may be called
    where its class is not known."""
    tests: dict[tuple[Function, Function], str] = {}
    for module, part in parts.items():
        for name, called, test in part.guarded:
            if (callee := place(called, module)) is not None:
                tests[(module, name), callee] = test
    if not tests:
        return {}
    values = {place(name, module) for module, part in parts.items() for name in part.values}
    callees: dict[Function, set[Function]] = {}
    for callee, all_callers in callers.items():
        for caller in all_callers:
            callees.setdefault(caller, set()).add(callee)
    found: dict[Function, str] = {}
    waiting = [callee for _, callee in tests]
    while waiting:
        callee = waiting.pop()
        if callee in found or callee in values or "." in callee[1]:
            continue
        others = callers.get(callee, set()) - {callee}
        known = [tests.get((caller, callee)) or found.get(caller, "") for caller in sorted(others)]
        if known and all(known):
            found[callee] = known[0]
            waiting += callees.get(callee, ())
    by_module: dict[str, dict[str, str]] = {}
    for (module, name), test in found.items():
        by_module.setdefault(module, {})[name] = test
    return by_module

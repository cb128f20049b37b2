"""Between the files: which calls tell which module something of its functions' arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from xlamig.flow import ProjectIndex
from xlamig.flow.model.summaries import CallContext, Portable

MAX_ROUNDS = 3
"""How often a file is analysed at most, as its callers learn more."""

_MAX_CONTEXTS = 8  # of one function
_ORDER = ("step", "interval", "epoch", "once", "unknown")

Contexts = tuple[CallContext, ...]


def contexts_by_module(calls: Iterable[CallContext], index: ProjectIndex) -> Mapping[str, Contexts]:
    """Return the calls of each module's functions, with the function's name there for `callee`.

    Of calls with the same arguments one is kept, and of each function those that run most often.
    """
    found: dict[tuple[str, str], dict[CallContext, CallContext]] = {}
    for call in sorted(calls, key=_rank):
        place = index.find_method(call.callee, call.origin)
        if place is None or place[0] == call.origin:
            continue
        module, name = place
        same = call._replace(origin="", row=0, callee=name)
        kept = found.setdefault((module, name), {})
        if len(kept) < _MAX_CONTEXTS:
            kept.setdefault(same, call._replace(callee=name))
    contexts: dict[str, list[CallContext]] = {}
    for (module, _), kept in sorted(found.items()):
        contexts.setdefault(module, []).extend(kept.values())
    return {module: tuple(kept) for module, kept in contexts.items()}


def _rank(call: CallContext) -> tuple[object, ...]:
    return _ORDER.index(call.frequency), call.origin, call.row, call.callee, repr(call)


def modules_named(contexts: Contexts, index: ProjectIndex) -> Iterator[str]:
    """The modules whose classes and functions the arguments are made of."""
    for context in contexts:
        values = (*context.positional, *(value for _, value in context.keywords))
        for value in values if context.receiver is None else (*values, context.receiver):
            for ref in _references(value):
                place = index.locate(ref, context.origin)
                if place is not None:
                    yield place[0]


def _references(value: Portable) -> Iterator[str]:
    if value.ref:
        yield value.ref
    for part in (*(value.items or ()), *((value.element,) if value.element is not None else ())):
        yield from _references(part)

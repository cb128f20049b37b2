"""Functions that `@run_on_host` takes off XLA, with those that they alone call."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from xlamig import ir
from xlamig.facts import Span
from xlamig.fix.names import last_name
from xlamig.knowledge import helpers
from xlamig.per_file import per_file


@per_file
@lru_cache(maxsize=8)
def host_spans(module: ir.Module) -> tuple[Span, ...]:
    """Return the spans of the functions of a module that run on the host already."""
    functions = (node for node in ir.walk(module) if isinstance(node, ir.FunctionDef))
    marked = [f for f in functions if any(last_name(d) == helpers.HOST for d in f.decorators)]
    return covered(marked, module) if marked else ()


def covered(functions: Iterable[ir.FunctionDef], module: ir.Module) -> tuple[Span, ...]:
    """Return the spans of functions, and of those that they alone call."""
    mentions: dict[str, list[int]] = {}
    named: dict[str, list[ir.FunctionDef]] = {}
    for node in ir.walk(module):
        if isinstance(node, ir.FunctionDef):
            named.setdefault(node.name, []).append(node)
        elif isinstance(node, ir.Name | ir.Attribute):
            mentions.setdefault(last_name(node), []).append(node.start)
    spans = [(function.start, function.end) for function in functions]
    found = 0
    while found < len(spans):
        found = len(spans)
        for name, (one, *others) in named.items():
            span, places = (one.start, one.end), mentions.get(name, [])
            inside = places and all(any(start <= at < end for start, end in spans) for at in places)
            if inside and not others and span not in spans:
                spans.append(span)
    return tuple(spans)

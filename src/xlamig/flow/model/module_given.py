"""Join what the statements of a module give to options."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.given import Given, given_in
from xlamig.flow.model.given_calls import Calls, Parameter, join_calls
from xlamig.flow.model.option_codes import Codes
from xlamig.flow.model.pieces import Pieces
from xlamig.flow.model.scopes import ScopeTable


def given_by(module: ir.Module, scopes: ScopeTable, pieces: Pieces) -> Given:
    """Return what a module gives."""
    values: dict[str, set[str]] = {}
    calls: dict[str, Calls] = {}
    parameters: dict[str, tuple[Parameter, ...]] = {}
    bases: dict[str, tuple[str, ...]] = {}
    assigned: dict[str, dict[str, Codes]] = {}
    parts = [pieces.of(given_in, statement, scopes) for statement in reversed(module.body)]
    for part in parts:
        for name, codes in part.values.items():
            values.setdefault(name, set()).update(codes)
        for name, now in part.calls.items():
            calls[name] = join_calls(calls[name], now) if name in calls else now
        for name, found in part.parameters.items():
            parameters[name] = (*parameters.get(name, ()), *found)
        bases.update(part.bases)
        for scope, keys in part.assigned.items():
            for key, codes in keys.items():
                inside = assigned.setdefault(scope, {})
                inside[key] = inside.get(key, frozenset()) | codes
    return Given(
        {name: frozenset(codes) for name, codes in values.items()},
        calls,
        parameters,
        bases,
        frozenset().union(*(part.tested for part in parts)),
        frozenset().union(*(part.handed for part in parts)),
        frozenset().union(*(part.own for part in parts)),
        frozenset().union(*(part.inner for part in parts)),
        frozenset().union(*(part.kept for part in parts)),
        assigned,
        frozenset().union(*(part.parsed for part in parts)),
        frozenset().union(*(part.settings for part in parts)),
        frozenset().union(*(part.foreign for part in parts)),
        frozenset().union(*(part.replaced for part in parts)),
    )

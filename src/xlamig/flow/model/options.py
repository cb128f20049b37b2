"""Defaults of command-line options and dataclass fields: `args.backend` is "nccl" unless set."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import Scalar, Span
from xlamig.flow.model.destinations import destination
from xlamig.flow.model.scopes import ScopeTable, path_of
from xlamig.flow.model.values import Values
from xlamig.knowledge import values as table


def command_line_options(
    module: ir.Module, scopes: ScopeTable, values: Values
) -> dict[str, tuple[Scalar, tuple[Span, ...]]]:
    """Options and fields with a constant default: its value, and every place where one is written. A
    launcher gives each process its rank, whatever the default is."""
    found: dict[str, tuple[Scalar, tuple[Span, ...]]] = {}
    differ: set[str] = set()
    for name, default in (*_arguments(module.body), *_dataclass_fields(module.body, scopes, values)):
        if table.name_like("launched").search(name):
            continue
        known = values.of(default, scopes.module)
        if known.value.kind == "constant" and known.value.value is not None:
            value, places = found.get(name, (known.value.value, ()))
            found[name] = (value, (*places, (default.start, default.end)))
            if value != known.value.value:
                differ.add(name)
    return {name: option for name, option in found.items() if name not in differ}


def _arguments(body: ir.Block) -> Iterator[tuple[str, ir.Const]]:
    for node in _statement_calls(body):
        if path_of(node.func).rpartition(".")[2] != "add_argument":
            continue
        name = destination(node)
        default = next((a.value for a in node.args if a.keyword == "default"), None)
        if name and isinstance(default, ir.Const):
            yield name, default


def _dataclass_fields(body: ir.Block, scopes: ScopeTable, values: Values) -> Iterator[tuple[str, ir.Const]]:
    for node in body:
        decorators = node.decorators if isinstance(node, ir.ClassDef) else ()
        called = [d.func if isinstance(d, ir.Call) else d for d in decorators]
        names = (values.names.dotted(d, scopes.module) or path_of(d) for d in called)
        if not isinstance(node, ir.ClassDef) or not any(name.endswith("dataclass") for name in names):
            continue
        for statement in node.body:
            if isinstance(statement, ir.AnnAssign) and isinstance(statement.value, ir.Const):
                yield path_of(statement.target), statement.value


def _statement_calls(body: ir.Block) -> list[ir.Call]:
    """Calls that are statements of their own, at any depth."""
    calls: list[ir.Call] = []
    for node in body:
        if isinstance(node, ir.ExprStmt) and isinstance(node.value, ir.Call):
            calls.append(node.value)
        for name in ("body", "orelse", "final"):
            inner = getattr(node, name, ())
            if inner:
                calls.extend(_statement_calls(inner))
    return calls

"""Defaults of command-line options, so that `args.backend` is known to be "nccl" unless set."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Scalar, Span
from xlamig.flow.scopes import ScopeTable, path_of
from xlamig.flow.values import Values


def command_line_options(
    module: ir.Module, scopes: ScopeTable, values: Values
) -> dict[str, tuple[Scalar, Span]]:
    """argparse destinations with a constant default, and where that default is written."""
    found: dict[str, tuple[Scalar, Span]] = {}
    for node in _statement_calls(module.body):
        if path_of(node.func).rpartition(".")[2] != "add_argument":
            continue
        name = _destination(node)
        default = next((a.value for a in node.args if a.keyword == "default"), None)
        if name is None or not isinstance(default, ir.Const):
            continue
        known = values.of(default, scopes.module)
        if known.value.kind == "constant" and known.value.value is not None:
            found[name] = (known.value.value, (default.start, default.end))
    return found


def _destination(node: ir.Call) -> str | None:
    name: str | None = None
    for arg in node.args:
        if not isinstance(arg.value, ir.Const) or not isinstance(arg.value.value, str):
            continue
        if arg.keyword == "dest":
            return arg.value.value
        if arg.keyword is None and (name is None or arg.value.value.startswith("--")):
            name = arg.value.value.lstrip("-").replace("-", "_")
    return name


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

"""Branches that do the same on CUDA and on the CPU but for moves, or that only log."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from xlamig import ir
from xlamig.flow.model.local_values import function_behind
from xlamig.flow.model.scopes import Scope, path_of

_ARGUMENTS = r"\((?:[^()]|\([^()]*\))*\)"
_PLACE = r"(?:torch\.device\()?[\"'](?:cuda|cpu)(?::\d+)?[\"']\)?"
_MOVES = re.compile(rf"\.(?:cuda|cpu){_ARGUMENTS}|\.to\({_PLACE}(?:,non_blocking=\w+)?\)|,?\bdevice={_PLACE}")
_TYPES = re.compile(r"\btorch\.cuda\.(?=\w+Tensor\b)")
_SPACE = re.compile(r"\s+")
_HOUSEKEEPING = re.compile(r"torch\.cuda\.(?!\w+Tensor\b)|(?:torch\.backends\.)?cudnn\.")
TYPE_OF_CUDA = re.compile(r"torch\.cuda\.\w+Tensor")
_DEFAULTS = frozenset({"set_default_tensor_type", "set_default_dtype"})
_LOGGERS = frozenset({"print", "warn", "warning", "info", "debug", "log"})

Source = Callable[[ir.Node], str]


def mirrors(chosen: Iterable[ir.Node], other: Iterable[ir.Node], source: Source, scope: Scope) -> bool:
    """Return whether `other` does on the host what `chosen` does on CUDA. Either may leave out what only
    moves, logs, sets CUDA up or is for several GPUs."""
    on_cuda, on_host = (list(_work(nodes, source, scope)) for nodes in (chosen, other))
    return bool(on_cuda) and on_cuda == on_host


def placement_in(nodes: Iterable[ir.Node], dotted: Callable[[ir.Expr], str | None]) -> ir.Call | None:
    """Return the first call that moves to CUDA or makes a tensor there."""
    for node in nodes:
        for inner in ir.walk(node):
            if not isinstance(inner, ir.Call):
                continue
            if isinstance(inner.func, ir.Attribute) and inner.func.attr == "cuda":
                return inner
            if TYPE_OF_CUDA.fullmatch(dotted(inner.func) or ""):
                return inner
    return None


def _work(nodes: Iterable[ir.Node], source: Source, scope: Scope) -> Iterator[str]:
    """Yield what is left of each node without moves; nothing for one that does nothing else."""
    for node in nodes:
        text = _SPACE.sub("", source(node))
        if isinstance(node, ir.Stmt) and (only_logs(node, scope) or _HOUSEKEEPING.match(text)):
            continue
        if isinstance(node, ir.If) and not node.orelse and _HOUSEKEEPING.search(source(node.test)):
            continue  # for several GPUs
        text = _TYPES.sub("torch.", _MOVES.sub("", text))
        target, _, value = text.partition("=")
        if isinstance(node, ir.Stmt) and (target == value or not (value or "(" in target)):
            continue
        yield text


def only_logs(node: ir.Stmt, scope: Scope) -> bool:
    """Return whether a statement is `print("no GPU found")`, `logger.warning(...)`, `pass`, or calls a
    function of the module that does nothing else, but that it may write to a file too."""
    if isinstance(node, ir.Jump) and node.kind == "pass":
        return True
    call = node.value if isinstance(node, ir.ExprStmt) else None
    if not isinstance(call, ir.Call):
        return False
    if _is_log(call):
        return True
    found = function_behind(call, scope)
    parts = [s for s in found[0].body if not _is_docstring(s)] if found is not None else []
    values = [s.value for s in parts if isinstance(s, ir.ExprStmt)]
    logs = len(values) == len(parts) and any(map(_is_log, values))
    return logs and all(_is_log(value) or _is_write(value) for value in values)


def sets_default_type(node: ir.Stmt) -> bool:
    """Return whether a statement sets the type of tensors that are made without one."""
    call = node.value if isinstance(node, ir.ExprStmt) else None
    return isinstance(call, ir.Call) and path_of(call.func).rpartition(".")[2] in _DEFAULTS


def _is_docstring(node: ir.Stmt) -> bool:
    return isinstance(node, ir.ExprStmt) and isinstance(node.value, ir.Const)


def _is_write(node: ir.Expr) -> bool:
    """Return whether an expression is `file.write(text)` or `file.flush()`."""
    return isinstance(node, ir.Call) and path_of(node.func).rpartition(".")[2] in ("write", "flush")


def _is_log(node: ir.Expr) -> bool:
    return isinstance(node, ir.Call) and path_of(node.func).rpartition(".")[2] in _LOGGERS

"""A name that says whether CUDA is there (`use_cuda = torch.cuda.is_available()`), and where it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from xlamig import ir
from xlamig.facts import Span
from xlamig.fix.scopes import bindings, dotted_name, path_to
from xlamig.flow.model.cuda_flags import targets_in_branches

_ASKS = "torch.cuda.is_available"
_SHOWS = frozenset({"print", "format", "info", "debug", "warning", "log", "bool", "str"})
_HARMLESS = frozenset({"pin_memory", "non_blocking"})


@dataclass(frozen=True, slots=True)
class Flag:
    """`path` is set in `assignment`, which may be an `if` that sets it to True or False. `decision` is the
    part of its value, or of the test, that asks whether CUDA is there, or, if `negated`, whether it is not;
    the value is `pure` if it asks nothing else."""

    path: str
    assignment: ir.Assign | ir.If
    decision: ir.Expr
    negated: bool
    pure: bool


def flag_of(module: ir.Module, span: Span) -> Flag | None:
    """Return the flag that the assignment around `span` sets, if nothing else does."""
    statement = next((n for n in reversed(path_to(module, *span)) if isinstance(n, ir.Stmt)), None)
    if isinstance(statement, ir.If):
        return _flag_in_branches(module, statement)
    if not isinstance(statement, ir.Assign) or len(statement.targets) != 1:
        return None
    path = dotted_name(statement.targets[0])
    asking = [node for node in ir.walk(statement.value) if _asks(node)]
    if not path.lstrip(".") or len(asking) != 1 or not _is_set_once(module, path, statement):
        return None
    decision, negated = _whole_decision(statement.value, asking[0])
    return Flag(path, statement, decision, negated, decision is statement.value)


def _flag_in_branches(module: ir.Module, statement: ir.If) -> Flag | None:
    """Return the flag that the branches of an `if` set to True or False, if nothing else does."""
    targets = targets_in_branches(statement, module)
    asking = [node for node in ir.walk(statement.test) if _asks(node)]
    if len(asking) != 1 or len(targets) != 2:
        return None
    path = dotted_name(targets[0])
    known = [n for n in ir.walk(module) if isinstance(n, ir.Assign) and n.targets[0] in targets]
    inside = [n for n in ir.walk(statement) if isinstance(n, ir.Assign) and dotted_name(n.targets[0]) == path]
    if not all(isinstance(node, ir.Param) or node in (*inside, *known) for node in _set(module, path)):
        return None
    decision, negated = _whole_decision(statement.test, asking[0])
    return Flag(path, statement, decision, negated, False)


@lru_cache(maxsize=8)  # the fixes of one file ask again and again about the same flag
def flag_named(module: ir.Module, path: str) -> Flag | None:
    """Return the flag of this path."""
    for node in ir.walk(module):
        if isinstance(node, ir.Assign) and any(dotted_name(target) == path for target in node.targets):
            return flag_of(module, (node.start, node.end))
    return None


def uses_of(module: ir.Module, flag: Flag) -> Iterator[ir.Expr]:
    """Yield the places that read the flag; also parameters of its name, which it is passed on to."""
    kind = ir.Attribute if "." in flag.path else ir.Name
    called = {id(node.func) for node in ir.walk(module) if isinstance(node, ir.Call)}
    for node in ir.walk(module):
        outside = not flag.assignment.start <= node.start < flag.assignment.end
        if isinstance(node, kind) and outside and id(node) not in called and dotted_name(node) == flag.path:
            assert isinstance(node, ir.Expr)
            yield node


def guarded_by(module: ir.Module, use: ir.Expr) -> ir.If | ir.IfExp | ir.While | None:
    """Return the statement or expression that the flag decides at one of its uses."""
    path = path_to(module, use.start, use.end)
    for node in reversed(path[:-1]):
        if isinstance(node, ir.If | ir.IfExp | ir.While):
            inside = node.test.start <= use.start and use.end <= node.test.end
            return node if inside else None
        if not isinstance(node, ir.Bool | ir.Unary):
            return None
    return None


def is_harmless(module: ir.Module, use: ir.Expr) -> bool:
    """Return whether the flag is only shown, or tells how memory is copied."""
    for node in reversed(path_to(module, use.start, use.end)[:-1]):
        match node:
            case ir.Arg(keyword=str(keyword)) if keyword in _HARMLESS:
                return True
            case ir.Call(func=ir.Attribute(attr=called) | ir.Name(id=called)):
                return called in _SHOWS
            case ir.FString():
                return True
            case ir.Stmt():
                return False
    return False


def _asks(node: ir.Node) -> bool:
    return isinstance(node, ir.Call) and dotted_name(node.func) == _ASKS


def _whole_decision(value: ir.Expr, asking: ir.Node) -> tuple[ir.Expr, bool]:
    """`True if torch.cuda.is_available() else False`, `not torch.cuda.is_available()`, or the call."""
    for node in ir.walk(value):
        match node:
            case ir.IfExp(test=test, body=ir.Const(value=bool(yes)), orelse=ir.Const(value=bool(no))):
                if test is asking and yes is not no:
                    return node, no
            case ir.Unary(op="not", operand=operand) if operand is asking:
                return node, True
    assert isinstance(asking, ir.Expr)
    return asking, False


def _is_set_once(module: ir.Module, path: str, assignment: ir.Assign) -> bool:
    return all(isinstance(node, ir.Param) for node in _set(module, path) if node is not assignment)


def _set(module: ir.Module, path: str) -> Sequence[ir.Node]:
    """Return the nodes that give a name or an attribute its values."""
    if "." not in path:
        return bindings(module, path)
    return [
        node
        for node in ir.walk(module)
        if isinstance(node, ir.Assign | ir.AugAssign)
        for target in (node.targets if isinstance(node, ir.Assign) else (node.target,))
        if dotted_name(target) == path
    ]

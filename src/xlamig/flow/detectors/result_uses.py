"""Find what becomes of an operator's result: advice on where it runs depends on it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from xlamig import ir
from xlamig.flow.detectors.consumers import copies, is_assigned
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values as table
from xlamig.per_file import per_file

_MODULES = frozenset({"torch", "np", "numpy"})
_FOLLOWED = 3  # variables, one computed from the other
_MOST_USES = 16  # of a variable
_DEEPEST = 64  # statements between the beginnings of a statement and of what stands in it

_Step = Callable[[ir.Node, ir.Node], bool | None]
"""Judges how a node uses the value of the node below it: True if this use is of the sort that is asked for,
False if it is not, None if the value goes on in the node above."""
_NameOf = Callable[[ir.Expr], str]


def uses_of_result(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proofs "to-host": the program only copies to the host what an operator returns; and "no-gradient":
    no gradient comes back to it, because only indices, comparisons or detached values of it are used."""
    if not analysis.names.interest.follows(name):
        return {}
    root = place.scope.node or analysis.module

    def name_of(func: ir.Expr) -> str:
        return analysis.names.dotted(func, place.scope) or ""

    steps: Mapping[str, _Step] = {
        "to-host": _copied,
        "no-gradient": lambda above, inner: _without_gradient(above, inner, name_of),
    }
    below = _below(root)
    around = below.statement_of(node)
    return {
        proof: "yes" for proof, step in steps.items() if around and _is_every_use(node, around, root, step)
    }


def only_copied(node: ir.Node, statement: ir.Stmt, root: ir.Node) -> bool:
    """Return whether all uses of a value below the statement that gives it to a variable copy it to the host;
    also where it gives several, `x, y = x.to(device), y.to(device)`, or no variable takes it."""
    match statement:
        case ir.Assign(targets=(ir.Name() as target,), value=value) if value is node:
            return _are_uses(target, root, _copied, _FOLLOWED, statement.end)
        case ir.Assign(targets=(ir.Sequence(elements=targets),), value=ir.Sequence(elements=values)):
            pairs = zip(targets, values, strict=False) if len(targets) == len(values) else ()
            found = next((target for target, value in pairs if value is node), None)
            if not isinstance(found, ir.Name):
                return False
            return _are_uses(found, root, _copied, _FOLLOWED, statement.end)
    return _is_every_use(node, statement, root, _copied)


def _is_every_use(
    node: ir.Node, statement: ir.Stmt, root: ir.Node, step: _Step, followed: int = _FOLLOWED
) -> bool:
    """Return whether all uses of a value in a statement below `root`, also by variables, are of one sort."""
    inner = node
    for above in reversed([*ir.path_down(statement, node)]):
        if isinstance(above, ir.Arg):
            continue
        if isinstance(above, ir.Stmt):
            return followed > 0 and _in_variables(above, inner, root, step, followed - 1, node)
        used = step(above, inner)
        if used is not None:
            return used
        inner = above
    return False


def _in_variables(
    statement: ir.Stmt, value: ir.Node, root: ir.Node, step: _Step, followed: int, start: ir.Node
) -> bool:
    """Return whether all uses of the variable that a statement puts a value in are of one sort; where it
    holds values beside their indices, all uses of the values. A statement that changes the variable `start`
    itself is no further use of it."""
    match statement:
        case ir.Assign(targets=(ir.Name() as target,), value=assigned) if assigned is value:
            pass
        case ir.Assign(targets=(ir.Sequence(elements=(ir.Name() as target, ir.Name())),)) if _selects(value):
            pass
        case (
            ir.AugAssign(target=ir.Name() as target)
            | ir.Assign(targets=(ir.Subscript(value=ir.Name() as target),))
        ) if _is_made_in(root, target):
            if isinstance(start, ir.Name) and start.id == target.id:
                return True
            if statement.value is not value:
                return False
        case _:
            return False
    return _are_uses(target, root, step, followed, unused=_selects(value))


def _is_made_in(root: ir.Node, name: ir.Name) -> bool:
    """Return whether a function gives a variable what a call makes, so that nothing else holds it."""
    around = (statement for _, statement in _below(root).names.get(name.id, ()))
    made = (one for one in around if isinstance(one, ir.Assign) and isinstance(one.value, ir.Call))
    return any(isinstance(to, ir.Name) and to.id == name.id for one in made for to in one.targets)


def _are_uses(
    target: ir.Name, root: ir.Node, step: _Step, followed: int, after: int = 0, unused: bool = False
) -> bool:
    """Return whether all uses of a variable `after` a place are of one sort, and there is one unless it may
    be `unused`."""
    uses = [
        (use, around)
        for use, around in _below(root).names.get(target.id, ())
        if use is not target and use.start >= after and not is_assigned(use, around)
    ]
    if len(uses) > _MOST_USES or not (uses or unused):
        return False
    return all(_is_every_use(use, around, root, step, followed) for use, around in uses)


class _Below(NamedTuple):
    """The statements below a node, by where they start, and the names, each with its innermost statement."""

    statements: Sequence[ir.Stmt]
    names: Mapping[str, Sequence[tuple[ir.Name, ir.Stmt]]]

    def statement_of(self, node: ir.Node) -> ir.Stmt | None:
        """Return the innermost statement that a node stands in."""
        at = bisect_right(self.statements, node.start, key=attrgetter("start"))
        return next(
            (one for one in reversed(self.statements[max(0, at - _DEEPEST) : at]) if ir.encloses(one, node)),
            None,
        )


@per_file
@lru_cache(maxsize=8)  # the operators of a function ask one after the other
def _below(root: ir.Node) -> _Below:
    names: dict[str, list[tuple[ir.Name, ir.Stmt]]] = {}
    statements = [one for one in ir.children(root) if isinstance(one, ir.Stmt)]
    for statement in statements:  # it grows
        parts: list[ir.Node] = [statement]
        while parts:
            for part in ir.children(parts.pop()):
                if isinstance(part, ir.Stmt):
                    statements.append(part)
                    continue
                if isinstance(part, ir.Name):
                    names.setdefault(part.id, []).append((part, statement))
                parts.append(part)
    return _Below(sorted(statements, key=attrgetter("start")), names)


def _copied(above: ir.Node, inner: ir.Node) -> bool | None:
    """A step: methods without other tensors lead to a copy."""
    match above:
        case ir.Attribute():
            return None
        case ir.Call(func=func, args=args) if func is inner:
            if copies(above):
                return True
            return None if all(_is_plain(arg.value) for arg in args) else False
        case ir.Subscript(value=value, index=index) if value is inner and all(map(_is_plain, index)):
            return None
    return False


def _is_plain(node: ir.Expr) -> bool:
    """Return whether an expression holds no tensor: `0`, `(2, -1)`, `torch.uint8`."""
    parts = list(ir.walk(node))
    calls = any(isinstance(part, ir.Call) for part in parts)
    return not calls and all(part.id in _MODULES for part in parts if isinstance(part, ir.Name))


def _without_gradient(above: ir.Node, inner: ir.Node, name_of: _NameOf) -> bool | None:
    """A step: operators lead to what has no gradient."""
    match above:
        case ir.Compare():
            return True
        case ir.Attribute(attr=attr):
            plain = table.names("torch", "without-gradient-attributes")
            return True if attr in plain or (attr == "indices" and _selects(inner)) else None
        case ir.Subscript(index=(ir.Const(value=1),)) if _selects(inner):
            return True
        case ir.Subscript() | ir.Binary() | ir.Unary() | ir.Slice():
            return None
        case ir.Call(func=ir.Attribute(attr=attr) as func) if func is inner:
            return True if attr in table.names("torch", "without-gradient") else None
        case ir.Call(func=func):
            package, _, called = name_of(func).rpartition(".")
            if package not in ("torch", "torch.nn.functional"):
                return False
            return True if called in table.names("torch", "without-gradient") else None
    return False


def _selects(node: ir.Node) -> bool:
    """Return whether a call returns values and their indices: `x.topk(3)`, `torch.max(x, 1)`."""
    match node:
        case ir.Call(func=ir.Attribute(attr=attr), args=args):
            by_dimension = any(arg.keyword == "dim" or _is_plain(arg.value) for arg in args)
            always = attr in ("sort", "topk", "mode", "kthvalue")
            return always or (attr in table.names("torch", "pairs") and by_dimension)
    return False

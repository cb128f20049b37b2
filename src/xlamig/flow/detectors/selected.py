"""Find what a tensor cuts, and what takes the elements that a mask selects: advice depends on it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache

from xlamig import ir
from xlamig.facts import Cut, Taker
from xlamig.flow.detectors.collected import is_collected
from xlamig.flow.detectors.consumers import goes_to_host, names_in, variable_of
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table
from xlamig.per_file import per_file

_LOSSES = re.compile(r"loss|criterion|cross_entropy|(?:^|_)(?:bce|nll|mse)(?:_|$)", re.IGNORECASE)
_SUPPRESSES = re.compile(r"(?:^|_)nms(?:$|_)|non_?max(?:imum)?_?supp", re.IGNORECASE)
_THRESHOLD = re.compile(
    r"(?:conf|score|nms|det)[a-z]*_?(?:thr|min)|(?:thr|min)[a-z]*_?(?:conf|score)", re.IGNORECASE
)
_COUNTS = frozenset({"numel", "nelement", "size", "shape"})
_EXTREMA = frozenset({"amax", "amin", "max", "min"})
_SUMS = frozenset({"mean", "sum"})
_NEAR = 20  # statements: what is selected to be packed is packed soon


def cut_of(node: ir.Node, statement: ir.Stmt) -> Cut:
    """Return which end of a slice `node` is, or that the slice is written; "" outside of slices. `node` is
    the bound, or the subscript."""
    path = [*ir.path_down(statement, node), node]
    subscript = next((part for part in reversed(path) if isinstance(part, ir.Subscript)), None)
    parts = subscript.index if subscript else ()
    slices = [part for part in parts if isinstance(part, ir.Slice) and (part.lower or part.upper)]
    cut = next((part for part in slices if node is subscript or ir.encloses(part, node)), None)
    if subscript is None or cut is None:
        return ""
    if _is_target(subscript, statement):
        return "write"
    lower, upper = (isinstance(end, ir.Const | None) for end in (cut.lower, cut.upper))
    return "end" if lower else "start" if upper else "window"


def taker_of(node: ir.Node, statement: ir.Stmt, rest: Sequence[ir.Stmt]) -> Taker:
    """Return what takes the elements that `node`, an index with a mask, selects in a statement, or that a
    variable holds which one later call takes."""
    reduced = _reduced_by(node, statement)
    if isinstance(node, ir.Subscript) and reduced in _EXTREMA:
        return "extremum"
    if reduced in _SUMS:
        return ""  # a sum over all elements, masked, stays on the device, whatever reads it then
    if _is_packed(node, statement, rest):
        return "packing"
    if goes_to_host(node, statement, rest):
        return "bounds" if _bounds_slices(statement, rest) else "host"
    if isinstance(node, ir.Subscript) and _picks_detections(node, statement, rest):
        return "detections"
    if _fills(node, statement):
        return "written-back"
    if is_collected(node, statement, rest):
        return "result"
    if not isinstance(node, ir.Subscript):
        return "count" if _is_only_counted(node, statement, rest) else ""
    if _writes_back(node, statement):
        return "written-back"
    taken: Taker = "count" if _is_counted(node, statement) else _in_call(node, statement)
    if taken == "count" and _selects_again(node, rest):
        return ""  # without the count the other selections by the mask still count it
    if taken:
        return taken
    name = variable_of(statement)
    uses = [] if name is None else [(use, later) for later in rest for use in _uses(later, name)]
    if any(_is_index(use, later) for use, later in uses):
        return "index"
    return _in_call(*uses[0]) if len(uses) == 1 else ""


def _is_packed(node: ir.Node, statement: ir.Stmt, rest: Sequence[ir.Stmt]) -> bool:
    """Return whether what a mask selects becomes the rows or the lengths of a packed sequence."""
    packs = {dotted.rpartition(".")[2] for dotted in table.names("consumers", "packing")}
    name = variable_of(statement)
    for later in (statement, *rest[:_NEAR]):
        for call in (part for part in ir.walk(later) if isinstance(part, ir.Call)):
            if path_of(call.func).rpartition(".")[2] in packs:
                given = [part for arg in call.args for part in ir.walk(arg.value)]
                if node in given or any(isinstance(n, ir.Name) and n.id == name for n in given):
                    return True
    return False


def _picks_detections(node: ir.Subscript, statement: ir.Stmt, rest: Sequence[ir.Stmt]) -> bool:
    """Return whether a mask compares a column with a threshold of scores, `x[x[:, 4] > conf_thres]`, or
    non-maximum suppression takes what it selects."""
    for part in (part for index in node.index for part in ir.walk(index)):
        match part:
            case ir.Compare(left=ir.Subscript(index=(*_, ir.Const(value=int()))), comparators=(limit,)) if (
                _THRESHOLD.search(path_of(limit).rpartition(".")[2])
            ):
                return True
    name = variable_of(statement)
    for call in (call for later in (statement, *rest) for call in _suppressing(later)):
        given = [part for arg in call.args for part in ir.walk(arg.value)]
        if node in given or any(isinstance(n, ir.Name) and n.id == name for n in given):
            return True
    return False


@per_file
@lru_cache(maxsize=1000)  # each selection before it asks again
def _suppressing(statement: ir.Stmt) -> Sequence[ir.Call]:
    """Return the calls of non-maximum suppression in a statement."""
    calls = (node for node in ir.walk(statement) if isinstance(node, ir.Call))
    funcs = ((c, c.func.attr if isinstance(c.func, ir.Attribute) else path_of(c.func)) for c in calls)
    return [call for call, func in funcs if _SUPPRESSES.search(func)]


def _is_index(use: ir.Name, statement: ir.Stmt) -> bool:
    """Return whether a name is an index of something else, as it is."""
    above = [*ir.path_down(statement, use)]
    last = above[-1] if above else None
    return isinstance(last, ir.Subscript) and any(part is use for part in last.index)


def _bounds_slices(statement: ir.Stmt, rest: Sequence[ir.Stmt]) -> bool:
    """Return whether numbers that come from what a statement assigns are the bounds of slices of something
    else, later in its block or around it."""
    first = variable_of(statement)
    names = set() if first is None else {first}
    for node in (node for later in rest for node in ir.walk(later)):
        match node:
            case ir.Assign(targets=targets, value=value) if _mentions(value, names):
                names.update(n.id for t in targets for n in ir.walk(t) if isinstance(n, ir.Name))
            case ir.For(target=target, iter=value) if _mentions(value, names):
                names.update(n.id for n in ir.walk(target) if isinstance(n, ir.Name))
            case ir.Subscript(value=value, index=index) if not _mentions(value, names):
                if any(isinstance(part, ir.Slice) and _mentions(part, names) for part in index):
                    return True
    return False


def _mentions(node: ir.Node, names: Collection[str]) -> bool:
    return bool(names) and any(isinstance(part, ir.Name) and part.id in names for part in ir.walk(node))


def _in_call(node: ir.Node, statement: ir.Stmt) -> Taker:
    """Return what the innermost call that gets `node` as an argument does with it."""
    call = next(
        (part for part in reversed([*ir.path_down(statement, node)]) if isinstance(part, ir.Call)), None
    )
    if call is None or ir.encloses(call.func, node):
        return ""
    name = call.func.attr if isinstance(call.func, ir.Attribute) else path_of(call.func)
    if name == "len":
        return "count"
    if name.removesuffix("_") in table.names("torch", "writing-rows"):
        return "rows"
    return "loss" if _LOSSES.search(name) else ""


def _is_counted(node: ir.Node, statement: ir.Stmt) -> bool:
    """Return whether a statement asks for the number of elements that `node` gives."""
    match [*ir.path_down(statement, node)]:
        case [*_, ir.Attribute(attr=name)]:
            return name in _COUNTS
    return False


def _is_only_counted(node: ir.Node, statement: ir.Stmt, rest: Sequence[ir.Stmt]) -> bool:
    """Return whether the number of indices is all that is asked of them, also through a variable."""
    name = variable_of(statement)
    uses = [(node, statement)]
    if name is not None:
        uses = [(use, later) for later in rest for use in _uses(later, name)]
    return bool(uses) and all(_is_counted(*use) or _in_call(*use) == "count" for use in uses)


def _reduced_by(node: ir.Node, statement: ir.Stmt) -> str:
    """Return the method without arguments that is called on the elements; "" if none is."""
    match [*ir.path_down(statement, node)]:
        case [*_, ir.Call(args=()), ir.Attribute(attr=name)]:
            return name
    return ""


def _selects_again(node: ir.Subscript, rest: Sequence[ir.Stmt]) -> bool:
    """Return whether the mask of a selection, or its inverse, selects elsewhere below."""
    (mask, *others) = node.index
    name = path_of(mask)
    if not name or others:
        return False
    for part in (part for later in rest for part in ir.walk(later)):
        match part:
            case ir.Subscript(index=(ir.Unary(operand=again),)) | ir.Subscript(index=(again,)):
                if path_of(again) == name:
                    return True
    return False


def _uses(statement: ir.Stmt, name: str) -> list[ir.Name]:
    found = ir.walk(statement) if name in names_in(statement) else ()
    return [use for use in found if isinstance(use, ir.Name) and use.id == name]


def _writes_back(node: ir.Subscript, statement: ir.Stmt) -> bool:
    """Return whether a statement writes at the very mask that it reads at: `x[m] = -x[m]`."""
    targets = statement.targets if isinstance(statement, ir.Assign) else ()
    return any(isinstance(target, ir.Subscript) and _alike(target.index, node.index) for target in targets)


def _fills(node: ir.Node, statement: ir.Stmt) -> bool:
    """Return whether a statement writes at the mask that `node` counts: `x[m] = torch.zeros(m.sum(), 3)`."""
    targets = statement.targets if isinstance(statement, ir.Assign) else ()
    masks = [path_of(part) for t in targets if isinstance(t, ir.Subscript) for part in t.index]
    if not any(masks) or any(ir.encloses(target, node) for target in targets):
        return False
    return any(path_of(part) in masks for part in ir.walk(node) if isinstance(part, ir.Name | ir.Attribute))


def _alike(one: Sequence[ir.Expr], other: Sequence[ir.Expr]) -> bool:
    same = (path_of(a) and path_of(a) == path_of(b) for a, b in zip(one, other, strict=False))
    return len(one) == len(other) and all(same)


def _is_target(subscript: ir.Subscript, statement: ir.Stmt) -> bool:
    match statement:
        case ir.Assign(targets=targets):
            return any(ir.encloses(target, subscript) for target in targets)
        case ir.AugAssign(target=target):
            return ir.encloses(target, subscript)
    return False

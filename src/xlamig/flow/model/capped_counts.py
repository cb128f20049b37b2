"""Numbers of GPUs that a caller asks for and a function lowers to the number that is there."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from operator import itemgetter

from xlamig import ir
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.flow.model.set_before import holding, set_in

Counts = Callable[[ir.Expr], bool]
"""Says whether an expression counts the GPUs that are there."""
Courses = dict[tuple[Scope, str], "_Course"]
"""The names of functions that were asked for, each with where it is capped."""
_place = itemgetter(0)


def is_capped(node: ir.Expr, scope: Scope, counts: Counts, known: Courses) -> bool:
    """Return whether a name is 0 at a place where there is no GPU, because the function lowers it before:
    `if wanted > there: wanted = there`, `if there == 0: wanted = 0`, `wanted = min(wanted, there)`."""
    path = path_of(node)
    if not path or not isinstance(scope.node, ir.FunctionDef):
        return False
    if not any(binding.kind == "value" and binding.end <= node.start for binding in scope.find(path)):
        return False
    course = known.get((scope, path))
    if course is None:
        course = known[scope, path] = _Course(scope.node, path, counts)
    return course.is_capped(node.start)


class _Course:
    """Where a path is capped in a function: it is followed once, from statement to statement that sets it."""

    def __init__(self, function: ir.FunctionDef, path: str, counts: Counts) -> None:
        self.path, self.counts = path, counts
        self._set_at = set_in(function).get(path, ())
        self._turns: list[tuple[int, bool]] = []
        """From which place on it is capped or not, in the order of places."""
        self._end(function.body, False, noted=True)

    def is_capped(self, place: int) -> bool:
        at = bisect_right(self._turns, place, key=_place)
        return at > 0 and self._turns[at - 1][1]

    def _end(self, body: ir.Block, capped: bool, noted: bool = False) -> bool:
        """Return whether the path is capped at the end of a block, if it is as `capped` says before it."""
        for statement in holding(body, self._set_at):
            before = capped
            match statement:
                case ir.Assign(targets=(target,), value=value) if path_of(target) == self.path:
                    capped = _is_lowered(value, self.path, self.counts)
                case ir.If(test=test, body=held, orelse=orelse):
                    ends = [
                        self._end(block, before or _is_fine(test, self.path, self.counts, holds))
                        for block, holds in ((held, True), (orelse, False))
                    ]
                    capped = all(ends)
                case _:
                    capped = False
            if noted:
                self._note_inside(statement, before)
                self._turns.append((statement.end, capped))
        return capped

    def _note_inside(self, statement: ir.Stmt, capped: bool) -> None:
        """Note where a path is capped in the blocks of a statement; a loop is taken as a whole."""
        if isinstance(statement, ir.FunctionDef | ir.ClassDef | ir.For | ir.While):
            return
        for block in ir.blocks_of(statement):
            self._end(block, capped, noted=True)
            self._turns.append((block[-1].end, capped))


def _is_lowered(value: ir.Expr, path: str, counts: Counts) -> bool:
    """Return whether a value is 0 where there is no GPU."""
    match value:
        case ir.Const(value=0):
            return True
        case ir.Call(func=ir.Name(id="min"), args=args):
            return any(_is_lowered(arg.value, path, counts) for arg in args)
        case ir.IfExp(test=test, body=body, orelse=orelse):
            return all(
                _is_lowered(side, path, counts)
                or (path_of(side) == path and _is_fine(test, path, counts, holds))
                for side, holds in ((body, True), (orelse, False))
            )
    return counts(value)


def _is_fine(test: ir.Expr, path: str, counts: Counts, holds: bool) -> bool:
    """Return whether a path is 0, or there is a GPU, where a test holds, or where it does not."""
    match test:
        case ir.Bool(op=op, values=values):
            each = [_is_fine(value, path, counts, holds) for value in values]
            return any(each) if (op == "and") is holds else all(each)
        case ir.Compare(left=left, ops=(op,), comparators=(right,)):
            return _compares(left, op, right, path, counts, holds)
    return False


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def _compares(left: ir.Expr, op: str, right: ir.Expr, path: str, counts: Counts, holds: bool) -> bool:
    if op not in _MIRRORED:
        return False
    op = op if holds else _OPPOSITE[op]
    for one, sign, other in ((left, op, right), (right, _MIRRORED[op], left)):
        number = other.value if isinstance(other, ir.Const) else None
        if path_of(one) == path and (counts(other) or number == 0):
            return sign in ("<=", "<", "==")
        if counts(one) and number in (0, 1):
            return (sign, number) in ((">", 0), ("!=", 0), (">=", 1), (">", 1))
    return False

"""Loops that cut data into batches, the last of which is what is left: in a step, or in a generator."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from xlamig import ir
from xlamig.facts import ChangingShape, Why
from xlamig.flow.interp.domain import LIKELY, AbstractValue, Made, Mark
from xlamig.flow.interp.frames import Loop
from xlamig.flow.interp.state import State
from xlamig.flow.model.known import short
from xlamig.flow.model.local_values import function_behind
from xlamig.flow.model.only_calls import arguments
from xlamig.flow.model.scopes import path_of

_COUNTED = "*"  # stands for the size of slices by the number of the batch: `xs[i * n : (i + 1) * n]`


def record_last_slice(m: State, loop: Loop) -> None:
    """Record slices `xs[i : i + n]` of a loop of steps over `range(0, end, n)`, or `xs[i * n : (i + 1) * n]`
    over a number of batches that is rounded up: the last is shorter, unless `n` divides the end."""
    found = _last_slice(m, loop)
    if found is None:
        return
    statement, part = found
    m.record(
        ChangingShape,
        part,
        LIKELY,
        (_why(loop),),
        at=statement,
        via="last-batch",
        operation="[]",
        tensor=short(m.source(part)),
        cause="batch",
    )


def note_last_slice(m: State, loop: Loop) -> None:
    """Note the batches that a generator cuts from data in a loop: the last one is shorter."""
    parts = (part for statement in loop.node.body for part in ir.walk(statement))
    if not m.frame.yields or not any(isinstance(part, ir.Yield) for part in parts):
        return
    found = _last_slice(m, loop)
    if found is not None:
        statement, part = found
        m.frame.passed_on = _partial(part, statement, _why(loop))


def last_rest(m: State, function: ir.Node | None) -> AbstractValue | None:
    """Return the batches of a generator that yields what it collected, and after its loop what is left:
    `if xs: yield xs`."""
    if not isinstance(function, ir.FunctionDef):
        return None
    for loop, after in pairwise(function.body):
        if not isinstance(loop, ir.For) or not isinstance(after, ir.If) or after.orelse:
            continue
        test = after.test.left if isinstance(after.test, ir.Compare) else after.test
        if isinstance(test, ir.Call) and path_of(test.func) == "len" and test.args:
            test = test.args[0].value
        inside = [part for statement in loop.body for part in ir.walk(statement)]
        fills = f"{path_of(test)}.append"
        collects = any(isinstance(part, ir.Call) and path_of(part.func) == fills for part in inside)
        full = any(isinstance(part, ir.Yield) for part in inside)
        for statement in after.body if collects and full else ():
            for part in ir.walk(statement):
                if isinstance(part, ir.Yield) and part.value is not None:
                    why = Why("this is what is left when the data ends", (after.start, after.test.end))
                    return _partial(part.value, statement, why)
    return None


def _partial(part: ir.Expr, statement: ir.Stmt, why: Why) -> AbstractValue:
    made = AbstractValue("sequence", sure=LIKELY, trait=Mark.PARTIAL, ref=Made(part, statement, "[]"))
    return made.replace(why=(why,))


def _why(loop: Loop) -> Why:
    header = loop.header
    return Why("the loop ends with what is left of the data", (header.start, header.end))


def _last_slice(m: State, loop: Loop) -> tuple[ir.Stmt, ir.Subscript] | None:
    """Return the slice of a loop that is shorter in the last iteration, with its statement."""
    node = loop.node
    match node:
        case ir.For(
            target=ir.Name(id=counter),
            iter=ir.Call(func=ir.Name(id="range"), args=(_, ir.Arg(value=end), ir.Arg(value=width))),
        ):
            size = m.source(width)
            if _is_cut(m, end) or _divides(width, end):
                return None
        case ir.For(
            target=ir.Name(id=counter),
            iter=ir.Call(func=ir.Name(id="range"), args=(ir.Arg(value=end),)),
        ):
            size = _COUNTED
            if not any(_rounds_up(value) for value in _values(m, end)):
                return None
        case _:
            return None
    if _skips_short(node.body):
        return None
    found = next(_windows(m, node.body, counter, size), None)
    return None if found is None or _is_filled(found[0], node.body) else found


def _values(m: State, node: ir.Expr) -> list[ir.Expr]:
    """Return what an expression is computed by, through the names of the function."""
    path = path_of(node)
    bound = m.frame.scope.find(path) if path else []
    return [b.value for b in bound if b.value is not None] or [node]


def _is_cut(m: State, end: ir.Expr) -> bool:
    """Return whether the end of a range is computed, as one is that leaves the rest out."""
    return any(isinstance(value, ir.Binary) for value in _values(m, end))


def _rounds_up(node: ir.Expr) -> bool:
    """Return whether a number of batches counts the last one: `ceil(len(x) / n)`, `(len(x) + n - 1) // n`."""
    match node:
        case ir.Call(func=func, args=(ir.Arg(value=inner), *_)):
            word = path_of(func).rpartition(".")[2]
            return word == "ceil" or (word == "int" and _rounds_up(inner))
        case ir.Binary(op="//", left=ir.Binary(op="-", left=ir.Binary(op="+"), right=ir.Const(value=1))):
            return True
        case ir.Binary(op="+", left=ir.Binary(op="//"), right=ir.Const(value=1)):
            return True
        case ir.Unary(op="-", operand=ir.Binary(op="//", left=ir.Unary(op="-"))):
            return True
    return False


def _windows(
    m: State, body: ir.Block, counter: str, size: str, is_callee: bool = False
) -> Iterator[tuple[ir.Stmt, ir.Subscript]]:
    """Yield the slices `xs[i : i + n]` of a block, then those of the functions of the module that it gives
    the counter, each with its statement; `xs[i * n : (i + 1) * n]` if the batches are counted."""
    nodes = [(statement, part) for statement in body for part in ir.walk(statement)]
    for statement, part in nodes:
        if isinstance(part, ir.Subscript) and _is_window(m, part.index[0], counter, size):
            yield statement, part
    for _, part in nodes if not is_callee else ():
        found = function_behind(part, m.frame.scope) if isinstance(part, ir.Call) else None
        if found is None or not isinstance(part, ir.Call):
            continue
        given = {m.source(value): name for name, value in arguments(part, found[0]).items()}
        if counter in given:
            yield from _windows(m, found[0].body, given[counter], given.get(size, size), is_callee=True)


def _divides(width: ir.Expr, end: ir.Expr) -> bool:
    match width, end:
        case ir.Const(value=int(n)), ir.Const(value=int(m)):
            return n == 1 or m % n == 0
        case ir.Const(value=1), _:
            return True
    return False


def _skips_short(body: ir.Block) -> bool:
    """Return whether the loop leaves a shorter slice out: `if len(batch) < n: continue`, or `== n: yield`."""
    return any(
        isinstance(s, ir.If)
        and (
            (isinstance(s.body[-1], ir.Jump) and s.body[-1].kind in ("continue", "break"))
            or (isinstance(s.test, ir.Compare) and any(isinstance(n, ir.Yield) for n in ir.walk(s)))
        )
        for s in body
    )


def _is_filled(cut: ir.Stmt, body: ir.Block) -> bool:
    """Return whether a loop sets the name of a slice again where it is short: `if len(x) < n: x = pad(x)`."""
    name = path_of(cut.targets[0]) if isinstance(cut, ir.Assign) and len(cut.targets) == 1 else ""
    if not name:
        return False
    for statement in body:
        match statement:
            case ir.If(test=ir.Compare() as test, body=block) if statement.start > cut.start:
                asked = any(isinstance(part, ir.Name) and part.id == name for part in ir.walk(test))
                if asked and any(_sets(one, name) for one in block):
                    return True
            case ir.Assign(value=ir.Call(func=func)) if _sets(statement, name) and statement is not cut:
                if "pad" in path_of(func).rpartition(".")[2].lower():
                    return True
    return False


def _sets(statement: ir.Stmt, name: str) -> bool:
    return isinstance(statement, ir.Assign) and any(path_of(target) == name for target in statement.targets)


def _is_window(m: State, index: ir.Expr, counter: str, size: str) -> bool:
    """Return whether an index is `i : i + n`, also where the end is cut off by `min`; or, if the batches are
    counted, `i * n : (i + 1) * n`."""
    match index:
        case ir.Slice(lower=ir.Binary(op="*") as lower, upper=ir.Expr() as upper) if size == _COUNTED:
            match _without_min(upper):
                case (
                    ir.Binary(op="*", left=ir.Binary() as more, right=width)
                    | ir.Binary(op="*", left=width, right=ir.Binary() as more)
                ):
                    factors = {m.source(lower.left), m.source(lower.right)}
                    is_next = more.op == "+" and m.source(more.left) == counter
                    return is_next and factors == {counter, m.source(width)}
        case ir.Slice(lower=ir.Name(id=lower), upper=ir.Expr() as upper) if lower == counter:
            match _without_min(upper):
                case ir.Binary(op="+", left=ir.Name(id=first), right=right):
                    return first == counter and m.source(right) == size
    return False


def _without_min(upper: ir.Expr) -> ir.Expr:
    match upper:
        case ir.Call(func=ir.Name(id="min"), args=(ir.Arg(value=first), *_)):
            return first
    return upper

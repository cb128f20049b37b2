"""Numbers of samples that nothing but a name or the batch tells: `n` of `for n in lengths`."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.interp.domain import LIKELY, MISSING, POSSIBLE, AbstractValue, Mark, inside
from xlamig.flow.interp.number_origins import READS, last_name
from xlamig.flow.interp.state import State
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

_DEPTH = 3  # names that stand for one another
_LISTS = frozenset({"list", "tuple", "reversed", "tqdm", "trange"})
_ORDERS = frozenset({"<", "<=", ">", ">="})
_NUMBERS = frozenset({"int", "float", "max", "min"})


def number_of_sample(m: State, node: ir.Expr, found: AbstractValue, is_bound: bool) -> AbstractValue | None:
    """Return the number that indexes a tensor or, with `is_bound`, that is a bound of a slice, if each sample
    or batch has a different one: a value of the batch on the host, or an element of what is called `lengths`.
    None for anything else."""
    if not _may_be_of_batch(found):
        return None
    of_batch = found.kind == "tensor" and found.place == "host" and found.loose and m.frequency == "step"
    of_batch &= is_bound or _is_compared(m, node)
    if of_batch or any(_is_open(m, lengths, found) for lengths in _lengths_behind(m, node)):
        return AbstractValue("number", cause="batch", sure=LIKELY)
    return None


def _is_compared(m: State, node: ir.Expr) -> bool:
    """Return whether an `if` around an index compares it, as only numbers are: `if i < n: y = x[i]`."""
    text = m.source(node)
    around = ir.path_down(m.frame.scope.node or m.analysis.module, node)
    tests = (part.test for part in around if isinstance(part, ir.If))
    return any(
        isinstance(test, ir.Compare)
        and test.ops[0] in _ORDERS
        and text in (m.source(test.left), m.source(test.comparators[0]))
        for test in tests
    )


def _may_be_of_batch(found: AbstractValue) -> bool:
    """Return whether nothing proves that something is no number of the host, or is one for another reason."""
    match found.kind:
        case "tensor":
            unproved = found.place == "host" or found.sure == POSSIBLE
            return unproved and found.trait not in (Mark.CONSTANT, Mark.DRAWN)
        case "number":
            guessed = not found.cause or (found.cause == "read" and found.sure == POSSIBLE)
            return guessed and found.const is MISSING and found.trait is None
    return found.kind == "unknown" or (found.kind == "foreign" and found.trait is None)


def _is_open(m: State, lengths: ir.Expr, found: AbstractValue) -> bool:
    """Return whether lengths are a function's own, and no numbers that it writes out: not those of `self` or
    of the module."""
    root, scope = _root_of(lengths), m.frame.scope
    bound = scope.lookup(root)
    of_module = scope is not scope.module and bound is scope.module.lookup(root)
    if root == "self" or of_module or not bound:
        return False
    held = m.env.get(path_of(lengths))
    return found.kind != "number" or held is None or inside(held).kind in ("unknown", "tensor")


def _root_of(node: ir.Expr) -> str:
    while isinstance(node, ir.Attribute | ir.Subscript):
        node = node.value
    return node.id if isinstance(node, ir.Name) else ""


def _lengths_behind(m: State, node: ir.Expr, depth: int = _DEPTH) -> Iterator[ir.Expr]:
    """Yield the lists or tensors of lengths of which an expression takes an element, `lengths` of `n - 1` in
    a loop `for n in lengths`."""
    match node:
        case ir.Binary(op="+" | "-", left=left, right=right):
            yield from _lengths_behind(m, left, depth)
            yield from _lengths_behind(m, right, depth)
        case ir.Call(func=ir.Attribute(value=owner, attr=name)) if name in READS:
            yield from _lengths_behind(m, owner, depth)
        case ir.Call(func=ir.Name(id=name), args=args) if name in _NUMBERS:
            for arg in args:
                yield from _lengths_behind(m, arg.value, depth)
        case ir.Subscript(value=lengths, index=(index,)) if not isinstance(index, ir.Slice):
            if _are_lengths(lengths):
                yield lengths
        case ir.Name() if depth:
            if (source := _iterated(m, node)) is not None:
                if _are_lengths(source):
                    yield source
            elif (value := _assigned(m, node)) is not None:
                yield from _lengths_behind(m, value, depth - 1)


def _are_lengths(node: ir.Expr) -> bool:
    return table.name_like("lengths").search(last_name(node)) is not None


def _assigned(m: State, node: ir.Name) -> ir.Expr | None:
    """Return the last value that is assigned to a name above its use."""
    above = [binding for binding in m.frame.scope.bindings.get(node.id, []) if binding.end <= node.start]
    return above[-1].value if above and above[-1].kind == "value" else None


def _iterated(m: State, node: ir.Name) -> ir.Expr | None:
    """Return what a loop or comprehension goes through whose target is a name: `xs` of `for i, x in
    enumerate(xs)`."""
    headers: list[tuple[ir.Expr, ir.Expr]] = []
    for part in ir.walk(m.statement):
        if isinstance(part, ir.Comprehension) and ir.encloses(part, node):
            headers += [(generator.target, generator.iter) for generator in part.generators]
    loops = (loop.node for loop in reversed(m.loops_around(node)))
    headers += [(loop.target, loop.iter) for loop in loops if isinstance(loop, ir.For)]
    return next((found for target, source in headers if (found := _paired(target, source, node.id))), None)


def _paired(target: ir.Expr, source: ir.Expr, name: str) -> ir.Expr | None:
    """Return the part of what a loop goes through whose elements get a name."""
    match source, target:
        case ir.Call(func=func, args=(ir.Arg(value=inner), *_)), _ if path_of(func) in _LISTS:
            return _paired(target, inner, name)
        case ir.Call(func=ir.Name(id="enumerate"), args=(ir.Arg(value=inner), *_)), ir.Sequence(
            elements=(_, element)
        ):
            return _paired(element, inner, name)
        case ir.Call(func=ir.Name(id="zip"), args=args), ir.Sequence(elements=elements):
            pairs = zip(elements, args, strict=False)
            return next((found for part, arg in pairs if (found := _paired(part, arg.value, name))), None)
        case ir.Call(func=ir.Attribute(value=inner, attr=attr)), _ if attr in READS:
            return _paired(target, inner, name)
        case _, ir.Name(id=bound) if bound == name:
            return source
    return None

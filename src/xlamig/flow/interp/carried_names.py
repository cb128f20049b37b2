"""Names that a loop carries from one iteration to the next, and reads of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xlamig import ir
from xlamig.facts import DynamicShape, HostRead
from xlamig.flow.interp.frames import Env, Function, Loop
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect, Effects

_READS = (HostRead, DynamicShape)
_FILLS = frozenset({"append", "appendleft", "extend", "insert", "update"})
OPAQUE = frozenset({""})
"""Stands for the names that a read is of where they are not known."""


def reads_apart(m: State, loop: Loop, called: frozenset[str]) -> bool:
    """Return whether all reads of a loop are of values that the iterations do not compute one from another,
    such as the time steps of a sampler: such a read leaves what the loop carries to be computed. `called`
    are the names that reads in called functions are of."""
    events = (event for event in m.recorder.all() if event.fact in _READS)
    inside = [event.node for event in events if loop.node.start <= event.node.start < loop.node.end]
    read = called.union(*map(names_in, inside))
    carried = _carried(loop.node) if read else frozenset()
    return bool(carried) and not read & (carried | {"self"} | OPAQUE)


def read_names(m: State, function: Function, effects: Effects) -> frozenset[str]:
    """Return the parameters that the reads in a function are of, or of what is computed from them, and the
    names from around it."""
    assert isinstance(function.node, ir.FunctionDef)
    body = function.node.body
    nodes = [node for statement in body for node in ir.walk(statement)]
    events = (event for node in nodes if isinstance(node, ir.Stmt) for event in m.recorder.of(node))
    found = effects.read_names.union(*(names_in(event.node) for event in events if event.fact in _READS))
    unknown = Effect.CALLED_READ in effects.must and not effects.read_names
    behind = OPAQUE if unknown or any(isinstance(node, ir.Lambda) for node in nodes) else frozenset()
    sources = [
        (names_in(target), names_in(value)) for target, value in (*assignments(body), *_iterations(body))
    ]
    while not found <= behind:
        behind |= found
        found = frozenset(name for targets, values in sources if targets & found for name in values)
    params = {param.name for param in function.node.params}
    if behind.isdisjoint(params):
        return OPAQUE
    return behind - ({name for targets, _ in sources for name in targets} - params)


def read_in_call(names: frozenset[str], function: Function, node: ir.Call | None) -> frozenset[str]:
    """Return the names of a caller for those of a function: what stands in the arguments for its parameters,
    and the names from around it."""
    if isinstance(function.node, ir.Lambda) or node is None or any(arg.star for arg in node.args):
        return OPAQUE
    params = [param.name for param in function.node.params]
    found = names.difference(params)
    if function.bound is not None:
        owner = node.func.value if isinstance(node.func, ir.Attribute) else node.func
        found |= names_in(owner) if params[:1] and params[0] in names else frozenset()
        params = params[1:]
    positional = [arg.value for arg in node.args if not arg.keyword]
    given = [*zip(params, positional, strict=False)]
    given += [(arg.keyword, arg.value) for arg in node.args if arg.keyword]
    found |= {part for name, value in given if name in names for part in names_in(value)}
    return found


def replaced(node: ir.For | ir.While) -> frozenset[str]:
    """Return the names that each iteration assigns, and that hold nothing of an earlier one."""
    assigned = {name for target, _ in assignments(node.body) for name in names_in(target)}
    return frozenset(assigned | _targets(node)) - _carried(node)


def changed_tensors(node: ir.For | ir.While, before: Env, after: Env) -> frozenset[str]:
    """Return the names from before a loop under which an iteration leaves another tensor for the next one. A
    value that no statement assigns and that looks the same is not another: the branches of an option took
    it apart and joined it."""
    assigned = {name for target, _ in assignments(node.body) for name in names_in(target)} | _targets(node)
    fresh = replaced(node)
    return frozenset(
        name
        for name, thing in after.items()
        if (old := before.get(name)) is not None
        and thing is not old
        and "tensor" in (thing.kind, old.kind)
        and thing.kind in ("tensor", "unknown")
        and name not in fresh
        and (_first_name(name) in assigned or thing.key() != old.key())
    )


def moves_on(node: ir.For | ir.While, name: str) -> bool:
    """Return whether a loop adds to a number, and indexes something by it: `x[:, offset]; offset += n`."""
    parts = [part for statement in node.body for part in ir.walk(statement)]
    return any(_adds_to(part, name) for part in parts) and any(
        name in names_in(index) for part in parts if isinstance(part, ir.Subscript) for index in part.index
    )


def counts_up(node: ir.For | ir.While, name: str) -> bool:
    """Return whether every iteration adds the same whole number to a name: `n += 1`."""
    steps = [part.value for part in node.body if isinstance(part, ir.AugAssign) and _adds_to(part, name)]
    return any(isinstance(step, ir.Const) and type(step.value) is int for step in steps)


def _first_name(path: str) -> str:
    """Return `x` of `x.state` and `x['h']`."""
    return path.partition(".")[0].partition("[")[0]


def _adds_to(node: ir.Node, name: str) -> bool:
    match node:
        case ir.AugAssign(target=ir.Name(id=target), op="+" | "+="):
            return target == name
        case ir.Assign(targets=(ir.Name(id=target),), value=ir.Binary(op="+", left=left, right=right)):
            return target == name and name in names_in(left) | names_in(right)
    return False


def _carried(node: ir.For | ir.While) -> frozenset[str]:
    """Return the names that hold something of an earlier iteration, and those computed from them."""
    assigned = [(names_in(target), names_in(value)) for target, value in assignments(node.body)]
    later = {name for targets, _ in assigned for name in targets} - _targets(node)
    found = _used_before(node.body, later)
    assigned += [(names_in(target), names_in(value)) for target, value in _iterations(node.body)]
    grown = True
    while grown:
        new = {name for targets, values in assigned if values & found for name in targets} - found
        grown = bool(new)
        found |= new
    return frozenset(found)


def _used_before(block: ir.Block, later: set[str]) -> set[str]:
    """Return the names of `later` that a block uses before it assigns to them, and take those away that it
    assigns to on every path."""
    found: set[str] = set()
    for statement in block:
        if isinstance(statement, ir.If):
            ways = set(later), set(later)
            found |= _used_before(statement.body, ways[0]) | _used_before(statement.orelse, ways[1])
            later &= ways[0] | ways[1]
        elif isinstance(statement, ir.With):
            found |= _used_before(statement.body, later)
        else:
            for target, value in sorted(assignments((statement,)), key=lambda pair: pair[1].start):
                found |= names_in(value) & later
                later -= names_in(target)
    return found


def _targets(node: ir.For | ir.While) -> set[str]:
    return names_in(node.target) if isinstance(node, ir.For) else set()


def assignments(block: ir.Block) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """Yield the targets and values of a block's assignments, and of calls that change what they are of."""
    for statement in block:
        for node in ir.walk(statement):
            match node:
                case ir.Assign(targets=targets, value=value):
                    yield from ((target, value) for target in targets)
                case ir.AnnAssign(target=target, value=value) | ir.Walrus(target=target, value=value):
                    if value is not None:
                        yield target, value
                case ir.AugAssign(target=target, value=value):
                    yield target, target
                    yield target, value
                case ir.Call(func=ir.Attribute(value=owner, attr=method)) if _changes(method):
                    yield owner, owner
                    yield from ((owner, arg.value) for arg in node.args)


def _changes(method: str) -> bool:
    """Return whether a method changes a list, a dictionary or a tensor in place, by its name."""
    return method in _FILLS or (method.endswith("_") and not method.startswith("_"))


def _iterations(block: ir.Block) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    """Yield what the loops, comprehensions and `with` statements of a block bind, and to what."""
    for statement in block:
        for node in ir.walk(statement):
            if isinstance(node, ir.For):
                yield node.target, node.iter
            elif isinstance(node, ir.Comprehension):
                yield from ((generator.target, generator.iter) for generator in node.generators)
            elif isinstance(node, ir.With):
                yield from ((item.target, item.value) for item in node.items if item.target is not None)


def names_in(node: ir.Node) -> set[str]:
    """Return the names in an expression."""
    return {part.id for part in ir.walk(node) if isinstance(part, ir.Name)}


def targets_in(nodes: Iterable[ir.Node]) -> Iterator[ir.Expr]:
    """Yield the targets of those of the nodes that bind something."""
    for node in nodes:
        match node:
            case ir.Assign(targets=targets):
                yield from targets
            case ir.AnnAssign(target=target) | ir.AugAssign(target=target) | ir.Walrus(target=target):
                yield target
            case (
                ir.For(target=target) | ir.Generator(target=target) | ir.WithItem(target=ir.Expr() as target)
            ):
                yield target


def read_after(function: ir.FunctionDef, offset: int) -> frozenset[str]:
    """Return the names that a function reads behind an offset; `x += 1` alone does not read `x`."""
    nodes = [node for node in ir.walk(function) if node.start >= offset]
    bound = {id(name) for target in targets_in(nodes) for name in ir.target_names(target)}
    return frozenset(node.id for node in nodes if isinstance(node, ir.Name) and id(node) not in bound)

"""Read what the blocks of a branch do, as far as their statements alone tell."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.scopes import Scope, path_of


def words(node: ir.Node) -> Iterator[str]:
    """Yield the names and texts of a node, without those in it."""
    match node:
        case ir.Name() | ir.Attribute():
            yield path_of(node) or (node.attr if isinstance(node, ir.Attribute) else "")
        case ir.Const(value=str(text)):
            yield text
        case ir.FString(parts=parts):
            yield from (part for part in parts if isinstance(part, str))
        case ir.Arg(keyword=str(keyword)):
            yield keyword
        case ir.Alias(name=name):
            yield name
        case ir.ImportFrom(module=module):
            yield module


def without_pass(block: ir.Block) -> ir.Block:
    """Return a block, an empty one for `pass`."""
    match block:
        case (ir.Jump(kind="pass"),):
            return ()
    return block


def leaves(block: ir.Block) -> bool:
    """Return whether a block may end with a way out, so that what follows it is the other side."""
    match block[-1:]:
        case (ir.Return() | ir.Raise(),):
            return True
        case (ir.Jump(kind=kind),):
            return kind != "pass"
        case (ir.If(body=body, orelse=orelse),):
            return leaves(body) or leaves(orelse)
        case (ir.With(body=body) | ir.Try(body=body),):
            return leaves(body)
    return False


def function_called(node: ir.Call, scope: Scope) -> ir.FunctionDef | None:
    """Return the function of the module that a call runs, if that is sure and it calls none in turn."""
    bound = scope.lookup(node.func.id) if isinstance(node.func, ir.Name) else []
    function = bound[0].node if len(bound) == 1 else None
    if not isinstance(function, ir.FunctionDef) or not function.body:
        return None
    inner = (n.func for s in function.body for n in ir.walk(s) if isinstance(n, ir.Call))
    return None if any(isinstance(f, ir.Name) and scope.lookup(f.id) for f in inner) else function


def adds(call: ir.Call) -> bool:
    """Return whether a call adds to a container."""
    return isinstance(call.func, ir.Attribute) and call.func.attr in ("add", "append", "setdefault", "update")


def owner_of(call: ir.Expr) -> ir.Expr:
    """Return `x` of `x.cuda()`; the expression itself where it calls no method."""
    return call.func.value if isinstance(call, ir.Call) and isinstance(call.func, ir.Attribute) else call


def acts(node: ir.Node) -> Iterator[ir.Expr]:
    """The expressions that a statement runs or hands on, what it raises left out."""
    match node:
        case ir.Raise() | ir.Assert() | ir.FunctionDef() | ir.ClassDef():
            return
        case ir.Assign(value=value) | ir.AugAssign(value=value) | ir.ExprStmt(value=value):
            yield from value.elements if isinstance(value, ir.Sequence) else (value,)
        case ir.AnnAssign(value=given):
            yield from () if given is None else (given,)
        case _:
            for child in ir.children(node):
                if isinstance(child, ir.Expr):
                    yield child
                else:
                    yield from acts(child)


def follows_tensor(block: ir.Block, after: ir.Stmt) -> bool:
    """Return whether the statement after a block moves all that the block assigns to the device of another
    tensor, `w = w.type_as(x)`, wherever that is."""
    if not isinstance(after, ir.Assign) or not isinstance(after.value, ir.Call):
        return False
    moved = after.value.func
    if not isinstance(moved, ir.Attribute) or moved.attr != "type_as":
        return False
    targets = {path_of(target) for node in block if isinstance(node, ir.Assign) for target in node.targets}
    return targets == {path_of(moved.value)} == {path_of(target) for target in after.targets}


def blocks_around(node: ir.Node, body: ir.Block) -> Iterator[tuple[ir.Block, int]]:
    """Yield the blocks that hold a statement or an expression, outermost first, each with the position of
    what holds it."""
    for i, statement in enumerate(body):
        if ir.encloses(statement, node):
            yield body, i
            if statement is not node:
                for inner in _blocks(statement):
                    yield from blocks_around(node, inner)
            return


def _blocks(node: ir.Stmt) -> Iterator[ir.Block]:
    yield from ir.blocks_of(node)
    if isinstance(node, ir.Try):
        yield from (handler.body for handler in node.handlers)


def replaces(test: ir.Expr, block: ir.Block) -> bool:
    """Return whether a block gives the device that a test compares another value: what is reported is the
    selection of that."""
    path = path_of(test.left) if isinstance(test, ir.Compare) else ""
    targets = (t for s in block if isinstance(s, ir.Assign) for t in s.targets)
    return bool(path) and any(path_of(target) == path for target in targets)


def chooses_gpu(test: ir.Expr, block: ir.Block) -> bool:
    """Return whether a block does nothing but choose which GPU the device is that a test compares: a process
    on XLA has one device."""
    devices = frozenset(tested_devices(test))
    return bool(devices and block) and all(_sets_gpu(statement, devices) for statement in block)


def tested_devices(test: ir.Expr) -> Iterator[str]:
    """Yield the paths of the devices that a test compares: `args.device` of `args.device.type == "cuda"`."""
    match test:
        case ir.Bool(values=values):
            for value in values:
                yield from tested_devices(value)
        case ir.Compare(left=ir.Attribute(value=device, attr="type")) if path := path_of(device):
            yield path
        case ir.Compare(left=left, comparators=(right, *_)):
            yield from filter(None, (path_of(_in_text(side)) for side in (left, right)))
        case ir.Call(func=ir.Attribute(value=device, attr="startswith")) if path := path_of(_in_text(device)):
            yield path


def _in_text(node: ir.Expr) -> ir.Expr:
    """Return `device` of `str(device)`; other expressions as they are."""
    match node:
        case ir.Call(func=ir.Name(id="str"), args=(ir.Arg(value=inner),)):
            return inner
    return node


def is_gpu(node: ir.Expr) -> bool:
    """Return whether an expression makes a device: `torch.device("cuda", rank)`, `f"cuda:{rank}"`."""
    match node:
        case ir.FString() | ir.Const(value=str()):
            return True
        case ir.Call(func=func):
            return path_of(func).rpartition(".")[2] == "device"
    return False


def _sets_gpu(statement: ir.Stmt, devices: frozenset[str]) -> bool:
    """Return whether a statement sets one of the devices to a GPU, or makes it the current one."""
    match statement:
        case ir.Assign(targets=(target,), value=value):
            return path_of(target) in devices and is_gpu(value)
        case ir.ExprStmt(value=ir.Call(func=func)):
            return path_of(func) == "torch.cuda.set_device"
    return False

"""Moves tensors where they enter a step: out of a loader, or from code outside the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xlamig import ir
from xlamig.findings import Edit
from xlamig.fix.adoption.calls import Calls
from xlamig.fix.adoption.devices import DeviceValues, given_to
from xlamig.fix.adoption.tensors import Tensors, is_loader
from xlamig.fix.adoption.tree import Tree
from xlamig.fix.context import FixContext, FixDeclined
from xlamig.fix.imports import insert_beside
from xlamig.fix.insertion import insert_after
from xlamig.fix.names import last_name
from xlamig.fix.scopes import bindings, dotted_name, reads
from xlamig.knowledge import signatures, values

_CONTAINERS = frozenset(dir(str)) | frozenset(dir(list)) | frozenset(dir(dict))
_DEPTH = 2  # calls that a name is followed through


class Batches:
    """Writes the statements that move to `device` the inputs of a file's modules and losses."""

    def __init__(
        self,
        context: FixContext,
        tree: Tree,
        calls: Calls,
        known: DeviceValues,
        tensors: Tensors,
        device: str,
    ) -> None:
        self.context = context
        self.tree = tree
        self.calls = calls
        self.known = known
        self.tensors = tensors
        self.device = device

    def edits(self) -> Iterator[Edit]:
        """Yield the moves; raises FixDeclined where a statement has no line for itself."""
        for node in self.tree.nodes:
            if self.tensors.loads(node):
                continue
            match node:
                case ir.For(target=target, iter=source, body=body) if self._gives_batches(source):
                    yield from self._entry(body[0], target, node, above=True)
                case ir.Assign(targets=(target,), value=ir.Name(id=batch)) if self._is_batch(node, batch):
                    yield from self._entry(node, target, node, above=False)
                case ir.Assign(targets=(ir.Name() as target,), value=ir.Subscript(value=ir.Name(id=batch))):
                    if self._is_batch(node, batch) and self._is_used(target, node):
                        yield self._part(target, node.value)
                case ir.Assign(targets=(target,), value=ir.Call() as value) if self._comes_from_outside(
                    value
                ):
                    yield from self._entry(node, target, node, above=False)
                case ir.Assign(targets=(ir.Name() as target,), value=value) if self._is_kept_data(value):
                    if self._is_given(target):
                        yield from self._entry(node, target, node, above=False)

    def _entry(self, statement: ir.Stmt, target: ir.Expr, root: ir.Node, above: bool) -> Iterator[Edit]:
        """Write `x, y = x.to(device), y.to(device)` beside a statement, for the tensors among the names."""
        names = [name for name in _names(target) if self._is_used(name, root)]
        if not names or any(self._is_parameter(name, root) for name in names):
            return
        left = ", ".join(name.id for name in names)
        line = f"{left} = {', '.join(f'{name.id}.to({self.device})' for name in names)}"
        found = (
            insert_beside(self.context, line, statement)
            if above
            else insert_after(self.context, statement, [line])
        )
        if found is None:
            raise FixDeclined(f"`{line}` has no line for itself")
        self.known.add(list(names))
        yield found

    def _part(self, target: ir.Expr, value: ir.Expr) -> Edit:
        self.known.add([target])
        return self.context.edit(value.end, value.end, f".to({self.device})")

    # ------------------------------------------------------------------ where tensors come from

    def _gives_batches(self, source: ir.Expr) -> bool:
        wraps = values.names("placing", "iterators")
        while isinstance(source, ir.Call) and source.args and last_name(source.func) in wraps:
            source = source.args[0].value
        if isinstance(source, ir.Call) and isinstance(source.func, ir.Name) and source.func.id == "range":
            return False
        given = self._values_of(source)
        if given and (all(map(self._ends_on_host, given)) or any(map(_is_part_of_module, given))):
            return False
        return is_loader(self.calls, self.tree, source) or not self.known.is_tensor(source)

    def _values_of(self, source: ir.Expr) -> list[ir.Expr]:
        """Return an expression, or all that its name is bound to; nothing if something else binds it."""
        if not isinstance(source, ir.Name):
            return [source]
        bound = bindings(self.tree.owner(source), source.id)
        given = [node.value for node in bound if isinstance(node, ir.Assign)]
        return given if len(given) == len(bound) else []

    def _ends_on_host(self, value: ir.Expr) -> bool:
        """Return whether a chain copies to the host, or begins with a function of NumPy."""
        while isinstance(value, ir.Call | ir.Attribute | ir.Subscript):
            copied = isinstance(value, ir.Attribute) and value.attr in values.names("placing", "host")
            if copied or self.calls.canonical(value).startswith("numpy."):
                return True
            value = value.func if isinstance(value, ir.Call) else value.value
        return False

    def _is_batch(self, node: ir.Node, name: str) -> bool:
        """Return whether a loop over a loader around `node` binds the name."""
        return any(
            isinstance(n, ir.For)
            and self._gives_batches(n.iter)
            and any(one.id == name for one in _names(n.target))
            and not any(self._is_used(one, n) for one in _names(n.target) if one.id == name)
            for n in self.tree.above(node)
        )

    def _comes_from_outside(self, call: ir.Call) -> bool:
        """Return whether a call may give host tensors that no statement of the file makes."""
        if self.calls.kind(call) or self.known.is_tensor(call) or self.known.is_module(call.func):
            return False
        if any(self.known.is_tensor(arg.value) for arg in call.args):
            return False  # it computes on the device
        name = dotted_name(call.func)
        if name == "next":
            return True
        if not name.strip(".") or name.startswith(".") or name.rpartition(".")[2] in self.calls.functions:
            return False
        return bool(self.calls.canonical(call.func))

    def _is_kept_data(self, value: ir.Expr) -> bool:
        """Return whether a value is computed from an attribute of a data set: `data.targets[:9].float()`."""
        kept = [
            node for node in ir.walk(value) if isinstance(node, ir.Attribute) and self._is_data(node.value)
        ]
        host = values.names("placing", "host")
        return bool(kept) and not any(isinstance(n, ir.Attribute) and n.attr in host for n in ir.walk(value))

    def _is_data(self, node: ir.Expr) -> bool:
        if not isinstance(node, ir.Name):
            return False
        bound = [n for n in bindings(self.tree.module, node.id) if isinstance(n, ir.Assign)]
        return any(self.calls.kind(n.value) == "dataset" for n in bound)

    def _is_given(self, name: ir.Name) -> bool:
        """Return whether a module, or a function of torch, is given the name itself."""
        uses = reads(self.tree.module, name.id)
        calls = (
            (use, self.tree.parent(arg)) for use in uses if isinstance(arg := self.tree.parent(use), ir.Arg)
        )
        return any(isinstance(call, ir.Call) and self._gives_tensor(use, call, 0) for use, call in calls)

    # ------------------------------------------------------------------ what is a tensor

    def _is_used(self, name: ir.Name, root: ir.Node) -> bool:
        """Return whether a use of the name below `root` shows that it is a tensor."""
        return self._shows_tensor(self._owner(root), name.id, after=name.end, depth=_DEPTH)

    def _is_parameter(self, name: ir.Name, root: ir.Node) -> bool:
        """Return whether a use shows a parameter: a copy of it on the device would be no leaf."""
        parents = (self.tree.parent(use) for use in reads(self._owner(root), name.id))
        of_parameters = values.names("placing", "of-parameters")
        return any(isinstance(node, ir.Attribute) and node.attr in of_parameters for node in parents)

    def _owner(self, root: ir.Node) -> ir.Node:
        """Return what the uses below `root` are sought in."""
        return root if isinstance(root, ir.For) else self.tree.owner(root)

    def _shows_tensor(self, owner: ir.Node, name: str, after: int, depth: int) -> bool:
        uses = [use for use in reads(owner, name) if use.start > after]
        again = (statement for use in uses if (statement := _rebinds(self.tree, use)))
        end = min((statement.end for statement in again), default=owner.end)
        return any(use.start < end and self._as_tensor(use, depth) for use in uses)

    def _as_tensor(self, use: ir.Expr, depth: int) -> bool:
        parent = self.tree.parent(use)
        above = self.tree.parent(parent) if parent is not None else None
        match parent, above:
            case ir.Attribute(attr=attr), ir.Call(func=func) if func is parent:
                return attr not in _CONTAINERS and signatures.signature(f"Tensor.{attr}") is not None
            case ir.Attribute(attr="data" | "grad"), _:
                return True
            case ir.Arg(), ir.Call() as call:
                return self._gives_tensor(use, call, depth)
            case (ir.Binary() | ir.Compare()) as operation, _:
                return self.known.is_tensor(operation)
        return False

    def _gives_tensor(self, use: ir.Expr, call: ir.Call, depth: int) -> bool:
        kind = self.calls.kind(call)
        if kind == "function":
            return self.calls.canonical(call.func).startswith(
                ("torch.nn.functional.", "torch.autograd.Variable")
            )
        if kind == "" and self.known.is_module(call.func):
            return True
        name = last_name(call.func)
        return depth > 0 and any(
            value is use and self._shows_tensor(function, parameter, function.start, depth - 1)
            for function in self.calls.functions.get(name, ())
            for parameter, value in given_to(call, function)
        )


def _is_part_of_module(value: ir.Expr) -> bool:
    """Return whether a value holds parameters or buffers: they move with their module, and a copy that a
    loop moves is not what the module holds."""
    names = values.names("modules", "state") | {"state_dict"}
    return any(isinstance(node, ir.Attribute) and node.attr in names for node in ir.walk(value))


def _names(target: ir.Expr) -> Sequence[ir.Name]:
    match target:
        case ir.Name(id=name) if name != "_":
            return [target]
        case ir.Sequence(elements=elements):
            return [name for element in elements for name in _names(element)]
    return []


def _rebinds(tree: Tree, use: ir.Name) -> ir.Assign | None:
    """Return the statement that assigns to the name here."""
    statement = tree.statement(use)
    if isinstance(statement, ir.Assign) and any(use in _names(target) for target in statement.targets):
        return statement
    return None

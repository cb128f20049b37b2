"""Moves tensors where they are made out of numbers, lists and arrays."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.findings import Edit
from xlamig.fix.adoption.calls import Calls, follows_tensor
from xlamig.fix.adoption.tree import Tree
from xlamig.fix.context import FixContext
from xlamig.fix.names import last_name
from xlamig.fix.scopes import dotted_name, reads
from xlamig.knowledge import values


class Tensors:
    """Divides the calls of a file that make a tensor: `moving` for the device, `stays` for the host."""

    def __init__(self, context: FixContext, tree: Tree, calls: Calls, device: str) -> None:
        self.context = context
        self.tree = tree
        self.calls = calls
        self.device = device
        self.loading = self._loading()
        made = [n for n in tree.nodes if isinstance(n, ir.Call) and calls.kind(n) == "tensor"]
        self.moving = [call for call in made if not self._stays(call)]
        moving = {id(call) for call in self.moving}
        self.stays = frozenset(id(call) for call in made if id(call) not in moving)

    def edits(self) -> Iterator[Edit]:
        """Yield the edits that put each tensor of `moving` on the device."""
        for call in self.moving:
            yield from self.edits_of(call)

    def loads(self, node: ir.Node) -> bool:
        """Return whether a node runs where batches are made, in a data set or in a worker."""
        return any(id(above) in self.loading for above in (node, *self.tree.above(node)))

    def edits_of(self, call: ir.Call) -> Iterator[Edit]:
        """Yield the edits that put the tensor of one call on the device, as a leaf if it is one."""
        chain = self.tree.chain(call, lambda name: follows_tensor(name) and name != "requires_grad_")
        name = self.calls.canonical(call.func).removeprefix("torch.")
        if (
            name in values.names("placing", "made-anywhere")
            and not self._draws(call, chain)
            and not any(a.star for a in call.args)
        ):
            at = call.args[-1].end if call.args else call.args_start
            comma = ", " if call.args else ""
            yield self.context.edit(at, at, f"{comma}device={self.device}")
            return
        leaf = next((a for a in call.args if a.keyword == "requires_grad"), None)
        text = f".to({self.device})"
        if leaf is not None:
            yield self.context.edit(leaf.cut_start, leaf.cut_end, "")
            value = self.context.text_of(leaf.value)
            text += f".requires_grad_({'' if value == 'True' else value})"
        yield self.context.edit(chain.end, chain.end, text)

    def _draws(self, call: ir.Expr, chain: ir.Expr) -> bool:
        """Return whether a method of the chain fills the tensor with random numbers: `empty(3).normal_()`."""
        while chain is not call:
            assert isinstance(chain, ir.Call) and isinstance(chain.func, ir.Attribute)
            if chain.func.attr.endswith("_") and chain.func.attr not in values.names(
                "placing", "plain-fills"
            ):
                return True
            chain = chain.func.value
        return False

    def _stays(self, call: ir.Call) -> bool:
        """Return whether the host uses the tensor: as part of a data set, an index or a number."""
        if self.loads(call) or any(a.keyword in ("device", "out", "pin_memory") for a in call.args):
            return True
        chain = self.tree.chain(call, follows_tensor)
        end = self.tree.method_on(chain)
        if (
            end is not None
            and isinstance(end.func, ir.Attribute)
            and end.func.attr in values.names("placing", "host")
        ):
            return True
        parent = self.tree.parent(chain)
        if isinstance(parent, ir.For) or (isinstance(parent, ir.Call) and parent.func is chain):
            return True
        if self._in_constructor_of_module(call):
            return not self._is_plain_attribute(chain)
        return self._goes_to_data(chain)

    def _in_constructor_of_module(self, call: ir.Call) -> bool:
        around = list(self.tree.above(call))
        function = next((n for n in around if isinstance(n, ir.FunctionDef)), None)
        owner = next((n for n in around if isinstance(n, ir.ClassDef)), None)
        inside = function is not None and function.name in ("__init__", "reset_parameters")
        return inside and owner is not None and self.calls.kind_of_class(owner) == "module"

    def _is_plain_attribute(self, chain: ir.Expr) -> bool:
        """Return whether it is assigned as in `self.table = torch.arange(n)`: `.to()` does not move it."""
        parent = self.tree.parent(chain)
        return (
            isinstance(parent, ir.Assign)
            and parent.value is chain
            and all(dotted_name(target).startswith("self.") for target in parent.targets)
        )

    def _goes_to_data(self, chain: ir.Expr) -> bool:
        """Return whether a data set or a loader is given it, directly or under a name."""
        if any(self.calls.kind(node) in ("dataset", "loader") for node in self.tree.above(chain)):
            return True
        owner = self.tree.owner(chain)
        uses = (use for name in self._names_of(chain) for use in reads(owner, name))
        return any(self.calls.kind(n) in ("dataset", "loader") for use in uses for n in self.tree.above(use))

    def _names_of(self, value: ir.Expr) -> Iterator[str]:
        """Yield the names that a value is assigned to, also as one of several."""
        parent = self.tree.parent(value)
        index = None
        if isinstance(parent, ir.Sequence):
            index = next(i for i, element in enumerate(parent.elements) if element is value)
            parent = self.tree.parent(parent)
        for target in parent.targets if isinstance(parent, ir.Assign) else ():
            if isinstance(target, ir.Sequence) and index is not None and index < len(target.elements):
                target = target.elements[index]
            if isinstance(target, ir.Name):
                yield target.id

    def _loading(self) -> set[int]:
        """Return the ids of the classes of data sets, and of the functions and lambdas that workers run."""
        found = {id(c) for c in self.calls.classes.values() if self.calls.kind_of_class(c) == "dataset"}
        for node in self.tree.nodes:
            if isinstance(node, ir.Arg) and node.keyword in values.names("placing", "worker-arguments"):
                found.add(id(node.value))
                functions = self.calls.functions.get(last_name(node.value), ())
                found.update(map(id, functions))
            elif isinstance(node, ir.Call) and self.calls.canonical(node.func).startswith(
                "torchvision.transforms"
            ):
                found.add(id(node))
        return found


def is_loader(calls: Calls, tree: Tree, node: ir.Expr) -> bool:
    """Return whether an expression is a loader, by what made it or by its name."""
    name = dotted_name(node)
    if values.name_like("loader").search(last_name(node)):
        return True
    return any(
        isinstance(n, ir.Assign) and calls.kind(n.value) == "loader" and name in map(dotted_name, n.targets)
        for n in tree.nodes
    )

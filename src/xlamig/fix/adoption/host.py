"""Copies tensors to the host where NumPy, a plot or another library needs them."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.findings import Edit
from xlamig.fix.adoption.calls import Calls
from xlamig.fix.adoption.devices import DeviceValues
from xlamig.fix.adoption.tensors import Tensors
from xlamig.fix.adoption.tree import Tree
from xlamig.fix.context import FixContext
from xlamig.knowledge import values


class HostUses:
    """Finds the places of a file that need a device tensor as an array on the host."""

    def __init__(
        self, context: FixContext, tree: Tree, calls: Calls, known: DeviceValues, tensors: Tensors
    ) -> None:
        self.context = context
        self.tree = tree
        self.calls = calls
        self.known = known
        self.tensors = tensors

    def edits(self) -> Iterator[Edit]:
        """Yield an insertion of `.cpu()` for each place; it returns a tensor on the host unchanged."""
        for node in self.tree.nodes:
            if not isinstance(node, ir.Call) or self.tensors.loads(node):
                continue
            match node:
                case ir.Call(func=ir.Attribute(value=value, attr="numpy") as method, args=()):
                    if not _is_cpu(value) and self._may_be_tensor(value):
                        yield self._as_array(node, method)
                case ir.Call() if self.calls.kind(node) == "foreign":
                    for arg in node.args:
                        if not arg.star and self.known.is_always_tensor(arg.value):
                            yield from self._copy_to_host(arg.value)
                case ir.Call(
                    func=ir.Attribute(attr="type"),
                    args=(ir.Arg(keyword=None, value=ir.Attribute() as type_),),
                ):
                    yield from self._type(type_)

    def _as_array(self, node: ir.Call, method: ir.Attribute) -> Edit:
        """Copy to the host above `.numpy()`. A tensor of the device takes no array as the other operand: an
        operand stays a tensor, which has the same values and no gradient either."""
        match next(self.tree.above(node), None):
            case ir.Binary(left=left, right=right):
                if self.known.is_always_tensor(right if node is left else left):
                    return self.context.edit(method.attr_start, method.end, "detach")
        dot = self.context.source.text.rindex(".", method.value.end, method.attr_start)
        return self.context.edit(dot, dot, ".cpu()")  # behind the parentheses of a sum

    def _may_be_tensor(self, value: ir.Expr) -> bool:
        return self.calls.kind(value) != "foreign" and not self._stays_on_host(value)

    def _stays_on_host(self, value: ir.Expr) -> bool:
        """Return whether a chain begins with a call whose result stays on the host."""
        return any(id(node) in self.tensors.stays for node in ir.walk(value))

    def _copy_to_host(self, value: ir.Expr) -> Iterator[Edit]:
        if isinstance(value, ir.Sequence):
            for element in value.elements:
                if self.known.is_always_tensor(element):
                    yield from self._copy_to_host(element)
        elif isinstance(value, ir.Name | ir.Attribute | ir.Subscript | ir.Call):
            yield self.context.edit(value.end, value.end, ".cpu()")
        else:
            yield self.context.edit(value.start, value.start, "(")
            yield self.context.edit(value.end, value.end, ").cpu()")

    def _type(self, node: ir.Attribute) -> Iterator[Edit]:
        """Write the dtype for the class: `x.type(torch.LongTensor)` would come back to the host."""
        dtype = values.dtype_of_class(self.calls.canonical(node))
        if dtype:
            yield self.context.edit(node.attr_start, node.end, dtype)


def _is_cpu(value: ir.Expr) -> bool:
    return isinstance(value, ir.Call) and isinstance(value.func, ir.Attribute) and value.func.attr == "cpu"

"""Tests whether CUDA is available, or a device or process group is CUDA's, by the form of the expression."""

from __future__ import annotations

from dataclasses import dataclass

from xlamig import ir
from xlamig.facts import Value
from xlamig.flow.model.known import Known
from xlamig.flow.model.names import Names
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.knowledge.values import name_like

CUDA_AVAILABLE = frozenset(
    {"torch.cuda.is_available", "torch.backends.cuda.is_built", "torch.cuda.is_initialized"}
)

_BACKENDS = frozenset({"torch.distributed.get_backend", "torch.distributed.distributed_c10d.get_backend"})


@dataclass(frozen=True, slots=True)
class CudaTests:
    """Recognises the CUDA tests of one module. Each method returns None for an expression that is none."""

    names: Names
    text: str

    def attribute(self, node: ir.Attribute, scope: Scope) -> Known | None:
        """`tensor.is_cuda`; what the program assigns, or an option of that name, is another thing."""
        if node.attr != "is_cuda":
            return None
        path = path_of(node)
        is_own = bool(path) and bool(scope.find(path))
        owner = path.rpartition(".")[0].rpartition(".")[2]
        return None if is_own or name_like("settings").search(owner) else self._test(node)

    def call(self, node: ir.Call, dotted: str | None) -> Known | None:
        """`torch.cuda.is_available()` and `device.startswith("cuda")`; `dotted` is the function's name."""
        if dotted in CUDA_AVAILABLE:
            return self._test(node, availability=True)
        match node:
            case ir.Call(func=ir.Attribute(value=asked, attr="startswith"), args=(prefix, *_)):
                if _is_cuda(prefix.value) and (path_of(_inside_str(asked)) or self._names_a_device(asked)):
                    return self._test(node)
        return None

    def comparison(self, node: ir.Compare, scope: Scope) -> Known | None:
        """`device.type == "cuda"`, `"cuda" in name`, `torch.cuda.device_count() > 0`,
        `get_backend() == "nccl"` and `x.type() == "torch.cuda.HalfTensor"`."""
        if len(node.ops) != 1:
            return None
        left, op, right = node.left, node.ops[0], node.comparators[0]
        if op == "in" and isinstance(left, ir.Const) and left.value == "cuda":
            return self._test(node)
        if op in ("==", "!="):
            for one, other in ((left, right), (right, left)):
                if _is_cuda(one) and self._names_a_device(other):
                    return self._test(node, negated=op == "!=")
                if _is_cuda_type(one) and _asks_for_type(other):
                    return self._test(node, negated=op == "!=")
                if isinstance(one, ir.Const) and one.value == "nccl" and self._is_backend(other, scope):
                    return self._test(node, negated=op == "!=")
        if isinstance(right, ir.Const) and self._counts_gpus(left, scope):
            none = (op, right.value) in (("==", 0), ("<", 1), ("<=", 0))
            if none or op in (">", ">=", "!="):
                return self._test(node, availability=True, negated=none)
        return None

    def _test(self, node: ir.Expr, availability: bool = False, negated: bool = False) -> Known:
        value = Value("cuda-test", self.text[node.start : node.end])
        return Known(value, availability=availability, negated=negated)

    def _counts_gpus(self, node: ir.Expr, scope: Scope) -> bool:
        """`torch.cuda.device_count()`, `len(torch.cuda.default_generators)`, and names for such numbers."""
        if not isinstance(node, ir.Call):
            made = _made(node, scope)
            return made is not None and self._counts_gpus(made, scope)
        if path_of(node.func) == "len" and node.args:
            return self.names.dotted(node.args[0].value, scope) == "torch.cuda.default_generators"
        return self.names.dotted(node.func, scope) == "torch.cuda.device_count"

    def _is_backend(self, node: ir.Expr, scope: Scope) -> bool:
        """`torch.distributed.get_backend()`, and a name for its result."""
        call = node if isinstance(node, ir.Call) else _made(node, scope)
        return call is not None and self.names.dotted(call.func, scope) in _BACKENDS

    def _names_a_device(self, node: ir.Expr) -> bool:
        """`device.type`, `args.device`, `str(device)`, `device_type`: the text decides."""
        text = self.text[node.start : node.end].lower()
        return "device" in text or text.endswith(".type")


def _made(node: ir.Expr, scope: Scope) -> ir.Call | None:
    """Return the call whose result a name is set to, once."""
    bindings = scope.find(path) if (path := path_of(node)) else []
    value = bindings[0].value if len(bindings) == 1 else None
    return value if isinstance(value, ir.Call) else None


def _inside_str(node: ir.Expr) -> ir.Expr:
    """Return `x` of `str(x)`."""
    match node:
        case ir.Call(func=ir.Name(id="str"), args=(arg,)):
            return arg.value
    return node


def _is_cuda(node: ir.Expr) -> bool:
    """Return whether the node is a literal such as "cuda" or "cuda:0"."""
    return isinstance(node, ir.Const) and isinstance(node.value, str) and node.value.startswith("cuda")


def _is_cuda_type(node: ir.Expr) -> bool:
    """Return whether the node is a literal such as "torch.cuda.HalfTensor"."""
    return isinstance(node, ir.Const) and isinstance(node.value, str) and node.value.startswith("torch.cuda.")


def _asks_for_type(node: ir.Expr) -> bool:
    """Return whether the node is `x.type()`: without arguments, as only tensors are asked."""
    match node:
        case ir.Call(func=ir.Attribute(attr="type"), args=()):
            return True
    return False

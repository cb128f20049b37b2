"""Tests whether CUDA is available, or a device or process group is CUDA's, by the form of the expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from xlamig import ir
from xlamig.facts import Value
from xlamig.flow.model.capped_counts import Courses, is_capped
from xlamig.flow.model.cuda_questions import asks_tensor, names_cuda
from xlamig.flow.model.known import Known
from xlamig.flow.model.names import Names
from xlamig.flow.model.scopes import Binding, Scope, path_of
from xlamig.knowledge import values as table


@dataclass(frozen=True, slots=True)
class CudaTests:
    """Recognises the CUDA tests of one module. Each method returns None for an expression that is none."""

    names: Names
    text: str
    _capped: Courses = field(default_factory=dict, repr=False, compare=False)

    def attribute(self, node: ir.Attribute, scope: Scope) -> Known | None:
        """`tensor.is_cuda`"""
        return self._test(node) if asks_tensor(node, scope) else None

    def call(self, node: ir.Call, dotted: str | None, scope: Scope) -> Known | None:
        """`torch.cuda.is_available()`, `device.startswith("cuda")`, `isinstance(x, torch.cuda.FloatTensor)`;
        `dotted` is the function's name."""
        if dotted in table.names("cuda-tests", "available"):
            return self._test(node, availability=True)
        match node:
            case ir.Call(func=ir.Attribute(value=asked, attr="startswith"), args=(prefix, *_)):
                if names_cuda(prefix.value) and (path_of(_inside_str(asked)) or self._names_a_device(asked)):
                    return self._test(node)
            case ir.Call(func=ir.Name(id="isinstance"), args=(_, classes)):
                return self._test(node) if self._are_cuda_classes(classes.value, scope) else None
        return None

    def _are_cuda_classes(self, node: ir.Expr, scope: Scope) -> bool:
        """Return whether a class, or each of a tuple, is one of CUDA's tensors: `torch.cuda.FloatTensor`."""
        if isinstance(node, ir.Sequence):
            return bool(node.elements) and all(self._are_cuda_classes(one, scope) for one in node.elements)
        dotted = self.names.dotted(node, scope) or ""
        return dotted.startswith("torch.cuda.") and dotted.endswith("Tensor")

    def comparison(self, node: ir.Compare, scope: Scope) -> Known | None:
        """`device.type == "cuda"`, `"cuda" in name`, `torch.cuda.device_count() > 0`,
        `device == torch.device("cuda")`, `get_backend() == "nccl"`, `x.type() == "torch.cuda.HalfTensor"`."""
        if len(node.ops) != 1:
            return None
        left, op, right = node.left, node.ops[0], node.comparators[0]
        if op == "in" and names_cuda(left):
            return self._test(node)
        if op in ("==", "!="):
            for one, other in ((left, right), (right, left)):
                if (names_cuda(one) or self._makes_cuda(one, scope)) and self._names_a_device(other):
                    return self._test(node, negated=op == "!=")
                if _is_cuda_type(one) and _asks_for_type(other):
                    return self._test(node, negated=op == "!=")
                if _is_backend_of_cuda(one) and self._asks_backend(other, scope):
                    return self._test(node, negated=op == "!=")
        if isinstance(right, ir.Const) and self._is_number_of_gpus(left, scope):
            none = (op, right.value) in (("==", 0), ("<", 1), ("<=", 0))
            if none or op in (">", ">=") or (op == ("==" if right.value else "!=")):
                return self._test(node, availability=True, negated=none)
        return None

    def flag(self, bindings: Sequence[Binding], known_of: Callable[[ir.Expr, Scope], Known]) -> Known | None:
        """`use_gpu` of `if torch.cuda.is_available(): use_gpu = True`, which is False in the other branch, or
        before the test; `known_of` returns what an expression is known to be."""
        if len(bindings) != 2 or bindings[0].scope is not bindings[1].scope:
            return None
        (before, last), tests = bindings, bindings[1].scope.tests
        match before.value, last.value:
            case ir.Const(value=bool(one)), ir.Const(value=bool(other)) if one is not other and last.block:
                test, holds = tests.get(last.block[-1], (None, True))
            case _:
                return None
        opposite = bool(before.block) and tests.get(before.block[-1]) == (test, not holds)
        if test is None or not (opposite or before.block == last.block[:-1]):
            return None
        known = known_of(test, last.scope)
        if known.value.kind != "cuda-test":
            return None
        return known if other is holds else replace(known, negated=not known.negated)

    def _test(self, node: ir.Expr, availability: bool = False, negated: bool = False) -> Known:
        value = Value("cuda-test", self.text[node.start : node.end])
        return Known(value, availability=availability, negated=negated)

    def _makes_cuda(self, node: ir.Expr, scope: Scope) -> bool:
        """`torch.device("cuda")`"""
        if not isinstance(node, ir.Call) or self.names.dotted(node.func, scope) != "torch.device":
            return False
        return bool(node.args) and names_cuda(node.args[0].value)

    def _is_number_of_gpus(self, node: ir.Expr, scope: Scope) -> bool:
        """Return whether an expression counts GPUs, or holds at most as many as are there."""
        counts = partial(self._counts_gpus, scope=scope)
        return counts(node) or is_capped(node, scope, counts, self._capped)

    def _counts_gpus(self, node: ir.Expr, scope: Scope) -> bool:
        """`torch.cuda.device_count()`, `len(torch.cuda.default_generators)`, and names for such numbers."""
        if not isinstance(node, ir.Call):
            made = _made(node, scope)
            return made is not None and self._counts_gpus(made, scope)
        if path_of(node.func) == "len" and node.args:
            held = node.args[0].value
            listed = held if isinstance(held, ir.Call) else _made(held, scope)
            if listed is not None and self._lists_gpus(listed, scope):
                return True
            return self.names.dotted(held, scope) == "torch.cuda.default_generators"
        return self.names.dotted(node.func, scope) in table.names("cuda-tests", "counts")

    def _lists_gpus(self, node: ir.Call, scope: Scope) -> bool:
        """Return whether a call lists the numbers of the GPUs: `list(range(torch.cuda.device_count()))`."""
        match node:
            case ir.Call(func=ir.Name(id="list" | "tuple"), args=(ir.Arg(value=ir.Call() as inner),)):
                return self._lists_gpus(inner, scope)
            case ir.Call(func=ir.Name(id="range"), args=(ir.Arg(value=count),)):
                return self._counts_gpus(count, scope)
        return False

    def _asks_backend(self, node: ir.Expr, scope: Scope) -> bool:
        """`torch.distributed.get_backend()`, and a name for its result."""
        call = node if isinstance(node, ir.Call) else _made(node, scope)
        asked = call and self.names.dotted(call.func, scope)
        return asked in table.names("cuda-tests", "backends")

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


def _is_backend_of_cuda(node: ir.Expr) -> bool:
    return isinstance(node, ir.Const) and node.value in table.names("cuda-tests", "backend")


def _is_cuda_type(node: ir.Expr) -> bool:
    """Return whether the node is a literal such as "torch.cuda.HalfTensor"."""
    return isinstance(node, ir.Const) and isinstance(node.value, str) and node.value.startswith("torch.cuda.")


def _asks_for_type(node: ir.Expr) -> bool:
    """Return whether the node is `x.type()`: without arguments, as only tensors are asked."""
    match node:
        case ir.Call(func=ir.Attribute(attr="type"), args=()):
            return True
    return False

"""Numbers that tell processes apart: where one is used as a device, it is the number of a GPU."""

from __future__ import annotations

import re
from typing import Literal

from xlamig import ir
from xlamig.flow.detectors.receivers import receiver_of
from xlamig.flow.model.local_values import only_result
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.flow.model.site import Analysis

_NAME = re.compile(r"(?:^|_)rank_*$|^gpu_*$|(?:^|_)gpu_?id_*$|(?:local_)?process_index_*$", re.IGNORECASE)
GPU_NUMBERS = re.compile(
    r"(?:^|_)(?:gpu|cuda|device)_?ids?$|(?:^|_)gpu_?list$|^gpus$", re.IGNORECASE
)  # of GPUs
_PROCESS = re.compile(r"process_index_*$")
_CALL = re.compile(r"get_(?:\w+_)?rank$|^rank$")
_VARIABLE = re.compile(r"environ|getenv")
_MAX_NAMES = 3  # followed from one to the next


def gpu_number(node: ir.Expr, scope: Scope, analysis: Analysis) -> Literal["", "rank", "tensor"]:
    """Return whether a number used as a device is a rank, or what a tensor says of its own device."""
    if is_rank(node, scope, analysis):
        return "rank"
    return "tensor" if _is_of_tensor(node, scope, analysis) else ""


def _is_of_tensor(node: ir.Expr, scope: Scope, analysis: Analysis, depth: int = 0) -> bool:
    """`x.get_device()`, `x.device.index`, and names for such."""
    match node:
        case ir.Call(func=ir.Attribute(value=tensor, attr="get_device" as method), args=()):
            own = f"def {method}(" in analysis.text or analysis.names.project.has_method(method)
            return not own and receiver_of(tensor, method, scope, analysis) is not None
        case ir.Attribute(value=ir.Attribute(attr="device"), attr="index"):
            return True
        case ir.Name() | ir.Attribute() if depth < _MAX_NAMES:
            bindings = scope.find(path_of(node))
            return bool(bindings) and all(
                b.value is not None and _is_of_tensor(b.value, b.scope, analysis, depth + 1) for b in bindings
            )
    return False


def is_rank(node: ir.Expr, scope: Scope, analysis: Analysis, depth: int = 0) -> bool:
    """`rank`, `args.gpu`, `gpu_ids[0]`, `int(os.environ["LOCAL_RANK"])`, `rank % n`, names for such, and what
    functions of the module return of them."""
    match node:
        case ir.Name() | ir.Attribute():
            return _is_named(node, scope, analysis, depth)
        case ir.Subscript(value=ir.Name() | ir.Attribute() as numbers, index=(ir.Const(value=int()),)):
            return GPU_NUMBERS.search(path_of(numbers).rpartition(".")[2]) is not None
        case ir.Binary(op="%", left=left):
            return is_rank(left, scope, analysis, depth)
        case ir.Call(func=func, args=args):
            if path_of(func) == "int" and len(args) == 1:
                text = analysis.source(args[0].value)
                asked = _VARIABLE.search(text) is not None and "RANK" in text
                return asked or is_rank(args[0].value, scope, analysis, depth)
            if not args and _CALL.search(path_of(func).rpartition(".")[2]):
                return True
            result = only_result(node, scope) if depth < _MAX_NAMES else None
            return result is not None and is_rank(*result, analysis, depth + 1)
    return False


def _is_named(node: ir.Name | ir.Attribute, scope: Scope, analysis: Analysis, depth: int) -> bool:
    path = path_of(node)
    if not path:  # `Accelerator().local_process_index`
        return isinstance(node, ir.Attribute) and _PROCESS.search(node.attr) is not None
    if _NAME.search(path.rpartition(".")[2]):
        known = analysis.values.of(node, scope).value
        return known.kind == "expression" or type(known.value) is int or known.value is None
    bindings = scope.find(path) if depth < _MAX_NAMES else []
    return bool(bindings) and all(
        b.value is not None and is_rank(b.value, b.scope, analysis, depth + 1) for b in bindings
    )

"""Functions that torch.library runs for tensors of CUDA alone: kernels for that device type."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.by_kind import of_kind
from xlamig.flow.model.scopes import path_of

_REGISTERS = frozenset({"custom_op", "register_kernel", "impl"})
_MENTIONED = re.compile(rf"\b(?:{'|'.join(sorted(_REGISTERS))})\s*\(")
_CUDA = re.compile(r"cuda|(?:Autograd|Autocast|Sparse|Quantized)?CUDA")
_OTHER = re.compile(
    r"cpu|xla|mps|xpu|meta|default|(?:Autograd)?(?:CPU|XLA|MPS|XPU)|Autograd|Meta|Composite\w+"
)


def cuda_kernels(module: ir.Module, text: str) -> Iterator[str]:
    """Yield the functions of a module that are kernels for CUDA alone: registered by decorators only, or by
    name, `library.impl("add", add_on_cuda, "CUDA")`, and used for nothing else. `text` is the module's."""
    if not _MENTIONED.search(text):  # as nearly always
        return
    calls = [call for call in of_kind(module, ir.Call) if _is_for_cuda(call)]
    given = [path_of(arg.value) for call in calls for arg in call.args]
    for node in module.body:
        if not isinstance(node, ir.FunctionDef):
            continue
        if node.decorators:
            if all(isinstance(one, ir.Call) and _is_for_cuda(one) for one in node.decorators):
                yield node.name
        elif node.name in given:
            uses = [name for name in of_kind(module, ir.Name) if name.id == node.name]
            if len(uses) == given.count(node.name):
                yield node.name


def _is_for_cuda(call: ir.Call) -> bool:
    """Return whether a call registers a kernel, and CUDA is its only device type."""
    if path_of(call.func).rpartition(".")[2] not in _REGISTERS:
        return False
    words = [word for arg in call.args for word in _texts(arg.value)]
    return any(map(_CUDA.fullmatch, words)) and not any(map(_OTHER.fullmatch, words))


def _texts(node: ir.Expr) -> Iterator[str]:
    """Yield the string that an expression is, or those in a list."""
    for part in node.elements if isinstance(node, ir.Sequence) else (node,):
        if isinstance(part, ir.Const) and isinstance(part.value, str):
            yield part.value

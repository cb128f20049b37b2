"""Infer the type of a method's receiver from its construction."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.detectors.loader_iterators import iterates_loader
from xlamig.flow.model.kinds import is_module_class, made_by
from xlamig.flow.model.local_values import only_result
from xlamig.flow.model.scopes import Binding, Scope, path_of
from xlamig.flow.model.site import Analysis
from xlamig.knowledge import signatures

_RECEIVERS = {"module": "Module", "tensor": "Tensor"}
_RETURN_THEIR_RECEIVER = frozenset(
    {"to", "cuda", "cpu", "half", "bfloat16", "float", "double", "train", "eval", "requires_grad_", "apply"}
)
_ANNOTATED = {"torch.Tensor": "Tensor", "torch.nn.Module": "Module"}
_MAX_DEPTH = 20
_MAX_CLASSES = 20  # looked at for one receiver


def receiver_of(node: ir.Expr, method: str, scope: Scope, analysis: Analysis, depth: int = 0) -> str | None:
    """ "Tensor", "Module", "LoaderIterator" or "unknown"; None if `method` is not torch's there: a class of
    the project defines it, or the receiver is a module, a string or a number."""
    if depth > _MAX_DEPTH:
        return "unknown"
    match node:
        case ir.Const() | ir.FString() | ir.Sequence() | ir.Dict() | ir.Comprehension() | ir.BigLiteral():
            return None
        case ir.Call():
            return _result_of(node, method, scope, analysis, depth)
        case ir.Name(id="self") if scope.class_scope is not None:
            return _instance_of(scope.class_scope, method, analysis)
        case ir.Name() | ir.Attribute():
            return _variable(node, method, scope, analysis, depth)
        case ir.Binary() | ir.Subscript():
            return "unknown"
    return "unknown"


def _result_of(node: ir.Call, method: str, scope: Scope, analysis: Analysis, depth: int) -> str | None:
    if iterates_loader(node, scope, analysis):
        return "LoaderIterator"
    dotted = analysis.names.dotted(node.func, scope)
    if dotted is not None:
        made = _RECEIVERS.get(made_by(dotted))
        if made is not None:
            return made
    if isinstance(node.func, ir.Name):
        for binding in scope.lookup(node.func.id):
            if isinstance(binding.node, ir.ClassDef):
                return _defines(binding.node, method, binding.scope, analysis, set())
    if returned := only_result(node, scope):
        return receiver_of(returned[0], method, returned[1], analysis, depth + 1)
    export = analysis.names.export(node.func, scope)
    if export is not None and export.kind == "class":
        if method in export.members:
            return None
        return "Module" if any(map(is_module_class, export.value.split())) else "unknown"
    if dotted is not None and export is None and signatures.signature(f"Module.{method}") is None:
        return None if _is_of_library_class(dotted) else "unknown"
    if isinstance(node.func, ir.Attribute) and dotted is None:  # a library may return anything
        receiver = receiver_of(node.func.value, method, scope, analysis, depth + 1)
        return receiver if receiver is None or node.func.attr in _RETURN_THEIR_RECEIVER else "unknown"
    return "unknown"


def _is_of_library_class(dotted: str) -> bool:
    """Return whether a class of another library than torch's makes an object: `Session(path)`,
    `onnxruntime.OrtValue.ortvalue_from_numpy(x)`. It may be a module, but no tensor."""
    library, _, path = dotted.partition(".")
    *owners, name = path.split(".")
    is_class = name[:1].isupper() or bool(owners and owners[-1][:1].isupper())
    return is_class and bool(library) and not library.startswith("torch")


def _variable(
    node: ir.Name | ir.Attribute, method: str, scope: Scope, analysis: Analysis, depth: int
) -> str | None:
    path = path_of(node)
    if not path:
        return "unknown"
    known, key = analysis.receivers, (scope, path, method)
    if key not in known:
        known[key] = "unknown"  # as far as it is made from itself
        bindings = scope.find(path) or _library(path, scope)
        kinds = {_bound(binding, method, analysis, depth) for binding in bindings}
        known[key] = kinds.pop() if len(kinds) == 1 else "unknown"
    return known[key]


def _library(path: str, scope: Scope) -> list[Binding]:
    """Where `np.linalg` comes from: its `import numpy as np`."""
    root = scope.lookup(path.partition(".")[0])
    return root if all(b.kind == "import" and "." not in b.dotted for b in root) else []


def _bound(binding: Binding, method: str, analysis: Analysis, depth: int) -> str | None:
    if binding.kind == "import":
        return "unknown" if binding.dotted.rpartition(".")[2].islower() and "." in binding.dotted else None
    if binding.kind in ("class", "function"):
        return None
    if binding.kind == "value" and binding.value is not None:
        return receiver_of(binding.value, method, binding.scope, analysis, depth + 1)
    if binding.annotation is not None:
        return _ANNOTATED.get(analysis.names.dotted(binding.annotation, binding.scope) or "", "unknown")
    return "unknown"


def _instance_of(owner: Scope, method: str, analysis: Analysis) -> str | None:
    if not isinstance(owner.node, ir.ClassDef) or owner.parent is None:
        return "unknown"
    return _defines(owner.node, method, owner.parent, analysis, set())


def _defines(node: ir.ClassDef, method: str, scope: Scope, analysis: Analysis, seen: set[int]) -> str | None:
    """None if the class has a method of this name; "Module" if it is an nn.Module."""
    if any(_gives_name(statement, method) for statement in node.body):
        return None
    kind = "unknown"
    seen.add(id(node))
    for base in node.args:
        dotted = analysis.names.dotted(base.value, scope) or ""
        if is_module_class(dotted):
            kind = "Module"
        for binding in scope.lookup(path_of(base.value)):
            if (
                isinstance(binding.node, ir.ClassDef)
                and id(binding.node) not in seen
                and len(seen) < _MAX_CLASSES
            ):
                inherited = _defines(binding.node, method, binding.scope, analysis, seen)
                if inherited is None:
                    return None
                kind = inherited if inherited == "Module" else kind
        export = analysis.names.export(base.value, scope)
        if export is not None and export.kind == "class":
            if method in export.members:
                return None
            kind = "Module" if any(map(is_module_class, export.value.split())) else kind
    return kind


def _gives_name(node: ir.Stmt, name: str) -> bool:
    if isinstance(node, ir.Assign):
        return any(path_of(target) == name for target in node.targets)
    return isinstance(node, ir.FunctionDef) and node.name == name

"""Models in evaluation mode through which a function computes the gradient of their input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xlamig import ir
from xlamig.flow.detectors.frozen_norms import frozen_norm
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext

_METHODS = ("unknown.eval", "Module.eval")
_WITHOUT = (".detach(", ".data", ".item(", ".cpu(", ".numpy(")
_UNRECORDED = ("no_grad(", "inference_mode(", "set_grad_enabled(False")


def in_evaluation_mode(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proofs "batch-norm" and "input-gradient" of a call of `eval`."""
    frozen = frozen_norm(name, node, place, analysis)
    return {**frozen, **gradient_of_input(name, node, place, analysis)}


def gradient_of_input(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "input-gradient": between `model.eval()` and the next `model.train()` of a function, the
    model is called with a tensor that requires a gradient, and the gradient of its result is computed."""
    if name not in _METHODS or node.args or not isinstance(node.func, ir.Attribute):
        return {}
    model = path_of(node.func.value)
    root = place.scope.node or analysis.module
    if not model or model == "self":
        return {}
    branches = [above for above in ir.path_down(root, node) if isinstance(above, ir.If)]
    if any(_is_method(one, model, "train") for above in branches for one in ir.walk(above)):
        return {}
    nodes = [one for one in ir.walk(root) if one.start > node.end]
    end = min((one.start for one in nodes if _is_method(one, model, "train")), default=root.end)
    nodes = [one for one in nodes if one.end <= end and not ir.in_branches(root, node, one)]
    inputs = _closure(root, (), set(_leaves(root)), analysis)
    calls = [
        one
        for one in nodes
        if isinstance(one, ir.Call)
        and path_of(one.func) in (model, f"{model}.forward")
        and any(_holds(arg.value, inputs) for arg in one.args)
        and not _is_unrecorded(root, one, analysis)
    ]
    if not calls:
        return {}
    results = _closure(root, calls, set(), analysis)
    losses = filter(None, map(_differentiated, nodes))
    found = any(_holds(one, results) or _is_computed(one, calls, analysis) for one in losses)
    return {"input-gradient": model} if found else {}


def _is_method(node: ir.Node, owner: str, method: str) -> bool:
    match node:
        case ir.Call(func=ir.Attribute(value=value, attr=attr)):
            return attr == method and path_of(value) == owner
    return False


def _leaves(root: ir.Node) -> Iterator[str]:
    """Yield the names of tensors that the function lets have a gradient."""
    for node in ir.walk(root):
        match node:
            case ir.Call(func=ir.Attribute(value=value, attr="requires_grad_"), args=args):
                if not any(isinstance(a.value, ir.Const) and a.value.value is False for a in args):
                    yield path_of(value)
            case ir.Assign(targets=targets, value=ir.Const(value=True)):
                for target in targets:
                    if isinstance(target, ir.Attribute) and target.attr == "requires_grad":
                        yield path_of(target.value)
            case ir.Assign(targets=(target,), value=value) if any(map(_requires_gradient, ir.walk(value))):
                yield path_of(target)
            case ir.Call(func=ir.Attribute(value=of, attr="grad"), args=(_, wanted, *_)):
                if path_of(of).endswith("autograd"):
                    inputs = wanted.value
                    parts = inputs.elements if isinstance(inputs, ir.Sequence) else (inputs,)
                    yield from map(path_of, parts)


def _requires_gradient(node: ir.Node) -> bool:
    match node:
        case ir.Call(func=ir.Attribute(attr="requires_grad_"), args=()):
            return True
        case ir.Arg(keyword="requires_grad", value=ir.Const(value=True)):
            return True
    return False


def _closure(root: ir.Node, sources: Sequence[ir.Call], names: set[str], analysis: Analysis) -> set[str]:
    """Return the names that hold what is computed from a source or one of the names, with its gradient."""
    names.discard("")
    assigned = [node for node in ir.walk(root) if isinstance(node, ir.Assign)]
    before = -1
    while before < len(names):
        before = len(names)
        for node in assigned:
            if _is_computed(node.value, sources, analysis) or (
                _holds(node.value, names) and not _cuts(analysis.text[node.value.start : node.value.end])
            ):
                names.update(filter(None, map(path_of, _parts(node.targets))))
    return names


def _is_computed(value: ir.Expr, sources: Sequence[ir.Call], analysis: Analysis) -> bool:
    inside = (source for source in sources if ir.encloses(value, source))
    return any(not _cuts(analysis.text[source.end : value.end]) for source in inside)


def _cuts(text: str) -> bool:
    return any(part in text for part in _WITHOUT)


def _parts(targets: tuple[ir.Expr, ...]) -> Iterator[ir.Expr]:
    for target in targets:
        yield from target.elements if isinstance(target, ir.Sequence) else (target,)


def _holds(value: ir.Expr, names: set[str]) -> bool:
    return any(isinstance(one, ir.Name | ir.Attribute) and path_of(one) in names for one in ir.walk(value))


def _differentiated(node: ir.Node) -> ir.Expr | None:
    """Return `loss` of `loss.backward()` and of `torch.autograd.grad(loss, x)`."""
    match node:
        case ir.Call(func=ir.Attribute(value=value, attr="backward")):
            return value
        case ir.Call(func=ir.Attribute(value=of, attr="grad"), args=(ir.Arg(value=value), *_)):
            return value if path_of(of).endswith("autograd") else None
    return None


def _is_unrecorded(root: ir.Node, node: ir.Node, analysis: Analysis) -> bool:
    """Return whether a call stands in a `with torch.no_grad()`."""
    inner = [above for above in ir.path_down(root, node) if isinstance(above, ir.With)]
    texts = [analysis.text[item.value.start : item.value.end] for above in inner for item in above.items]
    grading = [text for text in texts if "grad" in text or "inference_mode" in text]
    return bool(grading) and any(part in grading[-1] for part in _UNRECORDED)

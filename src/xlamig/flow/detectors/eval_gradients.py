"""Models in evaluation mode: those that pass on the gradient of their input, and layers without training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from xlamig import ir
from xlamig.flow.detectors.frozen_norms import frozen_norm
from xlamig.flow.detectors.proofs import only_evaluates
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values

_METHODS = ("unknown.eval", "Module.eval")


def in_evaluation_mode(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proofs "batch-norm" and "input-gradient" of a call of `eval`, and "evaluates" of a layer."""
    frozen = frozen_norm(name, node, place, analysis)
    layer = evaluated_layer(node, place, analysis)
    return {**frozen, **gradient_of_input(name, node, place, analysis), **layer}


def evaluated_layer(node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "evaluates" of a layer with sparse gradients: its function puts it into evaluation
    mode, and the file trains nothing."""
    root = place.scope.node
    if not any(arg.keyword == "sparse" for arg in node.args) or not isinstance(root, ir.FunctionDef):
        return {}
    if not only_evaluates(analysis):
        return {}
    made = next(
        (
            path_of(one.targets[0])
            for one in ir.path_down(root, node)
            if isinstance(one, ir.Assign) and len(one.targets) == 1
        ),
        "",
    )
    puts = (one.func for one in ir.walk(root) if isinstance(one, ir.Call) and not one.args)
    set_so = any(isinstance(f, ir.Attribute) and f.attr == "eval" and path_of(f.value) == made for f in puts)
    return {"evaluates": "yes"} if made and set_so else {}


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
    inputs = _closure(root, (), set(_leaves(root)))
    calls = [
        one
        for one in nodes
        if isinstance(one, ir.Call)
        and path_of(one.func) in (model, f"{model}.forward")
        and any(_holds(arg.value, inputs) for arg in one.args)
        and not _is_unrecorded(root, one)
    ]
    if not calls:
        return {}
    results = _closure(root, calls, set())
    losses = filter(None, map(_differentiated, nodes))
    found = any(_holds(one, results) or _is_computed(one, calls) for one in losses)
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


def _closure(root: ir.Node, sources: Sequence[ir.Call], names: set[str]) -> set[str]:
    """Return the names that hold what is computed from a source or one of the names, with its gradient."""
    names.discard("")
    assigned = [node for node in ir.walk(root) if isinstance(node, ir.Assign)]
    before = -1
    while before < len(names):
        before = len(names)
        for node in assigned:
            if _is_computed(node.value, sources) or (
                _holds(node.value, names) and not _cuts(ir.walk(node.value))
            ):
                names.update(filter(None, map(path_of, _parts(node.targets))))
    return names


def _is_computed(value: ir.Expr, sources: Sequence[ir.Call]) -> bool:
    inside = (source for source in sources if ir.encloses(value, source))
    return any(not _cuts(n for n in ir.path_down(value, source) if n is not source) for source in inside)


def _cuts(nodes: Iterable[ir.Node]) -> bool:
    """Return whether one of the nodes leaves the gradient out: `x.detach()`."""
    cut = values.names("gradients", "cut")
    return any(isinstance(node, ir.Attribute) and node.attr in cut for node in nodes)


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


def _is_unrecorded(root: ir.Node, node: ir.Node) -> bool:
    """Return whether a call stands in a `with torch.no_grad()`."""
    items = (
        item.value for above in ir.path_down(root, node) if isinstance(above, ir.With) for item in above.items
    )
    answers = [answer for item in items if (answer := _records(item)) is not None]
    return bool(answers) and not answers[-1]  # the innermost decides


def _records(manager: ir.Expr) -> bool | None:
    """Return whether a context manager records gradients; None if it leaves that as it is."""
    if not isinstance(manager, ir.Call):
        return None
    asked = [arg.value.value for arg in manager.args if isinstance(arg.value, ir.Const)]
    last = path_of(manager.func).rpartition(".")[2]
    if last in values.names("gradients", "unrecorded"):
        return asked == [False]
    return asked != [False] if last in values.names("gradients", "recorded") else None

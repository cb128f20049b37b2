"""Tell where `torch.load` puts tensors without CUDA: on the CPU, which is right for XLA too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xlamig import ir
from xlamig.flow.detectors.proofs import moved_later
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext

_LOCATION = "map_location"


def of_load(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """Return the proofs of a load: "moved-later", and "cpu-without-cuda" where a test for CUDA chooses
    between a GPU and the CPU for loads alone."""
    found = dict(moved_later(name, node, place, analysis))
    given = next((arg.value for arg in node.args if arg.keyword == _LOCATION), None)
    chosen = _choice(given, place, analysis) if given is not None else None
    local = chosen is not None and locates_load(chosen, place, analysis.module)
    if chosen is not None and local and _is_cpu_without_cuda(chosen, place, analysis):
        found["cpu-without-cuda"] = "yes"
    return found


def locates_load(choice: ir.IfExp, place: CodeContext, module: ir.Module) -> bool:
    """Return whether a choice of a device is the `map_location` of a call, or the value of a local name that
    stands nowhere else: nobody who ports the program has it choose XLA."""
    root = place.scope.node or module
    for above in reversed([*ir.path_down(root, choice)]):
        match above:
            case ir.Call(args=args) if path_of(above.func).rpartition(".")[2] != "device":
                around = next((arg for arg in args if ir.encloses(arg.value, choice)), None)
                return around is not None and around.keyword == _LOCATION
            case ir.Call():
                continue
            case ir.Assign(targets=(ir.Name(id=name),)) if isinstance(root, ir.FunctionDef):
                return _is_only_location(name, root)
        if isinstance(above, ir.Stmt | ir.IfExp):
            return False
    return False


def locate_loads(branches: Iterable[ir.Stmt], place: CodeContext) -> bool:
    """Return whether all that the branches of a test do is to assign to local names that stand nowhere but as
    the `map_location` of calls."""
    function = place.scope.node
    return isinstance(function, ir.FunctionDef) and all(
        isinstance(s, ir.Assign)
        and all(isinstance(t, ir.Name) and _is_only_location(t.id, function) for t in s.targets)
        for s in branches
    )


def _is_only_location(name: str, function: ir.FunctionDef) -> bool:
    """Return whether all that a function does with a name is to assign to it and to load to it."""
    targets = {id(t) for n in ir.walk(function) if isinstance(n, ir.Assign) for t in n.targets}
    calls = (n for n in ir.walk(function) if isinstance(n, ir.Call))
    loads = {id(arg.value) for call in calls for arg in call.args if arg.keyword == _LOCATION}
    uses = {id(n) for n in ir.walk(function) if isinstance(n, ir.Name) and n.id == name}
    return bool(uses & loads) and uses <= targets | loads


def _choice(node: ir.Expr, place: CodeContext, analysis: Analysis, named: bool = True) -> ir.IfExp | None:
    """Return the ternary that a location is, also within `torch.device`; where it may be `named`, of the only
    value of a name."""
    match node:
        case ir.IfExp():
            return node
        case ir.Call(args=(ir.Arg(value=inner),)) if (
            analysis.names.dotted(node.func, place.scope) == "torch.device"
        ):
            return _choice(inner, place, analysis, named)
        case ir.Name(id=name) if named:
            bound = place.scope.bindings.get(name, [])
            value = bound[0].value if len(bound) == 1 else None
            return _choice(value, place, analysis, named=False) if value is not None else None
    return None


def _is_cpu_without_cuda(choice: ir.IfExp, place: CodeContext, analysis: Analysis) -> bool:
    asked = analysis.values.of(choice.test, place.scope)
    other = choice.body if asked.negated else choice.orelse
    on_cpu = analysis.values.of(other, place.scope).value.value == "cpu"
    return on_cpu and asked.value.kind == "cuda-test" and asked.availability

"""Layers of torch whose forward passes do something that a rule knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from xlamig import ir
from xlamig.facts import ApiUse
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import (
    LIKELY,
    POSSIBLE,
    AbstractValue,
    LibraryObject,
    Residence,
    TorchModule,
    alternatives,
    element_of,
    placed,
)
from xlamig.flow.interp.frames import ClassInfo, modules_of
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.kinds import is_wrapper_class
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table

_CONTAINERS = frozenset({"Module", "ModuleDict", "ModuleList", "Sequential"})
_COMPUTED = "part"  # stands for an attribute whose name is computed


def record_forward(state: State, module: AbstractValue, place: str, node: ir.Call) -> None:
    """Record what the call of a layer runs on the device, unless the layer is made and called at once."""
    if place == "host" or not isinstance(module.trait, TorchModule) or isinstance(node.func, ir.Call):
        return
    sure = min(module.sure, LIKELY if place == "device" or module.place != "host" else POSSIBLE)
    if any(_class_name(ref) != module.trait.class_name for ref in alternatives(module.ref)):
        sure = POSSIBLE
    spelled = short(state.source(node.func))
    for name in module.trait.computes:
        if state.names.interest.wants(name):
            known = name == module.trait.weight  # arguments decide what a layer does, and are not kept
            other = known and any(
                not (isinstance(ref, str) and ref.endswith(name)) for ref in alternatives(module.ref)
            )
            state.record(
                ApiUse, node, POSSIBLE if other else sure,
                name=name, spelled=spelled, via="forward", complete=known,
            )  # fmt: skip


def record_parts(state: State, container: AbstractValue, place: str, node: ir.Call) -> None:
    """Record what the layers of torch run that a Sequential was given, `nn.Sequential(*layers)`: all of them,
    in an unknown order."""
    held = container.element
    for ref in modules_of(held.ref) if held is not None else ():
        made, _, weight = ref.partition(" ") if isinstance(ref, str) else ("", "", "")
        if held is not None and "#" in made:
            part = held.replace(ref=ref, trait=TorchModule(_class_name(made), weight))
            record_forward(state, part, place, node)


def record_library_call(state: State, module: AbstractValue, args: Args, node: ir.Call) -> None:
    """Record that an object of another library's class gets a tensor of the device."""
    if not isinstance(module.trait, LibraryObject) or not isinstance(module.ref, str):
        return
    sure = max((min(t.sure, LIKELY) for t in args.tensors() if t.place == "device"), default=None)
    if sure is not None and state.names.interest.wants(module.ref):
        spelled = short(state.source(node.func))
        state.record(ApiUse, node, sure, name=module.ref, spelled=spelled, via="forward", complete=False)


def is_part(state: State, node: ir.Call) -> bool:
    """Return whether it is no call of a whole model: `self.attention(x)` in a module's own method, or in a
    function that is given the module as `self`."""
    owner, itself = state.frame.owner, state.env.get("self")
    if owner is None and (itself is None or itself.kind != "module"):
        return False
    if owner is not None and not owner.is_module:
        return False
    path = _base_path(node.func).removesuffix(".forward")
    made = state.frame.scope.lookup(path) if path else []
    if len(made) == 1 and isinstance(made[0].value, ir.Subscript | ir.Call):  # `layer = self.layers[i]`
        path = _base_path(made[0].value)
    return path.startswith("self.") and not table.name_like("module").search(path.rpartition(".")[2])


def on_device(result: AbstractValue) -> bool:
    """Return whether what a module gives is a tensor that may lie on the device, or holds one."""
    parts = result.items or (element_of(result),) if result.kind == "sequence" else (result,)
    return any(part.kind == "tensor" and part.place != "host" for part in parts)


def call_effect(state: State, node: ir.Call) -> Effect:
    """Return what the call of a module, or of its `forward`, is."""
    return Effect.PART_CALL if is_part(state, node) else Effect.MODEL_CALL


def _base_path(node: ir.Expr) -> str:
    """Return the path of the indexed object: "self.layers" of `self.layers[i]`, "self.norm" of
    `getattr(self, f"norm{i}")`."""
    while isinstance(node, ir.Subscript):
        node = node.value
    match node:
        case ir.Call(func=ir.Name(id="getattr"), args=(owner, *_)):
            return f"{path_of(owner.value)}.{_COMPUTED}"
    return path_of(node)


def is_wrapper(info: ClassInfo) -> bool:
    """Return whether objects of a class run a module that they are given, as `nn.DataParallel`."""
    return any(is_wrapper_class(name) for cls in info.lineage() for name in cls.outside)


def wrapped_module(module: AbstractValue) -> AbstractValue | None:
    """Return the module that an object of a class such as `MyParallel(nn.DataParallel)` runs."""
    info = module.ref
    if not isinstance(info, ClassInfo) or not is_wrapper(info):
        return None
    if any("forward" in cls.methods for cls in info.lineage()):
        return None
    held = info.attributes.get("module")
    return placed(held, module) if held is not None and held.kind == "module" else None


def with_weight_by(function: str, module: AbstractValue, args: Args) -> AbstractValue:
    """Return the layer whose weight a function of torch computes in each forward pass; with `dim=None` that
    takes nothing but elementwise operations."""
    dim = args.get(2, "dim")
    if not isinstance(module.trait, TorchModule) or (dim is not None and dim.kind == "none"):
        return module
    ref = f"{module.ref} {function}" if isinstance(module.ref, str) else module.ref
    return module.replace(trait=replace(module.trait, weight=function), ref=ref)


def _class_name(ref: object) -> str:
    """Return the class of a layer of torch: "Conv1d" of "torch.nn.Conv1d#120"; "" for one of a project."""
    return ref.partition("#")[0].rpartition(".")[2] if isinstance(ref, str) else ""


def has_parameters(module: AbstractValue) -> bool:
    """Return whether a layer computes with parameters: its class takes the device that they are made on."""
    if not isinstance(module.trait, TorchModule):
        return True
    known = signatures.signature(f"torch.nn.{module.trait.class_name}")
    return known is not None and ("device" in known.positional or "device" in known.keywords)


def holds_others(module: AbstractValue) -> bool:
    """Return whether a module of torch is there to hold other modules."""
    return isinstance(module.trait, TorchModule) and module.trait.class_name in _CONTAINERS


def sure_of_result(module: AbstractValue, place: Residence, inputs: Iterable[AbstractValue]) -> int:
    """Return how sure it is that the result of a layer is a tensor in a place. A layer with parameters there
    takes nothing but tensors, whatever is known of its inputs."""
    beside = [thing.sure for thing in inputs if thing.place == place]
    if beside and module.place == place and has_parameters(module):
        beside.append(min(module.sure, LIKELY))
    return max(beside, default=module.sure)


def place_without_parameters(module: AbstractValue, args: Args) -> Residence:
    """Return where the result of a layer is that has no parameters and was not moved: where its inputs are;
    "" for any other module."""
    places = {thing.place for thing in args.tensors()}
    if module.place != "host" or holds_others(module) or has_parameters(module) or not places:
        return ""
    return "device" if "device" in places else "host" if places == {"host"} else "either"

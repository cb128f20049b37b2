"""Objects and classes that configurations and options name: `hydra.utils.instantiate(cfg.model)`."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.alternatives import several
from xlamig.flow.interp.domain import LIKELY, MAX_ALTERNATIVES, TOP, AbstractValue, Mark, join_all
from xlamig.flow.interp.frames import ClassInfo, class_of
from xlamig.flow.interp.state import State
from xlamig.flow.model.registries import BELOW, BY_NAME
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


def configured(state: State, node: ir.Call) -> AbstractValue | None:
    """Return an object of the class that a configuration names for what a call makes; None for another call,
    and where no configuration names one. No constructor runs: what the configuration gives it is not read."""
    if path_of(node.func).rpartition(".")[2] not in table.names("configured", "makers") or not node.args:
        return None
    part = _part_named(node.args[0].value)
    classes = state.program.configured(state.names.module, part) if part else None
    if classes is None:
        return None
    made = [_object(class_of(one), state) for one in several(classes) or (classes,) if one.kind == "class"]
    return join_all(made) if made else None


def taken_by_name(state: State, name: ir.Expr | None) -> AbstractValue:
    """Return the class that a configuration or an option names where a program takes it from a module by its
    name: `getattr(models, cfg.model_type)`; TOP where none is named."""
    part = _part_named(name) if name is not None else ""
    classes = state.program.configured(state.names.module, BY_NAME + part) if part else None
    return classes or TOP


def take_subclass(state: State, asked: ir.Expr, base: ir.Expr) -> None:
    """Give a name that `issubclass` finds to be a class below another the classes of the project that are."""
    if isinstance(asked, ir.Name) and state.semantics.evaluate(asked).kind in ("unknown", "foreign"):
        part = path_of(base).rpartition(".")[2]
        if classes := state.program.configured(state.names.module, BELOW + part):
            state.put(asked.id, classes)


def one_of_few(state: State, namespace: AbstractValue, node: ir.Call) -> AbstractValue:
    """Return what a name that is not known takes from a module of the project which defines little:
    `getattr(metrics, name)`; TOP for other objects."""
    if namespace.trait is not Mark.NAMESPACE or not isinstance(namespace.ref, str):
        return TOP
    names = state.names.project.definitions(namespace.ref, state.names.module)
    few = names if len(names) <= MAX_ALTERNATIVES else ()
    return join_all(state.semantics.attribute(namespace, name, node) for name in few) if few else TOP


def called(state: State, func: ir.Expr) -> AbstractValue:
    """Return what a call calls, also what it takes from a namespace by a name: `globals()[args.model](4)`."""
    found = state.semantics.evaluate(func)
    if found.kind in ("unknown", "foreign") and isinstance(func, ir.Subscript) and _is_namespace(func.value):
        taken = taken_by_name(state, func.index[0])
        return found if taken.kind == "unknown" else taken
    return found


def _is_namespace(node: ir.Expr) -> bool:
    match node:
        case ir.Attribute(attr="__dict__") | ir.Call(func=ir.Name(id="globals" | "vars")):
            return True
    return False


def _object(info: ClassInfo, state: State) -> AbstractValue:
    place = state.default_place if info.is_module else ""
    return AbstractValue("module" if info.is_module else "instance", place, sure=LIKELY, ref=info)


def _part_named(node: ir.Expr) -> str:
    """Return the last name of a path in a configuration: `cfg.model`, `cfg["model"]`, `model`."""
    match node:
        case ir.Name(id=name) | ir.Attribute(attr=name):
            return name
        case ir.Subscript(index=(ir.Const(value=str(name)),)):
            return name
    return ""

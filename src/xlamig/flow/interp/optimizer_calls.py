"""Methods of optimizers and gradient scalers."""

from __future__ import annotations

from collections.abc import Callable

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import LIKELY, TOP, AbstractValue
from xlamig.flow.interp.frames import ClassInfo
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.setting import Setting
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect
from xlamig.knowledge import values as table


def call_optimizer(m: State, owner: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue:
    """Record what a method of an optimizer does; return its result."""
    if name == "step":
        m.updated(node)
        m.work(owner.place or "either")
        if node.args:  # a closure, which computes the gradients
            m.effects.add(Effect.BACKWARD)
            _run_closure(m, args, node)
    elif name == "zero_grad":
        m.effects.add(Effect.ZERO_GRAD)
    return TOP


def _run_closure(m: State, args: Args, node: ir.Call) -> None:
    """Run the function that an optimizer calls for a loss and its gradients, again and again: each time is a
    step, also where nothing around is a loop."""
    closure = args.get(0, "closure")
    if closure is None or closure.kind != "function":
        return
    why = Why("the optimizer calls it every step", (node.start, node.end))
    outside = m.frequency not in ("step", "interval")
    frequency = Setting(m, "frequency", "step" if outside else m.frequency)
    with frequency, Setting(m, "caller", (why,) if outside else m.caller):
        m.semantics.reach(closure, node, Args())


def run_own(
    m: State, owner: AbstractValue, name: str, node: ir.Call, run: Callable[[], AbstractValue]
) -> AbstractValue:
    """Run a method of an object of the project's class; return its result. The `step` of an optimizer updates
    the parameters, unless another one that it wraps has done so."""
    before = _updates(m)
    result = run()
    if name == "step" and is_own_optimizer(owner) and _updates(m) == before:
        m.updated(node)
        m.work("device")
    return result


def _updates(m: State) -> tuple[bool, ...]:
    return tuple(
        Effect.OPTIMIZER_STEP in some for some in (m.effects.must, m.effects.may, m.effects.repeated)
    )


def is_own_optimizer(owner: AbstractValue) -> bool:
    """Return whether an object is of a project's class that derives from an optimizer of a library."""
    lineage = owner.ref.lineage() if isinstance(owner.ref, ClassInfo) else ()
    outside = (base for cls in lineage for base in cls.outside)
    return any(base.endswith("Optimizer") or table.result_of(base) == "optimizer" for base in outside)


def made_of_parameters(m: State, moves: Moves, value: ir.Expr | None) -> AbstractValue | None:
    """Return the optimizer that an unknown function makes of a module's parameters, as a factory that
    settings name does: `instantiate(cfg.optimizer, params=model.parameters())`. None for any other value."""
    if not isinstance(value, ir.Call):
        return None
    calls = (arg.value for arg in value.args if isinstance(arg.value, ir.Call))
    asked = [call for call in calls if isinstance(call.func, ir.Attribute) and call.func.attr == "parameters"]
    given = [held for call in asked if (held := m.semantics.evaluate(call)).kind == "parameters"]
    for module in (module for held in given for module in held.items or ()):
        moves.depends(module, "optimizer", value)
    return AbstractValue("optimizer", given[0].place, sure=LIKELY) if given else None


def call_scaler(m: State, name: str, args: Args, node: ir.Call) -> AbstractValue:
    """Record what a method of a gradient scaler does; return its result."""
    if name == "step":
        m.updated(node)
    if name == "scale" and args.positional:
        return args.positional[0]
    return TOP


def call_update(m: State, args: Args, node: ir.Call) -> bool:
    """Record the update by an unknown object that is given a loss, then the optimizer, as timm's scalers are;
    return whether this is one."""
    loss = args.get(0)
    optimizer = args.get(1, "optimizer")
    if loss is None or optimizer is None or optimizer.kind != "optimizer":
        return False
    if loss.kind not in ("tensor", "unknown") or loss.place in ("", "host"):
        return False
    m.effects.add(Effect.BACKWARD)
    m.updated(node)
    m.work("device")
    return True

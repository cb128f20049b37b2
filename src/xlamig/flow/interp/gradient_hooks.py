"""Functions that the backward pass calls with the gradient of a tensor: `z.register_hook(solve)`."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import AbstractValue, Mark
from xlamig.flow.interp.setting import Setting
from xlamig.flow.interp.state import State


def run_gradient_hook(m: State, owner: AbstractValue, args: Args, node: ir.Call) -> None:
    """Run the function that a tensor gets as a hook: as often as it is given to a result, and every step for
    a parameter, which is given one once."""
    hook = args.get(0, "hook")
    if hook is None or hook.kind != "function":
        return
    gradient = AbstractValue("tensor", owner.place, sure=owner.sure, dtype=owner.dtype, shape=owner.shape)
    frequency = "step" if owner.trait is Mark.PARAMETER else m.frequency
    with Setting(m, "frequency", frequency), m.branch():
        m.semantics.reach(hook, node, Args([gradient]))

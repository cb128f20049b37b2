"""Calls of functions whose activations are computed again in the backward pass."""

from __future__ import annotations

from dataclasses import replace

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import AbstractValue
from xlamig.flow.interp.state import State

_OWN = frozenset({"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug"})


def run_checkpointed(m: State, args: Args, node: ir.Call) -> AbstractValue | None:
    """Return what `checkpoint(layer, x, sizes)` gives, the value of `layer(x, sizes)`; None where `layer` is
    not known."""
    match args.node(0):
        case ir.Attribute(value=owner, attr="__call__" | "forward"):
            callee = m.semantics.evaluate(owner)
        case None:
            return None
        case _:
            callee = args.positional[0]
    if callee.kind not in ("function", "module") or callee.ref is None:
        return None
    own = {name: value for name, value in args.keywords.items() if name not in _OWN}
    given = replace(args, positional=args.positional[1:], keywords=own, pairs=args.pairs[1:])
    return m.semantics.reach(callee, node, given)

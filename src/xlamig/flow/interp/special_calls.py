"""Functions of torch with an effect of their own: syncs, checks, copies, devices."""

from __future__ import annotations

from dataclasses import dataclass

from xlamig import ir
from xlamig.facts import DynamicShape
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import (
    CERTAIN,
    FOREIGN,
    LIKELY,
    NONE,
    POSSIBLE,
    AbstractValue,
    Mark,
    element_of,
    inside,
)
from xlamig.flow.interp.every_step import run_step_function
from xlamig.flow.interp.launched import run_launched
from xlamig.flow.interp.lengths import of_numbers
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.offloading import offloaded
from xlamig.flow.interp.reads import Reads, sureness
from xlamig.flow.interp.state import State
from xlamig.flow.interp.swapping import FLAG
from xlamig.flow.interp.type_tests import answer
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.known import short
from xlamig.knowledge import values as table

_OF_LIBRARIES = ("foreign", "module", "unknown")


def note_collective(state: State, owner: AbstractValue, name: str) -> None:
    """Note a method that all ranks have to call, of an object of a library: `accelerator.gather(x)`."""
    if name not in table.names("collectives", "methods") or owner.kind not in _OF_LIBRARIES:
        return
    if state.semantics.method_of(owner, name) is None:  # none that the project defines
        state.effects.add(Effect.COLLECTIVE)
        if name in table.names("boundaries", "methods"):
            _sync(state)


def _sync(state: State) -> None:
    state.effects.add(Effect.SYNC)
    _note_synced(state)


def _note_synced(state: State) -> None:
    state.synced, state.synced_alone = True, bool(state.one_rank)


@dataclass(eq=False, slots=True)
class SpecialCalls:
    m: State
    reads: Reads
    moves: Moves

    def call(self, name: str, args: Args, node: ir.Call) -> AbstractValue | None:
        """Return the result of such a function; None of another one."""
        run_step_function(self.m, name, args, node)
        run_launched(self.m, name, args, node)
        if name == "torch.device":
            return self._device(args)
        if name in ("torch.tensor", "torch.as_tensor"):
            self._read_elements(name, args)
        if name in table.names("program", "gradients"):
            self.m.effects.add(Effect.GRADIENT)
            return None
        if name in table.names("program", "default-device"):
            self._set_default(name, args)
            return NONE
        if name in table.names("waits", "calls"):
            self.m.wait()
            self.m.effects.add(*(Effect.WAIT,) * (name in table.names("waits", "boundaries")))
            return NONE
        if _checks_number(name) and args.positional:
            return self._checked(name, args, node)
        if name.startswith("math.") and args.positional and args.positional[0].kind == "tensor":
            self.reads.host(node, args.positional[0], "builtin", name, args.node(0))
            return AbstractValue("number", cause="read", sure=args.positional[0].sure)
        if name.startswith("math.") or table.result_of(name) == "of-numbers":
            return of_numbers(args.positional)
        if name == f"torch.__future__.{FLAG}":
            flag = args.get(0)
            self.m.swaps = flag is None or flag.const is not False
            return NONE
        detects = name.rpartition(".")[2] in table.names("torch", "detection")
        if detects and name.startswith(("torchvision.ops.", "torch.ops.torchvision.")):
            return self._detection(name, args, node)
        if name in table.names("boundaries", "xm-step"):
            self.m.updated(node, Effect.XLA_OPTIMIZER_STEP)
            barrier = args.keywords.get("barrier")
            if barrier is not None and barrier.const is True:
                _sync(self.m)
            return NONE
        if any(name in table.names("boundaries", kind) for kind in ("sync", "rendezvous")):
            return self._boundary(name, args)
        if name in table.names("cuda-tests", "available"):
            return AbstractValue("bool", trait=Mark.CUDA)
        if name in table.names("reads", "log-calls"):
            for arg, thing in args.pairs:
                self.reads.formatted(arg.value, thing, name, node)
            return NONE
        if name in table.names("reads", "copies"):
            for arg, thing in args.pairs:
                self.reads.host(node, inside(thing), "copy", name, arg.value)
            return FOREIGN
        asked = args.get(0) if name == "torch.is_tensor" else None
        return answer(asked) if asked is not None else offloaded(self.m, name, node)

    def _set_default(self, name: str, args: Args) -> None:
        """A default device, or type, is that of all tensors and modules made from here on."""
        given = args.get(0)
        if given is None:
            return
        text = str(given.ref if given.ref is not None else given.const)
        if "cuda" in text or given.place == "device":
            self.m.default_place = "device"
            if name in table.names("program", "default-type"):
                self.m.plain_place = "either"

    def _boundary(self, name: str, args: Args) -> AbstractValue | None:
        """Return the result of a call that ends a step, None of one that does more."""
        if name in table.names("boundaries", "rendezvous"):
            _sync(self.m)
            return None
        wait = args.keywords.get("wait")
        if (wait is not None and wait.const is True) or name.endswith(".wait"):
            self.m.wait()
        self.m.effects.repeat(Effect.SYNC)
        _note_synced(self.m)
        return AbstractValue("none", trait=Mark.STEP)

    def _checked(self, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """`math.isnan(loss)`, `math.isfinite(loss.item())`"""
        thing, given = args.positional[0], args.node(0)
        if thing.kind == "tensor" and given is not None and name.startswith("numpy."):
            self.reads.array(given, thing, name)
        elif thing.kind == "tensor":
            self.reads.host(node, thing, "nan-check", name, given)
        elif thing.cause == "read" and isinstance(args.node(0), ir.Call):
            tensor = AbstractValue("tensor", "device", sure=thing.sure, why=thing.why)
            self.reads.host(node, tensor, "nan-check", name, args.node(0))
        return AbstractValue("bool")

    def _detection(self, name: str, args: Args, node: ir.Call) -> AbstractValue:
        held = args.tensors()
        sure = max((sureness(thing) for thing in held), default=0)
        if sure > POSSIBLE:
            self.m.read(Effect.RESULT_READ)
        first = args.node(0)
        self.m.record(
            DynamicShape,
            node,
            sure,
            held[0].why if held else (),
            via="detection",
            operation=name,
            tensor=short(self.m.source(first)) if first is not None else "",
        )
        place = held[0].place if held else ""
        return AbstractValue(
            "tensor", place, sure=LIKELY, dtype="int" if name.endswith("nms") else "", cause="dynamic"
        )

    def _device(self, args: Args) -> AbstractValue:
        given = args.get(0, "type") or args.keywords.get("device")
        if given is not None and given.kind in ("text", "device"):
            sure = CERTAIN if given.place else LIKELY
            return AbstractValue("device", given.place or "device", sure=sure, trait=Mark.MADE)
        return AbstractValue("device", "device", sure=LIKELY, trait=Mark.MADE)

    def _read_elements(self, name: str, args: Args) -> None:
        """`torch.tensor([t, u])`, `torch.tensor([f(p) for p in parts])`: reads each of the tensors."""
        given = args.get(0, "data")
        first = args.node(0, "data")
        if given is None or given.kind != "sequence" or first is None:
            return
        if not isinstance(first, ir.Sequence) or not given.items:
            held = element_of(given)
            if held.kind == "tensor" and not held.loose:
                element = first.element if isinstance(first, ir.Comprehension) else first
                self.m.prove(element, all_tensors=held.sure == CERTAIN)
                self.reads.host(element, held, "builtin", name, element)
            return
        scalars = all(thing.kind == "tensor" and thing.scalar for thing in given.items)
        tensors = all(thing.kind == "tensor" and thing.sure == CERTAIN for thing in given.items)
        for element, thing in zip(first.elements, given.items, strict=False):
            self.m.prove(element, among_scalars=scalars, all_tensors=tensors)
            if thing.kind == "tensor":
                self.reads.host(element, thing, "builtin", name, element)


def _checks_number(name: str) -> bool:
    owner, _, function = name.rpartition(".")
    return owner in ("math", "numpy") and function in table.names("torch", "nan-checks")

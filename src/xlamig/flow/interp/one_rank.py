"""Find calls on one rank of functions that all ranks have to call, such as collectives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from xlamig import ir
from xlamig.facts import RankCall
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.carried_names import names_in
from xlamig.flow.interp.domain import LIKELY, MISSING, TOP, AbstractValue, Mark
from xlamig.flow.interp.on_host import note_written
from xlamig.flow.interp.portable import change_parts
from xlamig.flow.interp.setting import Setting
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect, Effects
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

REDUCED = "a collective writes this: "
OPEN_FILE = "open-file"
"""The `ref` of a file that is open for writing."""
_PLAIN = frozenset({"number", "bool", "text", "none"})
What = Literal["collective", "model", "parameters", "update", "save", "read", "file"]


class OneRank:
    """Reports the calls of one rank whose effects need all ranks. `state.one_rank` holds the reasons why only
    one rank reaches the current statement."""

    def __init__(self, state: State) -> None:
        self.m = state
        self._reported = 0  # calls that are reported at their own place, not at a caller's

    def watch(self, node: ir.Call, run: Callable[[ir.Call], AbstractValue]) -> AbstractValue:
        """Return the result of a call on one rank; report the call if its effects need all ranks."""
        called = (node.func, *(arg.value for arg in node.args))
        if self.m.on_all_ranks and any(path_of(part) in self.m.on_all_ranks for part in called):
            with Setting(self.m, "one_rank", ()):
                return run(node)
        m, reported, synced = self.m, self._reported, self.m.synced or self.m.settled
        with m.branch() as effects:
            result = run(node)
        m.effects.update(effects)
        effect = _all_ranks_need(effects, synced)
        if effect is None and not synced and effects.happens(Effect.UPDATE) and m.frequency == "step":
            effect = "update"
        if effect is None and not synced and effects.happens(Effect.READ) and self._takes_model(node):
            effect = "parameters"
        if effect is not None and reported == self._reported:
            self._record(node, effect)
        return result

    def _takes_model(self, node: ir.Call) -> bool:
        """Return whether an argument of the call is a model on the device."""
        names = (arg.value for arg in node.args if isinstance(arg.value, ir.Name | ir.Attribute))
        given = map(self.m.semantics.evaluate, names)
        return any(value.kind == "module" and value.place == "device" for value in given)

    def record_call(self, name: str, args: Args, node: ir.Call) -> None:
        """Add the effect of a call of torch or torch_xla, which is reported at its own place."""
        here = bool(self.m.one_rank)
        if name.startswith("torch.distributed."):
            note_written(self.m, args)
        if name.startswith("horovod.torch.") and args.positional:
            given = args.positional[0]
            self.m.prove(node, on_host=any(_parts(given)) and _is_on_host(given))
        if name in table.names("collectives", "fills"):
            self._fill(args, name in table.names("collectives", "calls"))
        if name in table.names("collectives", "calls"):
            self._reported += here
            self.m.effects.add(Effect.COLLECTIVE)
            if name in table.names("collectives", "in-place"):
                self._write_in_place(args)
            file = args.get(1, "file_or_path") if name.endswith(".save") else None
            if file is not None and file.ref == OPEN_FILE and not here:
                self._record(node, "file")
        elif name in table.names("collectives", "saves") and args.positional:
            saved = args.positional[0]
            if _is_on_device(saved):
                self.m.effects.add(Effect.SAVE)
            synced = self.m.settled or (self.m.synced and not self.m.synced_alone)
            if saved.kind == "unknown" and not saved.place and not synced:
                return  # a caller of which nothing is known neither proves nor refutes
            on_host = any(_parts(saved)) and _is_on_host(saved)
            saves_state = any(map(_is_state, _parts(saved)))
            host_data = _is_on_host(saved)
            self.m.prove(
                node,
                on_host=on_host,
                synced=synced,
                saves_state=saves_state,
                on_device=any(part.place == "device" and part.sure >= LIKELY for part in _parts(saved)),
                host_data=host_data,
                copied=on_host and all(map(_is_copy, _parts(saved))),
            )

    def _write_in_place(self, args: Args) -> None:
        for arg, thing in args.pairs:
            if thing.kind != "tensor":
                continue
            if path := path_of(arg.value):
                self.m.put(path, self.reduced_tensor(thing, arg))
            container, key = self._container_of(arg.value)
            if container:
                self.m.put(container, self._with_reduced(self.m.env.get(container, TOP), key, arg))

    def _container_of(self, written: ir.Expr) -> tuple[str, object]:
        """Return the path of what holds a tensor, and the key if it is known: `losses` for `losses["ce"]`,
        and for `value` in a loop over `losses.values()`."""
        match written:
            case ir.Subscript(value=container, index=(ir.Const(value=key),)):
                return path_of(container), key
            case ir.Subscript(value=container):
                return path_of(container), MISSING
            case ir.Name(id=name):
                for loop in reversed(self.m.loops):
                    if isinstance(loop.node, ir.For) and name in names_in(loop.node.target):
                        return _looped(loop.node.iter), MISSING
        return "", MISSING

    def _with_reduced(self, container: AbstractValue, key: object, node: ir.Node) -> AbstractValue:
        """Return a container one of whose tensors, or each, is the result of a collective."""
        fields = container.fields
        if fields is not None and isinstance(key, str) and key in fields:
            return container.replace(fields={**fields, key: self.reduced_tensor(fields[key], node)})
        if container.kind not in ("sequence", "mapping"):
            return container
        return self._all_reduced(container, node)

    def _all_reduced(self, thing: AbstractValue, node: ir.Node) -> AbstractValue:
        def reduced(part: AbstractValue) -> AbstractValue:
            return self.reduced_tensor(part, node) if part.kind == "tensor" else part

        return change_parts(thing, reduced)

    def _fill(self, args: Args, gathers: bool) -> None:
        """Let the tensors that a collective fills hold what the device computes: the host has no copy. They
        are its result where it `gathers` those of all ranks."""
        for arg, thing in args.pairs[:1]:
            if path := path_of(arg.value):
                filled = change_parts(thing, _filled)
                self.m.put(path, self._all_reduced(filled, arg) if gathers else filled)

    def reduced_tensor(self, tensor: AbstractValue, node: ir.Node) -> AbstractValue:
        """Return the result of a collective, which combines a tensor of every rank."""
        text = short(self.m.source(node))
        return tensor.replace(const=MISSING).with_reason(f"{REDUCED}`{text}`", (node.start, node.end))

    def record_read(self, node: ir.Node, thing: AbstractValue) -> None:
        """Record a read of the result of a collective that has not executed yet, or of a model's parameters,
        whose update may wait for a collective: a finding on one rank. The first is elsewhere an effect, which
        is a finding where a caller runs it on one rank."""
        if self.m.synced:
            return
        here = bool(self.m.one_rank)
        if any(why.message.startswith(REDUCED) for why in thing.why):
            if here:
                self._record(node, "read")
            else:
                self.m.effects.add(Effect.REDUCED_READ)
        elif here and thing.trait is Mark.STATE and thing.place == "device" and not self.m.settled:
            self._record(node, "parameters")

    def _record(self, node: ir.Node, effect: What) -> None:
        text = short(self.m.source(node.func if isinstance(node, ir.Call) else node))
        self._reported += 1
        self.m.record(RankCall, node, LIKELY, self.m.one_rank, effect=effect, callee=text)


def note_updated(m: State, written: ir.Expr, tensor: AbstractValue, method: str = "_") -> None:
    """Note that the program changes a tensor in place, by a method if one is named, if the tensor is a
    parameter or what a state_dict holds."""
    if not method.endswith("_") or method == "requires_grad_":
        return
    match written:
        case ir.Attribute(value=ir.Name() | ir.Attribute() as inner, attr="data"):
            tensor = m.semantics.evaluate(inner)
    if tensor.trait in (Mark.PARAMETER, Mark.STATE) and tensor.place != "host":
        m.effects.add(Effect.UPDATE)


def called_by_both(node: ir.If) -> frozenset[str]:
    """Return the names of what both branches of a test call: `train(loader, log)`, `train(loader, None)`; and
    of what one calls and the other has an object call: `closure()`, `optimizer.step(closure)`."""
    if not node.orelse:
        return frozenset()
    calls = [
        [call for statement in block for call in ir.walk(statement) if isinstance(call, ir.Call)]
        for block in (node.body, node.orelse)
    ]
    here, there = ({path_of(call.func) for call in found} for found in calls)
    given, given_there = ({path_of(arg.value) for call in found for arg in call.args} for found in calls)
    return frozenset(here & (there | given_there) | there & given) - {""}


def _is_on_device(saved: AbstractValue) -> bool:
    """Return whether a value holds a tensor of the device."""
    return any(part.place in ("device", "either") and part.sure >= LIKELY for part in _parts(saved))


def _is_on_host(saved: AbstractValue, depth: int = 3) -> bool:
    """Return whether nothing in a value is a tensor of the device, or may be one."""
    if saved.kind in ("tensor", "module"):
        return saved.place == "host"
    if saved.kind not in ("sequence", "mapping"):
        return saved.kind in _PLAIN
    held = (*(saved.items or ()), *(saved.fields or {}).values())
    held += (saved.element,) if saved.element is not None else ()
    return bool(depth) and all(_is_on_host(part, depth - 1) for part in held)


def _is_state(part: AbstractValue) -> bool:
    """Return whether a part of what is saved is the state of a module, or a whole module on the device."""
    if part.kind == "module":
        return part.place == "device" and part.sure >= LIKELY
    return part.trait is Mark.STATE and part.place != "host"


def _is_copy(part: AbstractValue) -> bool:
    """Return whether a part of what is saved is a tensor, and not the entry of a state itself."""
    return part.kind == "tensor" and part.trait is not Mark.STATE


def _parts(value: AbstractValue, depth: int = 3) -> Iterator[AbstractValue]:
    """The tensors and modules that a value holds."""
    if value.kind in ("tensor", "module"):
        yield value
    elif depth:
        element = (value.element,) if value.element is not None else ()
        for part in (*(value.items or ()), *(value.fields or {}).values(), *element):
            yield from _parts(part, depth - 1)


def _all_ranks_need(effects: Effects, synced: bool) -> What | None:
    if effects.happens(Effect.COLLECTIVE):
        return "collective"
    if synced:
        return None
    if effects.happens(Effect.SAVE):
        return "save"
    runs = effects.happens(Effect.MODEL_CALL, Effect.STEP_LOOP) and effects.happens(Effect.WORK)
    if runs:
        return "model"
    return "read" if effects.happens(Effect.REDUCED_READ) else None


def _looped(over: ir.Expr) -> str:
    """Return the path of the container whose elements a loop goes through, "" for other loops."""
    match over:
        case ir.Call(func=ir.Attribute(value=container, attr="values" | "items"), args=()):
            return path_of(container)
        case ir.Call(func=ir.Name(id="enumerate" | "list" | "tuple"), args=(ir.Arg(value=inner), *_)):
            return _looped(inner)
    return path_of(over)


def _filled(thing: AbstractValue) -> AbstractValue:
    return thing.replace(const=MISSING) if thing.kind == "tensor" else thing

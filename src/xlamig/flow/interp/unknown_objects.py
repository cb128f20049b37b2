"""Methods of objects of unknown type."""

from __future__ import annotations

from dataclasses import dataclass

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.interp.alternatives import with_identity
from xlamig.flow.interp.arguments import Args, destination
from xlamig.flow.interp.distributions import Distributions
from xlamig.flow.interp.domain import (
    BOOL,
    FOREIGN,
    LIKELY,
    MISSING,
    NONE,
    NUMBER,
    ON_HOST,
    POSSIBLE,
    TEXT,
    TOP,
    AbstractValue,
    Mark,
    as_tensor,
    sequence,
)
from xlamig.flow.interp.kept import kept_entry
from xlamig.flow.interp.libraries import Libraries
from xlamig.flow.interp.modules import Modules
from xlamig.flow.interp.opaque_calls import OpaqueCalls
from xlamig.flow.interp.optimizer_calls import call_optimizer, call_scaler
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.results import of_unknown_method
from xlamig.flow.interp.state import State
from xlamig.flow.interp.tensors import Tensors
from xlamig.flow.interp.transfers import is_of_loop_target, move_in_place
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.kinds import is_optimizer_name
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


@dataclass(eq=False, slots=True)
class UnknownObjects:
    m: State
    reads: Reads
    tensors: Tensors
    modules: Modules
    opaque: OpaqueCalls
    libraries: Libraries
    distributions: Distributions

    def of_foreign(self, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """Return the value of a call of a method of another library's object."""
        if name in table.names("reads", "writers"):
            self.record_formatted(args, node, name)
        if name in table.names("reads", "plots"):
            self.reads.arrays(args, name)
        if name == "item":
            return NUMBER
        if (updated := self._updated(name, args, node)) is not None:
            return updated
        if name == "to" and destination(name, args) is not None:  # only tensors, or a batch, move
            return self.call(TOP, name, args, node)
        return FOREIGN

    def register_modules(self, node: ir.Call, args: Args) -> AbstractValue:
        """Keep `name=value` of `self.register_modules(...)` as attributes."""
        assert isinstance(node.func, ir.Attribute)
        for name, value in args.keywords.items():
            target = ir.Attribute(node.start, node.end, node.func.value, name, node.start)
            self.m.semantics.set_attribute(target, value, None)
        return NONE

    def call(self, owner: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """Return the value of a call of a method of an unknown object, by the names of both."""
        assert isinstance(node.func, ir.Attribute)
        path = path_of(node.func.value)
        last = path.rpartition(".")[2]
        if owner.trait is Mark.DEVICE_LOADER and table.method_of("device-loader", name):
            return owner
        if owner.kind in ("writer", "unknown", "loader") and name in table.names("reads", "writers"):
            self.record_formatted(args, node, name)
            return NONE
        if table.method_of("tokenizer", name) and self._is_tokenizer(name, last, args):
            return self.libraries.decoded(name, args, node)
        if owner.kind == "unknown" and name in ("get", "pop", "setdefault"):
            key = args.positional[0].const if args.positional else None
            kept = kept_entry(self.m, node.func.value, owner, key)
            if kept is not None:
                return kept
        if owner.kind == "unknown" and owner.place:
            made = self._of_unseen(owner, name, args, node)
            if made is not None:
                return made
        if (updated := self._updated(name, args, node)) is not None:
            return updated
        if name == "step" and any(given.kind == "optimizer" for given in args.positional):
            return call_scaler(self.m, name, args, node)
        if name in table.names("reads", "loggers") and ("log" in last.lower()):
            return NONE  # below its level nothing is read
        if name == "backward":
            self.m.effects.add(Effect.BACKWARD)
            self.m.work("either")
            return NONE
        if name in ("item", "tolist", "cpu") and owner.kind == "unknown":
            return self._read(owner, name, node)
        if name == "eval" and not args.all:
            module = AbstractValue("module", self.m.default_place, sure=LIKELY, loose=True)
            return self._a_module(node, with_identity(module, node))
        if name == "cuda" or (name == "to" and owner.kind == "unknown"):
            return self._moved(owner, args, node, last)
        if name == "size":
            return AbstractValue("sequence", element=NUMBER, trait=Mark.SHAPE) if not args.all else NUMBER
        if name in table.names("unseen", "of-tensors"):
            tensor = AbstractValue("tensor", "", sure=POSSIBLE, trait=owner.trait)
            return self.tensors.method(tensor, name, args, node)
        if name in ("is_available", "exists"):
            return BOOL
        if name in ("parameters", "named_parameters"):
            parameter = AbstractValue("tensor", "device", sure=LIKELY, trait=Mark.PARAMETER)
            element = parameter if name == "parameters" else sequence((TEXT, parameter))
            return AbstractValue("parameters", "device", element=element)
        if name == "generate" or (name == "forward" and node.args):  # a simulator steps by `forward()`
            return self.modules.ran(name, args, node, LIKELY)
        drawn = self.distributions.by_name(name, args, node) if owner.kind == "unknown" else None
        return drawn or self._by_names(owner, last, args, node)

    def _by_names(self, owner: AbstractValue, called: str, args: Args, node: ir.Call) -> AbstractValue:
        """A method of something unknown; one of what is named like a model runs it if it gets tensors of the
        device: `model.encode_image(x)` after `model, preprocess = clip.load(name, device=device)`."""
        given = any(tensor.place == "device" and tensor.sure > POSSIBLE for tensor in args.tensors())
        if owner.kind == "unknown" and given and table.name_like("module").search(called):
            self.m.effects.add(Effect.MODEL_CALL)
        return self.modules.by_name(node, args)

    def _updated(self, name: str, args: Args, node: ir.Call) -> AbstractValue | None:
        """Return the value of a call of what is named like an optimizer; None for anything else."""
        assert isinstance(node.func, ir.Attribute)
        if name not in ("step", "zero_grad") or not is_optimizer_name(_container(node.func.value)):
            return None
        named = AbstractValue("optimizer", "device", sure=LIKELY)
        return call_optimizer(self.m, named, name, args, node)

    def _is_tokenizer(self, name: str, receiver: str, args: Args) -> bool:
        """Autoencoders have a `decode` too."""
        named = name == "batch_decode" or table.name_like("tokenizer").search(receiver) is not None
        return named and bool(args.tensors())

    def _of_unseen(self, owner: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue | None:
        """A method of what was computed from tensors: of a tensor, if nothing else has it."""
        if self.opaque.is_tensor_with(owner, name):
            tensor = as_tensor(owner)
            if isinstance(node.func, ir.Attribute) and isinstance(node.func.value, ir.Name):
                self.m.put(node.func.value.id, tensor.replace(loose=False))  # from here on
            return self.tensors.method(tensor, name, args, node)
        if name == "items":
            return AbstractValue("sequence", element=sequence((TEXT, owner)))
        if name == "state_dict":
            place = "host" if self.m.offloads else owner.place
            saved = AbstractValue("tensor", place, sure=LIKELY, trait=Mark.STATE, why=owner.why)
            return AbstractValue("mapping", element=saved)
        if name in table.names("unseen", "shared") or name in ("get", "pop"):
            return owner
        return of_unknown_method(owner) if owner.loose and owner.place != "host" else None

    def _read(self, owner: AbstractValue, name: str, node: ir.Call) -> AbstractValue:
        """`x.item()` of something that nothing is known of: no other type has the method, or few do."""
        assert isinstance(node.func, ir.Attribute)
        via = table.read_by("methods", name)
        tensor = AbstractValue("tensor", "", sure=POSSIBLE, why=owner.why)
        called = path_of(node.func.value).rpartition(".")[2]
        if name == "item" and self.m.frequency == "step" and table.name_like("loss").search(called):
            why = Why(f"`{called}` is the loss of a step, by its name", (node.start, node.end))
            tensor = AbstractValue("tensor", "either", sure=LIKELY, why=(why,))
        self.reads.host(node, tensor, via, f"Tensor.{name}", node.func.value)
        if name == "cpu":
            return AbstractValue("tensor", "host", sure=POSSIBLE)
        return AbstractValue("number", cause="read", sure=tensor.sure)

    def _a_module(self, node: ir.Call, module: AbstractValue) -> AbstractValue:
        """The receiver of a call that only modules have, or that shows by its name to be one."""
        assert isinstance(node.func, ir.Attribute)
        path = path_of(node.func.value)
        if path:
            self.m.put(path, module)
        return module

    def _moved(self, owner: AbstractValue, args: Args, node: ir.Call, last: str) -> AbstractValue:
        """`x.to(device)` of something unknown: a module by its name, else a tensor or a batch of them."""
        assert isinstance(node.func, ir.Attribute)
        target = destination(node.func.attr, args)
        if target is None:
            return owner
        if target.place == "host":
            return AbstractValue("tensor", "host", sure=POSSIBLE)
        span = (node.start, node.end)
        why = (Why("moved to the device here", span),)
        if table.name_like("module").search(last):
            return self._a_module(node, AbstractValue("module", "device", sure=LIKELY, why=why))
        const = ON_HOST if owner.place in ("host", "") else MISSING
        moved = AbstractValue("tensor", "device", sure=LIKELY, loose=True, const=const, why=why)
        if is_of_loop_target(self.m, node):
            move_in_place(self.m, node, moved)
        return moved

    def record_formatted(self, args: Args, node: ir.Call, operation: str) -> None:
        """Record the reads of tensors that a call makes text of."""
        for part, thing in args.shown(node):
            self.reads.formatted(part, thing, operation, node)


def _container(receiver: ir.Expr) -> str:
    """Return the last name of a receiver, or of the container that holds it: `self.optimizers[key]`."""
    holder = receiver.value if isinstance(receiver, ir.Subscript) else receiver
    return path_of(holder).rpartition(".")[2]

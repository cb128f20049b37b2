"""Modules: what their call gives, where their parameters are."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.interp.arguments import Args, are_listed_arrays, destination
from xlamig.flow.interp.conventions import by_convention, module_path
from xlamig.flow.interp.domain import (
    BOOL,
    CERTAIN,
    FOREIGN,
    LIKELY,
    NONE,
    POSSIBLE,
    TOP,
    AbstractValue,
    LibraryObject,
    Mark,
    Residence,
    TorchModule,
    placed,
    sequence,
)
from xlamig.flow.interp.frames import GUESSED, ClassInfo, inherits
from xlamig.flow.interp.layers import (
    call_effect,
    is_part,
    on_device,
    place_without_parameters,
    record_forward,
    record_library_call,
    record_parts,
    sure_of_result,
    wrapped_module,
)
from xlamig.flow.interp.left_on_host import LeftOnHost
from xlamig.flow.interp.libraries import Libraries
from xlamig.flow.interp.module_methods import ModuleMethods
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.opaque_calls import OpaqueCalls
from xlamig.flow.interp.portable import of_project
from xlamig.flow.interp.project_calls import ProjectCalls
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table


class Modules:
    def __init__(
        self, state: State, opaque: OpaqueCalls, libraries: Libraries, project: ProjectCalls, moves: Moves
    ) -> None:
        self.m = state
        self.opaque, self.libraries, self.project, self.moves = opaque, libraries, project, moves
        self.methods = ModuleMethods(state, moves)
        self.left_on_host = LeftOnHost(state, moves)

    # ------------------------------------------------------------------ calls

    def call(self, module: AbstractValue, args: Args, node: ir.Call) -> AbstractValue:
        """`model(x)`"""
        m = self.m
        if isinstance(module.ref, str) and module.ref.endswith(GUESSED) and self._makes(args, node):
            return TOP
        if not node.args and module.ref is None:
            return module  # a class that is annotated like its objects: `activation: nn.ReLU`
        self.moves.called(module)
        if not isinstance(module.ref, ClassInfo) or module.ref.may_hold_parts:  # a transform holds none
            m.effects.add(call_effect(m, node))
        if (wrapped := wrapped_module(module)) is not None:
            with self.left_on_host.in_wrapper():
                return self.call(wrapped, args, node)
        forward = m.semantics.method_of(module, "forward") or m.semantics.method_of(module, "__call__")
        if forward is not None:
            m.forwards += 1
            with m.branch() as effects, self.left_on_host.entering(module, args, node):
                result = m.semantics.call(forward, args, node)
            m.effects.update(effects.without((Effect.MODEL_CALL,)))  # of its parts
            m.forwards -= 1
            if result.kind not in ("unknown", "nothing"):
                return self._told(self._guessed(result, args, module), module, node)
        elif isinstance(module.trait, TorchModule) and not isinstance(module.ref, ClassInfo):
            return self._of_torch(module, args, node)
        record_library_call(m, module, args, node)
        self.left_on_host.in_layer(module, args, node)
        return self.output(args, node, module.sure, module)

    def _makes(self, args: Args, node: ir.Call) -> bool:
        """Return whether a call that looks like a model creates one: from numbers (`mask_generator(0)`), as a
        class with its settings (`module(depth=2)`), or from no tensor in a constructor."""
        settings = path_of(node.func) == "module" and all(arg.keyword for arg in node.args)
        function = self.m.frame.scope.node
        if isinstance(function, ir.FunctionDef) and function.name == "__init__" and not args.tensors():
            return bool(args.all)
        plain = settings or all(one.kind in ("number", "bool", "text") for one in args.all)
        return bool(args.all) and plain

    def imported(self, dotted: str, args: Args, node: ir.Call) -> AbstractValue:
        """A module whose class is another file's."""
        given = [thing for thing in args.all if thing.kind in ("device", "text") and thing.place == "device"]
        place = "device" if given else self.m.default_place
        why = Why(f"`{short(self.m.source(node))}` makes a model", (node.start, node.end))
        made = AbstractValue("module", place, sure=LIKELY, loose=True, ref=dotted, why=(why,))
        if self.project.happens(f"{dotted}.__init__", Effect.TIE):
            self.moves.tied(made, node)
        return made

    def _guessed(self, result: AbstractValue, args: Args, module: AbstractValue) -> AbstractValue:
        """Return the result; a tensor of which little is known counts as what any module gives."""
        if result.kind == "sequence" and result.items is not None:
            return result.replace(items=tuple(self._guessed(item, args, module) for item in result.items))
        if result.kind != "tensor" or result.sure > POSSIBLE:
            return result
        return result.replace(place=self._place(args, module), sure=min(module.sure, LIKELY), loose=True)

    def _told(self, result: AbstractValue, module: AbstractValue, node: ir.Call) -> AbstractValue:
        if result.kind == "sequence" and result.items is not None:
            return result.replace(items=tuple(self._told(item, module, node) for item in result.items))
        if result.kind != "tensor" or result.place != "device":
            return result
        return result.replace(why=(*module.why[-2:], self._why(node)))

    def _why(self, node: ir.Call) -> Why:
        return Why(f"`{short(self.m.source(node))}` is computed on the device", (node.start, node.end))

    def output(
        self, args: Args, node: ir.Call, sure: int, module: AbstractValue | None = None
    ) -> AbstractValue:
        """Return the output of a module of unknown type."""
        self.m.effects.add(call_effect(self.m, node))
        if are_listed_arrays(args):
            return FOREIGN
        self.libraries.fed_back(args, node)
        self.m.work(place := self._place(args, module))
        why = (*(module.why[-2:] if module is not None else ()), self._why(node)) if place != "host" else ()
        return AbstractValue("tensor", place, sure=min(sure, LIKELY), loose=True, why=why)

    def ran(
        self, name: str, args: Args, node: ir.Call, sure: int, module: AbstractValue | None = None
    ) -> AbstractValue:
        """Return the result of a `forward` or `generate` that cannot be analysed."""
        if name == "generate":
            self.libraries.generated(args, node, module, self._place(args, module))
            # It asks after each token whether all texts have ended.
            self.m.effects.add(Effect.READ, Effect.RESULT_READ)
        self.m.effects.add(call_effect(self.m, node))
        return self.output(args, node, sure, module)

    def _place(self, args: Args, module: AbstractValue | None) -> Residence:
        on_device = module is not None and module.place == "device"
        if on_device or any(thing.place == "device" for thing in args.tensors()):
            return "device"
        return "host" if module is not None and module.place == "host" else "either"

    def _of_torch(self, module: AbstractValue, args: Args, node: ir.Call) -> AbstractValue:
        """A class of torch.nn: its result is a tensor, or what its name says."""
        place = place_without_parameters(module, args) or self._place(args, module)
        self.m.work(place)
        record_forward(self.m, module, place, node)
        self.left_on_host.in_layer(module, args, node)
        held = args.tensors()
        why = next((t.why for t in held if t.place == place), module.why)
        tensor = AbstractValue(
            "tensor",
            place,
            sure=sure_of_result(module, place, held),
            why=why,
            dtype="float",
            cause=next((t.cause for t in held if t.cause == "dynamic"), ""),
        )
        assert isinstance(module.trait, TorchModule)
        kind = module.trait.class_name
        if kind == "Sequential" and module.items:
            return self._in_turn(module, args, node)
        if kind == "Sequential":
            record_parts(self.m, module, place, node)
        if kind.endswith("Loss"):
            self.left_on_host.beside_device(kind, args, node)
            return tensor.replace(
                shape=(), cause="", why=(*why[-3:], self._why(node)) if place == "device" else why
            )
        if kind in ("LSTM", "GRU", "RNN"):
            return sequence((tensor, tensor.replace(loose=True)))
        if kind in ("MultiheadAttention", "LSTMCell"):
            return sequence((tensor, tensor))
        if kind in ("ModuleList", "ModuleDict", "Module"):
            return TOP
        return tensor.replace(loose=kind == "Sequential")

    def _in_turn(self, module: AbstractValue, args: Args, node: ir.Call) -> AbstractValue:
        """A Sequential: each part gets what the one before it gave."""
        for part in module.items or ():
            args = Args([self.m.semantics.reach(placed(part, module), node, args)])
        return args.positional[0]

    def by_name(self, node: ir.Call, args: Args) -> AbstractValue:
        """A call of something unknown: a model, if that is what it is called."""
        name = path_of(node.func).rpartition(".")[2]
        held = args.tensors()
        if name and table.name_like("module").search(name) and held and not self._makes(args, node):
            return self.output(args, node, LIKELY)
        if held and is_part(self.m, node):
            self.m.effects.add(Effect.PART_CALL)
            self.m.work(self._place(args, None))
        return self.opaque.result(node, args)

    # ------------------------------------------------------------------ methods

    def method(self, module: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """Return the value of a call of a module's method."""
        own = self.m.semantics.method_of(module, name)
        if own is not None:
            with self.m.branch() as effects, self.left_on_host.entering(module, args, node):
                result = self.m.semantics.call(own, args, node)
            self.m.effects.update(effects)
            runs = Effect.PART_CALL in effects.must and not is_part(self.m, node) and on_device(result)
            if name == "forward" or runs:
                self.m.effects.add(call_effect(self.m, node))
            return self._told(result, module, node) if result.kind == "tensor" else result
        assert isinstance(node.func, ir.Attribute)
        if name in ("to", "cuda", "xla", "cpu"):
            return self._moved(module, name, args, node)
        known = self.methods.call(module, name, args, node)
        if known is not None:
            return known
        if of_project(module):
            told = self.project.method(module, name, args, node)
            if self.project.happens(f"{module.ref}.{name}", Effect.TIE):
                self.moves.tied(module, node)
            if told is not None and name not in ("forward", "generate"):
                return told
        if name in ("forward", "generate"):
            return self.ran(name, args, node, module.sure, module)
        if isinstance(module.trait, LibraryObject) and table.method_of(module.trait.name, name) == "forward":
            record_library_call(self.m, module, args, node)
        if module.loose and not signatures.signature(f"Module.{name}"):
            result = self.opaque.result(node, args, module)
            if args.tensors() and result.place != "host":
                self.m.effects.add(Effect.MODEL_CALL)
            if self.m.names.project.has_reading_method(name):
                self.m.effects.add(Effect.POSSIBLE_READ)
            return result
        if isinstance(module.ref, ClassInfo) and args.tensors() and name not in ("log", "log_dict"):
            unknown = all(name not in cls.attributes for cls in module.ref.lineage())
            if unknown and path_of(node.func.value) == "self":  # a part that a base class or a table made
                return self.output(args, node, LIKELY, module)
        if name in ("log", "log_dict") and inherits(module, "LightningModule"):
            self.libraries.logged(name, args, node)
            return NONE
        held = self.attribute(module, name)
        if isinstance(module.ref, ClassInfo):
            for cls in module.ref.lineage():
                if name in cls.attributes:
                    return self.m.semantics.reach(
                        self.m.semantics.member(module, name, node.func), node, args
                    )
        return self.m.semantics.reach(held, node, args) if held.kind == "module" else self.by_name(node, args)

    def _moved(self, module: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue:
        assert isinstance(node.func, ir.Attribute)
        target = AbstractValue("device", "host") if name == "cpu" else destination(name, args)
        if target is None:
            return module
        path = module_path(node.func.value)
        if target.place != "host":
            self.moves.moved(module, node, path)
        else:
            self.moves.taken_to_host(module, node, path)
        sure = CERTAIN if target.sure == CERTAIN and target.place == "device" else LIKELY
        why = Why(f"`{short(self.m.source(node))}` is on the device", (node.start, node.end))
        place: Residence = "host" if target.place == "host" else "device"
        moved = module.replace(
            place=place, sure=min(module.sure, sure), why=(why,) if place == "device" else ()
        )
        if path:
            self.m.put(path, moved)
            owner, _, attribute = path.rpartition(".")
            held = self.m.env.get(owner) if owner else None
            if held is not None and isinstance(held.ref, ClassInfo):
                held.ref.attributes[attribute] = moved
        return moved

    # ------------------------------------------------------------------ attributes

    def attribute(self, module: AbstractValue, name: str) -> AbstractValue:
        """An attribute that the project does not assign."""
        if name == "training":
            return BOOL
        if name == "device":
            return AbstractValue("device", "device" if module.place != "host" else "host", sure=LIKELY)
        if name in ("weight", "bias", "grad"):
            place = module.place or "device"
            sure, ref = min(module.sure, LIKELY), module.ref
            return AbstractValue("tensor", place, sure=sure, trait=Mark.PARAMETER, ref=ref, why=module.why)
        if name == "module" or table.name_like("module").search(name):
            return AbstractValue("module", module.place, sure=LIKELY, loose=True, why=module.why)
        return AbstractValue("foreign") if name == "config" else by_convention(name)

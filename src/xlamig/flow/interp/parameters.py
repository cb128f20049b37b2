"""Infer a parameter without a visible caller: by annotation, default, name and use."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.interp.annotations import Annotations
from xlamig.flow.interp.conventions import HOST_SIZES, kept_on_host
from xlamig.flow.interp.distributions import is_distribution
from xlamig.flow.interp.domain import (
    LIKELY,
    POSSIBLE,
    TOP,
    AbstractValue,
    LibraryObject,
    Residence,
)
from xlamig.flow.interp.events import Recorder
from xlamig.flow.interp.frames import GUESSED, ClassInfo, Env, Function, object_of
from xlamig.flow.interp.kept import cache_by_name
from xlamig.flow.interp.state import State
from xlamig.flow.model.kinds import is_optimizer_name
from xlamig.knowledge import values as table


class Parameters:
    def __init__(self, state: State) -> None:
        self.m = state
        self.annotations = Annotations(state)
        self._evaluated: set[int] = set()  # defaults that are evaluated now, by identity

    def default(self, param: ir.Param) -> AbstractValue:
        """The value of a default; TOP for one that a call makes."""
        assert param.default is not None
        plain = ir.Const | ir.Unary | ir.Sequence | ir.Name | ir.Attribute
        if not isinstance(param.default, plain) and not _is_computed(param.default):
            return TOP
        return self._evaluated_once(param, param.default)

    def left_out(self, param: ir.Param) -> AbstractValue:
        """The value of a parameter whose default a call takes, also of a tensor that torch makes of constants
        on the host: `torch.tensor(6.0)`."""
        match param.default:
            case ir.Call(func=func, args=args) as made if all(_is_written(arg.value) for arg in args):
                if (self.m.names.dotted(func, self.m.frame.scope) or "").startswith("torch."):
                    value = self._evaluated_once(param, made)
                    return value if value.kind == "tensor" and value.place == "host" else TOP
        return self.default(param)

    def _evaluated_once(self, param: ir.Param, default: ir.Expr) -> AbstractValue:
        if id(param) in self._evaluated:  # it calls its own function
            return TOP
        recorder, self.m.recorder = self.m.recorder, Recorder()  # the definition has recorded its events
        self._evaluated.add(id(param))
        try:
            return self.m.semantics.evaluate(default)
        finally:
            self._evaluated.remove(id(param))
            self.m.recorder = recorder

    def received(self, param: ir.Param, given: AbstractValue, function: Function) -> AbstractValue:
        """Return what a call gives a parameter; where the caller does not know, what the function says."""
        if given.kind == "unknown":
            guessed = self.guessed(param, function, per_step=False)
            if guessed.kind == "tensor" and given.place:
                return guessed.replace(place=given.place, trait=given.trait, why=given.why)
            says_more = given.place or isinstance(given.trait, LibraryObject)
            return guessed if guessed.kind != "unknown" or not says_more else given
        guess = given.kind == "tensor" and given.sure == POSSIBLE
        if guess and self._is_proved(param, function):
            return given.replace(place=given.place or "either", sure=LIKELY, loose=False)
        if param.annotation is None:
            return given
        of_library = given.kind == "foreign" and given.trait is None  # which may be a tensor
        if not guess and not of_library:
            return given
        promised = self.annotations.promised(param.name, param.annotation)
        if promised is None or (
            promised.kind not in ("tensor", "module") if of_library else promised.kind == "tensor"
        ):
            return given
        return promised

    def guessed(self, param: ir.Param, function: Function, per_step: bool) -> AbstractValue:
        """Return the value of a parameter, independent of its callers; a device that they may leave out is
        where something already is."""
        value = self._guessed(param, function, per_step)
        if value.kind == "device" and isinstance(param.default, ir.Const) and param.default.value is None:
            value = value.replace(place="either")
        return cache_by_name(param.name, value) if per_step or self.m.frequency == "step" else value

    @staticmethod
    def of_collate(given: dict[str, AbstractValue], function: Function) -> dict[str, AbstractValue]:
        """Return the arguments of a collate function: the first is a list of samples of the host."""
        of_class = function.owner is not None and function.kind != "static"
        names = [param.name for param in function.node.params][of_class:]
        if not names or given.get(names[0], TOP).kind != "unknown":
            return given
        sample = AbstractValue("tensor", "host", sure=LIKELY, loose=True)
        return {**given, names[0]: AbstractValue("sequence", element=sample)}

    def _guessed(self, param: ir.Param, function: Function, per_step: bool) -> AbstractValue:
        if param.kind == "*":
            return AbstractValue("sequence", element=TOP)
        if param.kind == "**":
            return AbstractValue("mapping", element=TOP)
        owner = function.owner
        forward = per_step and owner is not None and owner.is_module
        place: Residence = "device" if forward else "either"
        name = function.node.name if isinstance(function.node, ir.FunctionDef) else ""
        first = name.startswith("forward") and param in function.node.params[1:2]
        if per_step and self._is_drawn(name, param, function):
            return AbstractValue("tensor", "device", sure=LIKELY)
        own = self._own_timestep(param, function)
        if own is not None:
            return own
        if param.annotation is not None:
            known = self.annotations.promised(param.name, param.annotation, place)
            if known is not None:
                return self._position(param, known) if forward else known
        if param.default is not None and not (
            isinstance(param.default, ir.Const) and param.default.value is None
        ):
            thing = self.default(param)
            if thing.kind in ("device", "text") and thing.place == "host":
                return AbstractValue("device", "either", sure=LIKELY)  # callers have a reason to give another
            return thing if thing.kind in ("api", "text") else thing.replace(const=TOP.const)
        named = self._by_name(param.name)
        if named is not None:
            return named
        if kept_on_host(param.name) and self._is_proved(param, function):
            return HOST_SIZES
        evidence = self.m.evidences.of(function.scope)
        if forward and function.node.params[:1] != (param,):
            if param.name in ("batch_idx", "batch_nb", "batch_index"):
                return AbstractValue("number", cause="step-counter", sure=LIKELY)
            if evidence.refutes(param.start):
                return TOP
            proved = evidence.proof(param.start) is not None
            return AbstractValue(
                "tensor", place, sure=LIKELY if proved or first else POSSIBLE, loose=not proved
            )
        if self._is_proved(param, function):
            return AbstractValue("tensor", place, sure=LIKELY)
        return self._by_class(param.name) or TOP

    def _is_library(self, param: ir.Param, function: Function) -> bool:
        """Return whether a parameter is called like a library that the module imports: `check(torch)`."""
        names, bound = self.m.names, function.scope.module.lookup(param.name)
        imported = any(b.kind == "import" and b.dotted == param.name for b in bound)
        return imported and not names.project.holds(param.name, names.module)

    def _by_class(self, name: str) -> AbstractValue | None:
        """Return an object of the only plain class of the module that is called like a parameter: `logger` of
        `MetricLogger`."""
        word = name.rstrip("_").rpartition("_")[2]
        env = self.m.frame.module.env
        held = [info for info in self.m.program.classes.get(word, ()) if _holds_class(env, info)]
        return object_of(held[0], "") if len(held) == 1 and not held[0].may_be_module else None

    @staticmethod
    def _position(param: ir.Param, known: AbstractValue) -> AbstractValue:
        """Return `start_pos: int` of a forward pass as a number that changes every step of decoding; with a
        default there are other calls."""
        if known.kind != "number" or known.cause or not table.name_like("position").search(param.name):
            return known
        sure = LIKELY if param.default is None else POSSIBLE
        span = (param.start, param.start + len(param.name))
        why = Why(f"by its name, `{param.name}` is the position of the next token", span)
        return known.replace(cause="position", sure=sure, why=(why,))

    @staticmethod
    def _is_drawn(name: str, param: ir.Param, function: Function) -> bool:
        """Return whether a parameter is the value whose probability a distribution is asked for."""
        asked = name in table.names("distributions", "checked") and param in function.node.params[1:2]
        return asked and function.owner is not None and is_distribution(function.owner)

    @staticmethod
    def _own_timestep(param: ir.Param, function: Function) -> AbstractValue | None:
        """Return an element of the tensor that the object keeps on the device: callers of `step(timestep)`
        iterate over `self.timesteps`, whatever the annotation says."""
        if function.owner is None or not table.name_like("timestep").search(param.name):
            return None
        kept = (cls.attributes.get(f"{param.name}s", TOP) for cls in function.owner.lineage())
        if not any(value.kind == "tensor" and value.place in ("device", "either") for value in kept):
            return None
        value = AbstractValue("tensor", "device", sure=LIKELY, shape=())
        span = (param.start, param.start + len(param.name))
        return value.with_reason(f"`{param.name}` is likely an element of `self.{param.name}s`", span)

    def _is_proved(self, param: ir.Param, function: Function) -> bool:
        """Return whether what a function does with a parameter shows that it is a tensor."""
        proved = self.m.evidences.of(function.scope).proof(param.start) is not None
        return proved and not (self._is_another(param.annotation) or self._is_library(param, function))

    def _is_another(self, annotation: ir.Expr | None) -> bool:
        """Return whether an annotation names a class of a library other than torch: `args:
        argparse.Namespace`."""
        dotted = self.m.names.dotted(annotation, self.m.frame.scope) if annotation is not None else None
        return dotted is not None and dotted.partition(".")[0] not in ("torch", "typing")

    def _by_name(self, name: str) -> AbstractValue | None:
        if table.name_like("device").search(name):
            return AbstractValue("device", "device", sure=LIKELY)
        if table.name_like("module").search(name):
            return AbstractValue("module", "either", sure=LIKELY, loose=True, ref=f"{name}{GUESSED}")
        if table.name_like("loader").search(name):
            return AbstractValue("loader", "host", sure=LIKELY)
        if is_optimizer_name(name) and not table.name_like("setting").search(name):
            return AbstractValue("optimizer", "device", sure=LIKELY)
        return None


def _holds_class(env: Env, info: ClassInfo) -> bool:
    """Return whether a class has a name, most often its own."""

    def is_it(value: AbstractValue) -> bool:
        return value.kind == "class" and value.ref is info

    return is_it(env.get(info.node.name, TOP)) or any(map(is_it, env.values()))


def _is_written(node: ir.Expr) -> bool:
    """Return whether an expression is a constant, or a sequence of constants."""
    parts = node.elements if isinstance(node, ir.Sequence) else (node,)
    return all(isinstance(p.operand if isinstance(p, ir.Unary) else p, ir.Const) for p in parts)


def _is_computed(node: ir.Expr) -> bool:
    """Return whether an expression is arithmetic of constants, as `1 << 16`."""
    return isinstance(node, ir.Binary) and all(isinstance(n, ir.Binary | ir.Const) for n in ir.walk(node))

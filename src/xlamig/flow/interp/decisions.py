"""Tests: what they read, whether the abstract values decide them, what holds where they do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

from xlamig import ir
from xlamig.flow.interp.configured import take_subclass
from xlamig.flow.interp.correlated import recall
from xlamig.flow.interp.domain import (
    BOTTOM,
    CERTAIN,
    LIKELY,
    MISSING,
    POSSIBLE,
    TOP,
    AbstractValue,
    Mark,
    join_all,
)
from xlamig.flow.interp.frames import ClassInfo, Env, object_of
from xlamig.flow.interp.keywords import has_keyword
from xlamig.flow.interp.left_out import record_replaced
from xlamig.flow.interp.let_through import negated
from xlamig.flow.interp.number_first import is_left_out, starts_as_number
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.setting import Setting
from xlamig.flow.interp.state import State
from xlamig.flow.interp.type_tests import are_of_python, asked_for_tensor, denies_tensor
from xlamig.flow.model.effects import Effects
from xlamig.flow.model.guards import Guards
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

T = TypeVar("T")  # what a branch ends with
_GPU_FLAG = re.compile(r"^[\w.]*(?:gpu|cuda)s?(?:\s*>\s*\d)?$", re.IGNORECASE)


class Decisions:
    def __init__(self, state: State, reads: Reads) -> None:
        self.m = state
        self.reads = reads
        self.guards = Guards(state.analysis)

    def truth(self, node: ir.Expr, word: str) -> AbstractValue:
        """Evaluates a test; a tensor there is read on the host."""
        match node:
            case ir.Unary(op="not", operand=operand):
                return negated(self.truth(operand, word))
            case ir.Bool(op=op, values=values):
                return join_all(tuple(self._chain(op, values, word)))
        thing = self.m.semantics.evaluate(node)
        if thing.kind == "tensor" and not (isinstance(node, ir.Compare) and len(node.ops) > 1):
            empty = thing.loose and isinstance(node, ir.Name | ir.Attribute)  # asks whether a container is
            if empty or is_left_out(self.m, node, thing):
                thing = thing.replace(sure=POSSIBLE)
            if starts_as_number(self.m, node):
                self.m.prove(node, number_first=True)
            self.reads.host(node, thing, "nan-check" if thing.trait is Mark.NAN else "truth", word)
        return thing

    def _chain(self, op: str, values: Sequence[ir.Expr], word: str) -> Iterator[AbstractValue]:
        """Evaluate `a and b`: in `i % 100 == 0 and broken` the second test runs in some steps only."""
        first, *rest = values
        yield self.truth(first, word)
        if not rest:
            return
        often = self.m.frequency
        with self.m.branch() as way, self.m.lowers_frequency(first, op == "and"):
            seldom = self.m.frequency != often
            found = list(self._chain(op, rest, op))
        if seldom:
            self.m.join_effects(way, Effects())
        else:
            self.m.effects.update(way)
        yield from found

    def is_gpu_flag(self, test: ir.Expr) -> bool:
        """Return whether a test asks for a setting that says that a GPU is used: `args.use_gpu`."""
        asks = _GPU_FLAG.search(self.m.source(test)) is not None
        return asks and self.m.analysis.values.of(test, self.m.frame.scope).value.kind != "cuda-test"

    def outcome(self, node: ir.If | ir.IfExp) -> bool | None:
        """Return the outcome of the test of an `if`, if the abstract values decide it."""
        holds, skipped, running = self.decided(node.test), self.m.skipped, self.m.program.running
        skipped.take(node.start, holds)
        record_replaced(self.m, node)
        if holds is not None and running and self._asks_for_argument(node.test):
            skipped.skip(node.start, not holds, running[-1])
        return holds

    def reached(self, test: ir.Expr, here: T | None, there: T | None) -> tuple[T | None, T | None]:
        """Return what two branches end with, None for one that the options of the project keep off, or that
        is for what is no tensor: what it makes of a name reaches nothing."""
        if here is None or there is None:
            return here, there
        return here if self._runs(test, True) else None, there if self._runs(test, False) else None

    def _runs(self, test: ir.Expr, holds: bool) -> bool:
        return not denies_tensor(self.m, test, holds) and not self._is_kept_off(test, holds)

    def off(self, test: ir.Expr, holds: bool) -> Setting[bool]:
        """Return what says, while a branch runs, whether the options of the project keep it off."""
        return Setting(self.m, "kept_off", self.m.kept_off or self._is_kept_off(test, holds))

    def _is_kept_off(self, test: ir.Expr, holds: bool) -> bool:
        return any(guard.kind == "off" for guard in self.guards.of(test, self.m.frame.scope, holds))

    def decided(self, test: ir.Expr) -> bool | None:
        """Return the outcome of a test, if the abstract values decide it."""
        match test:
            case ir.Unary(op="not", operand=operand):
                inner = self.decided(operand)
                return None if inner is None else not inner
            case ir.Bool(op=op, values=values):
                found = [self.decided(value) for value in values]
                stops = op == "or"
                if stops in found:
                    return stops
                return None if None in found else not stops
            case ir.Compare(
                left=ir.Name() as left, ops=("is" | "is not" as op,), comparators=(ir.Const(value=None),)
            ):
                thing = self._known(left)
                if thing is not None and thing.kind == "number" and left.id in self.m.frame.numbers:
                    return op == "is not"
                return (op == "is") if thing is not None and thing.kind == "none" else None
            case ir.Name() | ir.Compare(left=ir.Name()) if (given := self._by_argument(test)) is not None:
                return given
            case ir.Compare() if (held := has_keyword(self.m, test)) is not None:
                return held
            case ir.Call(func=ir.Name(id="callable"), args=(asked,)):
                return self._is_callable(asked.value) if isinstance(asked.value, ir.Name) else None
            case ir.Call(func=ir.Attribute() | ir.Name() as func, args=()):
                exports = self.m.names.dotted(func, self.m.frame.scope) in table.names("program", "exports")
                return False if exports else None
        if (on_torch := self.guards.torch.holds(test, self.m.frame.scope)) is not None:
            return on_torch
        subject = asked_for_tensor(self.m, test)
        return self._is_tensor(subject) if isinstance(subject, ir.Name) else None

    def _by_argument(self, test: ir.Expr) -> bool | None:
        """Return the outcome of a test of a parameter for which this call gives a constant; of a device none:
        on XLA it will be another."""
        match test:
            case ir.Name(id=name) if (value := self._given(name)) is not MISSING:
                return bool(value)
            case ir.Compare(
                left=ir.Name(id=name), ops=("==" | "!=" as op,), comparators=(ir.Const(value=other),)
            ) if (value := self._given(name)) is not MISSING:
                return (value == other) == (op == "==")
        return None

    def _given(self, name: str) -> object:
        bound = self.m.frame.scope.bindings.get(name, ())
        thing = self.m.env.get(name)
        if thing is None or [binding.kind for binding in bound] != ["param"] or thing.place:
            return MISSING
        return thing.const if thing.kind in ("bool", "number", "text") else MISSING

    def _asks_for_argument(self, test: ir.Expr) -> bool:
        """Return whether constants that this call gives have a part in the outcome of a test."""
        parts = (node for node in ir.walk(test) if isinstance(node, ir.Expr))
        found = ((self._by_argument(part), has_keyword(self.m, part)) for part in parts)
        return any(outcomes != (None, None) for outcomes in found)

    def _known(self, node: ir.Name) -> AbstractValue | None:
        return self.m.env.get(node.id)

    def _is_tensor(self, subject: ir.Name) -> bool | None:
        thing = self._known(subject)
        if thing is None:
            return None
        if thing.kind in ("number", "bool", "text", "none", "foreign", "sequence", "mapping"):
            return False
        certain = thing.kind == "tensor" and not thing.loose and thing.sure > LIKELY
        return True if certain else None

    def _is_callable(self, asked: ir.Name) -> bool | None:
        thing = self._known(asked)
        if thing is not None and thing.kind in ("function", "class", "module"):
            return True
        return False if self._is_tensor(asked) is not None else None

    def defaulted(
        self, test: ir.Expr, where: dict[str, AbstractValue], otherwise: dict[str, AbstractValue]
    ) -> None:
        """`if mask is None: mask = torch.ones(n)`: what stands in for a tensor is one."""
        match test:
            case ir.Compare(
                left=ir.Name(id=name), ops=("is" | "is not" as op,), comparators=(ir.Const(value=None),)
            ):
                default, given = (where, otherwise) if op == "is" else (otherwise, where)
                made, known = default.get(name), given.get(name)
                if made is None or known is None or (made.kind, known.kind) != ("tensor", "unknown"):
                    return
                sure = min(made.sure, LIKELY)
                given[name] = AbstractValue("tensor", made.place, sure=sure, why=made.why)

    def narrow(self, test: ir.Expr, holds: bool) -> Setting[bool]:
        """Narrow the environment to the outcome of a test, and return what holds while its branch runs."""
        without = self.m.without_tensors or denies_tensor(self.m, test, holds)
        self._narrow(test, holds)
        return Setting(self.m, "without_tensors", without)

    def _narrow(self, test: ir.Expr, holds: bool) -> None:
        recall(self.m, test, holds)
        match test:
            case ir.Unary(op="not", operand=operand):
                self._narrow(operand, not holds)
            case ir.Bool(op=op, values=values) if (op == "and") == holds:
                for value in values:
                    self._narrow(value, holds)
            case ir.Call(func=ir.Name(id="isinstance"), args=(asked, kind)) if (
                holds and isinstance(asked.value, ir.Name) and are_of_python(kind.value)
            ):
                known = self._known(asked.value)
                if known is not None and known.kind == "tensor" and not known.loose:
                    self.m.put(asked.value.id, BOTTOM)
            case ir.Call(func=ir.Name(id="isinstance"), args=(asked, kind)) if (
                holds and (made := self._object(asked.value, kind.value)) is not None
            ):
                self.m.put(path_of(asked.value), made)
            case ir.Call(func=ir.Name(id="isinstance"), args=(asked, kind)) if (
                holds and isinstance(asked.value, ir.Name) and self._is_other_class(kind.value)
            ):
                known = self._known(asked.value)
                if known is not None and known.kind == "tensor" and known.sure < CERTAIN:
                    self.m.put(asked.value.id, TOP)
            case ir.Call(func=ir.Name(id="issubclass"), args=(asked, base)) if holds:
                take_subclass(self.m, asked.value, base.value)
            case ir.Call() | ir.Compare() | ir.Name():
                subject = asked_for_tensor(self.m, test)
                if subject is None or not (name := path_of(subject)):
                    return
                thing = self.m.semantics.evaluate(subject)
                if holds and thing.kind == "unknown":
                    sure = thing.sure if thing.place else LIKELY
                    found = AbstractValue("tensor", thing.place or "either", sure=sure, why=thing.why)
                    self.m.put(name, found)
                elif holds and thing.kind == "tensor" and (thing.loose or thing.sure < LIKELY):
                    self.m.put(name, thing.replace(sure=max(thing.sure, LIKELY), loose=False))
                elif not holds and thing.kind == "tensor" and not thing.loose:
                    self.m.put(name, BOTTOM)

    def _is_other_class(self, kind: ir.Expr) -> bool:
        """Return whether a test asks for a class that is none of torch's, and no tensor by its name."""
        dotted = self.m.names.dotted(kind, self.m.frame.scope) or path_of(kind)
        last = dotted.rpartition(".")[2]
        return (
            last[:1].isupper()
            and not dotted.startswith("torch.")
            and not table.name_like("tensor-class").search(last)
        )

    def _object(self, asked: ir.Expr, kind: ir.Expr) -> AbstractValue | None:
        """Return the object that a test for a class of the project finds in a name that was guessed."""
        known = self._known(asked) if isinstance(asked, ir.Name) and isinstance(kind, ir.Name) else None
        if known is None or known.kind not in ("unknown", "tensor") or known.sure == CERTAIN:
            return None
        cls = self.m.semantics.evaluate(kind)
        one = cls.ref if cls.kind == "class" and isinstance(cls.ref, ClassInfo) else None
        return object_of(one, known.place or "either") if one is not None else None


def is_copy_to_host(taken: AbstractValue, other: AbstractValue) -> bool:
    """Return whether one branch has on the host what the other has on the device."""
    return taken.kind == other.kind == "tensor" and taken.place == "host" and other.place == "device"


def are_alike(one: AbstractValue, other: AbstractValue) -> bool:
    """Return whether two values are tensors of the device, of one shape as far as that is known."""
    if not all(v.kind == "tensor" and v.place != "host" and v.sure >= LIKELY for v in (one, other)):
        return False
    if one.loose or other.loose or (one.dtype and other.dtype and one.dtype != other.dtype):
        return False
    if one.shape is None or other.shape is None:
        return True
    known = (
        pair for pair in zip(one.shape, other.shape, strict=False) if all(isinstance(n, int) for n in pair)
    )
    return len(one.shape) == len(other.shape) and all(left == right for left, right in known)


def are_ends_alike(node: ir.If, ends: Sequence[Env | None]) -> bool:
    """Return whether both branches of an `if` give one name a tensor, and do nothing else."""
    match (node.body, node.orelse, *ends):
        case (
            (ir.Assign(targets=(ir.Name(id=name),)),),
            (ir.Assign(targets=(ir.Name(id=other),)),),
            dict() as here,
            dict() as there,
        ) if name == other and name in here and name in there:
            return are_alike(here[name], there[name])
    return False

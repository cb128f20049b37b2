"""Expressions: what they may be, and what evaluating them does."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from xlamig import ir
from xlamig.facts import ChangingConstant
from xlamig.flow.interp.frames import Frame, Function, fork
from xlamig.flow.interp.indexing import Indexing
from xlamig.flow.interp.loops import over as over_of
from xlamig.flow.interp.reads import SIZES, Reads
from xlamig.flow.interp.things import (
    BOOL,
    FOREIGN,
    LIKELY,
    NONE,
    NUMBER,
    POSSIBLE,
    TEXT,
    UNKNOWN,
    Place,
    Thing,
    constant,
    element_of,
    join,
    join_all,
    join_place,
    sequence,
    together,
)
from xlamig.flow.scopes import path_of
from xlamig.knowledge import values as table

if TYPE_CHECKING:
    from xlamig.flow.interp.machine import Machine

_FOLD: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
_BUILTINS = frozenset(dir(builtins))
_CHANGING = ("random", "read", "derived", "length", "step-counter", "position")


class Evaluator:
    def __init__(self, machine: Machine) -> None:
        self.m = machine
        self.reads = Reads(machine)
        self.indexing = Indexing(machine, self.reads)
        self._by_type: dict[type[ir.Node], Callable[[Any], Thing]] = {
            ir.Name: self._name,
            ir.Attribute: self._attribute,
            ir.Const: self._const,
            ir.FString: self._fstring,
            ir.Call: lambda node: self.m.calls.of(node),
            ir.Subscript: self._subscript,
            ir.Unary: self._unary,
            ir.Binary: self._binary,
            ir.Bool: self._bool,
            ir.Compare: self._compare,
            ir.IfExp: self._if,
            ir.Sequence: self._sequence,
            ir.Dict: self._dict,
            ir.Lambda: self._lambda,
            ir.Comprehension: self._comprehension,
            ir.Await: lambda node: self.of(node.value),
            ir.Starred: lambda node: self.of(node.value),
            ir.Yield: self._yield,
            ir.Walrus: self._walrus,
            ir.Slice: self._slice,
            ir.BigLiteral: lambda node: Thing("sequence", element=NUMBER),
        }

    def of(self, node: ir.Expr) -> Thing:
        return self._by_type[type(node)](node)

    # ------------------------------------------------------------------ names

    def _name(self, node: ir.Name) -> Thing:
        frame: Frame | None = self.m.frame
        while frame is not None:
            thing = frame.env.get(node.id)
            if thing is not None:
                return thing
            frame = frame.parent
        dotted = self.m.names.dotted(node, self.m.frame.scope)
        if dotted is not None:
            return self.m.calls.named(dotted)
        own = self.m.frame.scope.lookup(node.id) or node.id not in _BUILTINS
        return UNKNOWN if own else Thing("api", ref=node.id)

    def _attribute(self, node: ir.Attribute) -> Thing:
        path = path_of(node)
        if path:
            known = self.m.env.get(path)
            if known is not None:
                return known
        return self.attribute(self.of(node.value), node.attr, node)

    def attribute(self, owner: Thing, name: str, node: ir.Expr) -> Thing:
        match owner.kind:
            case "api":
                return self.m.calls.named(f"{owner.ref}.{name}")
            case "tensor":
                return self._of_tensor(owner, name)
            case "module" | "instance":
                return self.m.calls.member(owner, name, node)
            case "class":
                return self.m.calls.static_member(owner.ref, name)
            case "mapping" if isinstance(owner.items, dict) and name in owner.items:
                found: Thing = owner.items[name]
                return found
            case "foreign":
                return FOREIGN
            case "distribution":
                return Thing("tensor", owner.place or "either", sure=LIKELY, why=owner.why)
            case "device":
                return Thing("text", place=owner.place) if name == "type" else NUMBER
            case "sequence" if owner.items and name in ("values", "indices") and len(owner.items) == 2:
                pair: Thing = owner.items[0 if name == "values" else 1]
                return pair
            case "optimizer" if name == "param_groups":
                return groups_of(owner.place)
            case "unknown" if owner.place:
                return self._of_unseen(owner, name)
        return self._by_convention(name)

    def _of_tensor(self, owner: Thing, name: str) -> Thing:
        if name in table.names("attributes", "tensor"):
            return owner.but(scalar=owner.scalar, tag="", source="")
        if name in table.names("attributes", "shape"):
            number = Thing("number", cause=SIZES.get(owner.cause, ""), loop=owner.loop, why=owner.why)
            return Thing("sequence", element=number, tag="shape")
        if name == "device":
            return Thing("device", owner.place or "either", sure=owner.sure)
        if name == "dtype":
            return Thing("dtype")
        if name in table.names("attributes", "number"):
            return BOOL if name.startswith("requires") else NUMBER
        if name.startswith("is_"):
            return BOOL
        return owner.but(sure=min(owner.sure, LIKELY)) if owner.loose else UNKNOWN

    def _of_unseen(self, owner: Thing, name: str) -> Thing:
        known = name in table.names("attributes", "shape") or name == "device"
        return self._of_tensor(self.m.calls.unseen.as_tensor(owner), name) if known else owner

    def _by_convention(self, name: str) -> Thing:
        """What an attribute of something unknown may be, by its name."""
        if table.name_like("device").search(name):
            return Thing("device", "device", sure=LIKELY)
        return UNKNOWN

    # ------------------------------------------------------------------ literals and containers

    def _const(self, node: ir.Const) -> Thing:
        return constant(node.value)

    def _fstring(self, node: ir.FString) -> Thing:
        for part in node.parts:
            if not isinstance(part, str):
                self.reads.formatted(part, self.of(part), "f-string", node)
        first = node.parts[0] if node.parts else ""
        place = constant(first.partition(":")[0]).place if isinstance(first, str) else ""
        return Thing("text", place=place)

    def _sequence(self, node: ir.Sequence) -> Thing:
        found: list[Thing] = []
        starred = False
        for element in node.elements:
            thing = self.of(element)
            if isinstance(element, ir.Starred):
                starred = True
                thing = element_of(thing)
            found.append(thing)
        if starred or node.kind == "set":
            return Thing("sequence", element=join_all(found))
        return sequence(found) if found else Thing("sequence", items=(), ref=node.start)

    def _dict(self, node: ir.Dict) -> Thing:
        items: dict[str, Thing] = {}
        others: list[Thing] = []
        for key, value in zip(node.keys, node.values, strict=True):
            thing = self.of(value)
            if key is None:
                others.append(element_of(thing) if thing.kind == "mapping" else UNKNOWN)
                continue
            named = self.of(key)
            if isinstance(named.const, str):
                items[named.const] = thing
            else:
                others.append(thing)
        if others:
            return Thing("mapping", element=join_all([*others, *items.values()]))
        return Thing("mapping", items=items)

    def _lambda(self, node: ir.Lambda) -> Thing:
        return Thing("function", ref=Function(node, self.m.frame.scope, self.m.frame))

    def _yield(self, node: ir.Yield) -> Thing:
        thing = self.of(node.value) if node.value is not None else NONE
        if node.is_from:
            thing = self.iterated(thing)
        before = self.m.frame.yielded
        self.m.frame.yielded = thing if before is None else join(before, thing)
        return UNKNOWN

    def _walrus(self, node: ir.Walrus) -> Thing:
        thing = self.of(node.value)
        self.m.assign(node.target, thing, node.value)
        return thing

    def _slice(self, node: ir.Slice) -> Thing:
        bounds = (node.lower, node.upper, node.step)
        return Thing("sequence", items=tuple(NONE if b is None else self.of(b) for b in bounds), tag="slice")

    def _comprehension(self, node: ir.Comprehension) -> Thing:
        outer = fork(self.m.env)
        cause = ""
        over = self.m.over
        for generator in node.generators:
            iterable = self.of(generator.iter)
            self.m.over = [*self.m.over, over_of(iterable)]
            cause = cause or (iterable.cause if iterable.kind == "sequence" else "")
            element = self.iterated(iterable)
            self.m.assign(generator.target, element.but(tag="") if element.tag == "counter" else element)
            for test in generator.ifs:
                self.truth(test, "if")
        element = self.of(node.element)
        value = self.of(node.value) if node.value is not None else None
        self.m.over = over
        self.m.frame.env = outer
        if node.kind == "dict":
            return Thing("mapping", element=value)
        return Thing("sequence", element=element, cause=cause)

    # ------------------------------------------------------------------ operators

    def _unary(self, node: ir.Unary) -> Thing:
        if node.op == "not":
            self.truth(node.operand, "not")
            return BOOL
        thing = self.of(node.operand)
        if thing.kind == "number" and node.op == "-" and isinstance(thing.const, int | float):
            return thing.but(const=-thing.const)
        return thing.but(tag=thing.tag if thing.tag == "nan" else "") if thing.kind == "tensor" else thing

    def _binary(self, node: ir.Binary) -> Thing:
        left, right = self.of(node.left), self.of(node.right)
        if node.op == "-" and left.tag == "clock" and right.tag == "clock":
            self.reads.timed(left, right)
        return self.combined(node.op, left, right, node)

    def augmented(self, node: ir.AugAssign) -> None:
        old, new = self.of(node.target), self.of(node.value)
        if isinstance(node.target, ir.Subscript) and old.kind == "tensor":
            self.store(node.target, new, node.value, operator=node.op)
            return
        result = self.combined(node.op, old, new, node)
        if old.kind == "sequence" and node.op == "+":
            result = result.but(tag="appended")
        if (
            isinstance(node.target, ir.Attribute)
            and result.kind == "number"
            and self.m.frequency == "step"
            and new.kind == "number"
            and not new.cause
        ):
            result = result.but(cause="step-counter", loop=0, sure=LIKELY)
        self.m.assign(node.target, result, node.value)

    def combined(self, op: str, left: Thing, right: Thing, node: ir.Node) -> Thing:
        """What `left op right` gives."""
        kinds = {left.kind, right.kind}
        if "tensor" in kinds:
            if op == "%" and left.kind == "text":
                self.reads.formatted(node, right, "%", node)
                return TEXT
            return self._of_tensors(op, left, right, node)
        if left.kind == "text" and op == "%":
            for thing in right.items or (right,) if right.kind == "sequence" else (right,):
                self.reads.formatted(node, thing, "%", node)
            return TEXT
        if kinds <= {"number", "bool"}:
            return self._number(op, left, right)
        if "foreign" in kinds:
            return FOREIGN
        if kinds == {"parameters"}:
            return together((left, right))
        if "unknown" in kinds and (left.place or right.place):
            return left if left.kind == "unknown" and left.place else right
        if "number" in kinds and "unknown" in kinds:
            number = left if left.kind == "number" else right
            return number.but(const=UNKNOWN.const, sure=min(number.sure, LIKELY)) if number.cause else UNKNOWN
        if kinds == {"sequence"}:
            return self._joined(op, left, right)
        if "sequence" in kinds and op == "*":
            held = left if left.kind == "sequence" else right
            return Thing("sequence", element=element_of(held), place=held.place)
        if "text" in kinds:
            return Thing("text", place=left.place)
        return UNKNOWN

    @staticmethod
    def _joined(op: str, left: Thing, right: Thing) -> Thing:
        if op == "+" and left.items is not None and right.items is not None:
            return sequence((*left.items, *right.items))
        return Thing("sequence", element=join(element_of(left), element_of(right)))

    @staticmethod
    def _number(op: str, left: Thing, right: Thing) -> Thing:
        fold = _FOLD.get(op)
        if fold is not None and isinstance(left.const, int | float) and isinstance(right.const, int | float):
            return Thing("number", const=fold(left.const, right.const))
        for side in (left, right):
            if side.cause:
                return Thing("number", sure=side.sure, cause=side.cause, loop=side.loop, why=side.why)
        return NUMBER

    def _of_tensors(self, op: str, left: Thing, right: Thing, node: ir.Node) -> Thing:
        one, other = (left, right) if left.kind == "tensor" else (right, left)
        if op == "**" and other.kind == "number":
            self.reads.changing(node, other, ChangingConstant, via="attribute", operation="**", tensor="")
        if other.kind != "tensor":
            self.m.calls.work(one.place)
            known = other.kind in ("number", "bool", "none")
            return one.but(
                sure=one.sure if known else min(one.sure, LIKELY),
                dtype="float" if op == "/" else one.dtype if one.dtype != "bool" or op in "&|^" else "",
                tag=one.tag if one.tag == "nan" else "",
                source="",
                const=UNKNOWN.const,
                ref=None,
            )
        place = joined_place(left.place, right.place)
        if place == "device" and self.m.frequency == "step":
            self.reads.sent(left, right, node)
        lead = left if left.place == place else right
        self.m.calls.work(place)
        return Thing(
            "tensor",
            place,
            sure=min(left.sure, right.sure) if place == "either" else lead.sure,
            dtype=left.dtype if left.dtype == right.dtype else "",
            scalar=left.scalar and right.scalar,
            cause=left.cause or right.cause,
            tag="nan" if "nan" in (left.tag, right.tag) and op in "&|" else "",
            source=left.source if left.source == right.source else "",
            why=lead.why,
        )

    def _bool(self, node: ir.Bool) -> Thing:
        *tested, last = node.values
        found = [self.truth(value, node.op) for value in tested]
        with self.m.branch() as way, self.m.seldom(tested[0], node.op == "and"):
            found.append(self.of(last))
        self.m.maybe(way, set())
        return join_all(found)

    def _compare(self, node: ir.Compare) -> Thing:
        left = self.of(node.left)
        result: Thing = BOOL
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.of(comparator)
            result = self._compared(node, op, left, right)
            left = right
        if len(node.ops) > 1 and result.kind == "tensor":
            self.reads.host(node, result, "truth", "chained comparison")
        return result

    def _compared(self, node: ir.Compare, op: str, left: Thing, right: Thing) -> Thing:
        if op in ("is", "is not"):
            return BOOL
        if op in ("in", "not in"):
            self.reads.membership(node, left, right)
            return BOOL
        if "tensor" not in (left.kind, right.kind):
            cause = next((s for s in (left, right) if s.cause in _CHANGING), None)
            if cause is None:
                return BOOL
            return Thing("bool", cause=cause.cause, loop=cause.loop, sure=cause.sure, why=cause.why)
        if "none" in (left.kind, right.kind) or "text" in (left.kind, right.kind):
            return BOOL
        tensor = self._of_tensors(op, left, right, node)
        source = self.m.source(node.left) if left.kind == "tensor" else ""
        return tensor.but(dtype="bool", source=source, tag="", const=UNKNOWN.const)

    def _if(self, node: ir.IfExp) -> Thing:
        holds = self.decided(node.test)
        tested = self.truth(node.test, "if")
        if holds is not None:
            return self.of(node.body if holds else node.orelse)
        before = fork(self.m.env)
        ways: list[set[str]] = []
        found: list[Thing] = []
        for arm, taken in ((node.body, True), (node.orelse, False)):
            self.m.frame.env = fork(before)
            self.narrow(node.test, taken)
            with self.m.branch() as way, self.m.seldom(node.test, taken):
                found.append(self.of(arm))
            ways.append(way)
        self.m.frame.env = before
        if tested.cause == "random" and any(thing.kind == "tensor" for thing in found):
            self.reads.branched(node.test, tested)
        self.m.maybe(*ways)
        return join(*found)

    # ------------------------------------------------------------------ tests

    def truth(self, node: ir.Expr, word: str) -> Thing:
        """Evaluates a test; a tensor there is read on the host."""
        match node:
            case ir.Unary(op="not", operand=operand):
                self.truth(operand, word)
                return BOOL
            case ir.Bool(op=op, values=values):
                return join_all([self.truth(value, word if i == 0 else op) for i, value in enumerate(values)])
        thing = self.of(node)
        if thing.kind == "tensor" and not (isinstance(node, ir.Compare) and len(node.ops) > 1):
            self.reads.host(node, thing, "nan-check" if thing.tag == "nan" else "truth", word)
        return thing

    def decided(self, test: ir.Expr) -> bool | None:
        """What a test gives, where the abstract values are enough to tell."""
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
                return (op == "is") if thing is not None and thing.kind == "none" else None
            case ir.Call(func=ir.Name(id="isinstance"), args=(subject, kind)) if isinstance(
                subject.value, ir.Name
            ):
                return self._is_tensor(subject.value, kind.value)
        return None

    def _known(self, node: ir.Name) -> Thing | None:
        return self.m.env.get(node.id)

    def _is_tensor(self, subject: ir.Name, kind: ir.Expr) -> bool | None:
        thing = self._known(subject)
        if thing is None or self.m.names.dotted(kind, self.m.frame.scope) != "torch.Tensor":
            return None
        if thing.kind in ("number", "bool", "text", "none", "foreign", "sequence", "mapping"):
            return False
        certain = thing.kind == "tensor" and not thing.loose and thing.sure > LIKELY
        return True if certain else None

    def narrow(self, test: ir.Expr, holds: bool) -> None:
        """What names hold where a test does, or does not."""
        match test:
            case ir.Unary(op="not", operand=operand):
                self.narrow(operand, not holds)
            case ir.Bool(op=op, values=values) if (op == "and") == holds:
                for value in values:
                    self.narrow(value, holds)
            case ir.Call(func=ir.Name(id="isinstance"), args=(subject, kind)) if holds:
                thing = self.of(subject.value)
                name = path_of(subject.value)
                tensor = self.m.names.dotted(kind.value, self.m.frame.scope) == "torch.Tensor"
                if tensor and name and thing.kind == "unknown":
                    self.m.put(name, Thing("tensor", "either", sure=POSSIBLE))

    # ------------------------------------------------------------------ parts of things

    def iterated(self, thing: Thing) -> Thing:
        """What a loop over the thing gives in a round."""
        match thing.kind:
            case "tensor":
                return thing.but(scalar=False, tag="", source="", why=thing.why)
            case "sequence":
                return element_of(thing)
            case "loader":
                self.m.effects.add("batch")
                return thing.element or Thing("tensor", thing.place or "host", sure=LIKELY, loose=True)
            case "dataset":
                return Thing("tensor", "host", sure=LIKELY, loose=True)
            case "mapping":
                return TEXT
            case "module":
                part = thing.element or Thing("module", sure=LIKELY)
                return self.m.calls.placed(part, thing)
            case "parameters":
                return thing.element or UNKNOWN
            case "foreign":
                return FOREIGN
            case "unknown" if thing.place:
                return thing
        return UNKNOWN

    def unpacked(self, thing: Thing, count: int) -> list[Thing]:
        """The parts of a thing that is assigned to several names."""
        if thing.kind == "sequence" and thing.items is not None and len(thing.items) == count:
            return list(thing.items)
        return [self.iterated(thing)] * count

    def _subscript(self, node: ir.Subscript) -> Thing:
        return self.indexing.read(node, self.of(node.value))

    def store(self, target: ir.Subscript, thing: Thing, value: ir.Expr | None, operator: str = "") -> None:
        self.indexing.write(target, self.of(target.value), thing, value, operator)


def joined_place(one: Place, other: Place) -> Place:
    """Where the result of an operation is: on the accelerator if any operand is."""
    if "device" in (one, other):
        return "device"
    return join_place(one, other)


def groups_of(place: Place) -> Thing:
    """The `param_groups` of an optimizer."""
    parameter = Thing("tensor", place or "device", sure=LIKELY, tag="parameter")
    return Thing(
        "sequence", element=Thing("mapping", items={"params": Thing("parameters", element=parameter)})
    )

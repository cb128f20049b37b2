"""Expressions: what they may be, and what evaluating them does."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from xlamig import ir
from xlamig.flow.interp.alternatives import either, several
from xlamig.flow.interp.choices import Choices
from xlamig.flow.interp.comprehended import comprehended
from xlamig.flow.interp.conventions import HOST_SIZES, by_convention, kept_on_host
from xlamig.flow.interp.decisions import Decisions
from xlamig.flow.interp.domain import (
    BOOL,
    LIKELY,
    NONE,
    NUMBER,
    TOP,
    AbstractValue,
    Mark,
    as_tensor,
    constant,
    element_of,
    groups_of,
    join_all,
    sequence,
)
from xlamig.flow.interp.frames import ClassInfo, Frame, Function
from xlamig.flow.interp.generators import yield_value
from xlamig.flow.interp.indexing import Indexing
from xlamig.flow.interp.iteration import Iteration
from xlamig.flow.interp.kept import kept_entry
from xlamig.flow.interp.lengths import attribute_of_object
from xlamig.flow.interp.operators import Operators
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.results import attribute_shape, real_dtype, sizes_of
from xlamig.flow.interp.sizes import Sizes
from xlamig.flow.interp.slices import index_of, indexes
from xlamig.flow.interp.state import State
from xlamig.flow.interp.texts import joined_texts
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table

_BUILTINS = frozenset(dir(builtins))


class Evaluator:
    def __init__(self, state: State, reads: Reads, sizes: Sizes) -> None:
        self.m = state
        self.reads = reads
        self.indexing = Indexing(state, reads, sizes)
        self.operators = Operators(state, reads)
        self.tests = Decisions(state, reads)
        self.iteration = Iteration(state)
        self.choices = Choices(state, reads, self.tests)
        # Any: each function takes the type of its key
        self._by_type: dict[type[ir.Node], Callable[[Any], AbstractValue]] = {
            ir.Name: self._name,
            ir.Attribute: self._attribute,
            ir.Const: lambda node: constant(node.value),
            ir.FString: self._fstring,
            ir.Call: lambda node: self.m.semantics.call_expression(node),
            ir.Subscript: self._subscript,
            ir.Unary: self.operators.unary,
            ir.Binary: self.operators.binary,
            ir.Bool: self.choices.of_operator,
            ir.Compare: self.operators.compare,
            ir.IfExp: self.choices.of_condition,
            ir.Sequence: self._sequence,
            ir.Dict: self._dict,
            ir.Lambda: self._lambda,
            ir.Comprehension: lambda node: comprehended(self.m, node),
            ir.Await: lambda node: self.of(node.value),
            ir.Starred: lambda node: self.of(node.value),
            ir.Yield: self._yield,
            ir.Walrus: self._walrus,
            ir.Slice: self._slice,
            ir.BigLiteral: lambda node: AbstractValue("sequence", element=NUMBER),
        }

    def of(self, node: ir.Expr) -> AbstractValue:
        """Return the value of an expression."""
        return self._by_type[type(node)](node)

    def _name(self, node: ir.Name) -> AbstractValue:
        frame: Frame | None = self.m.frame
        while frame is not None:
            thing = frame.env.get(node.id)
            if thing is not None:
                registry = self.m.program.registry(self.m.names.module, node.id) if not frame.parent else None
                return registry or thing
            frame = frame.parent
        dotted = self.m.names.dotted(node, self.m.frame.scope)
        if dotted is not None:
            return self.m.semantics.named(dotted)
        own = self.m.frame.scope.lookup(node.id) or node.id not in _BUILTINS
        return TOP if own else AbstractValue("api", ref=node.id)

    def _attribute(self, node: ir.Attribute) -> AbstractValue:
        path = path_of(node)
        if path and (known := self.m.env.get(path)) is not None:
            return known
        return self.attribute(self.of(node.value), node.attr, node)

    def attribute(self, owner: AbstractValue, name: str, node: ir.Expr) -> AbstractValue:
        """Return the value of an attribute of a value."""
        if ways := several(owner):
            return either(self.m, ways, lambda way: self.attribute(way, name, node))
        match owner.kind:
            case "api":
                return self.m.semantics.named(f"{owner.ref}.{name}")
            case "tensor":
                return self._of_tensor(owner, name)
            case "module" | "instance":
                return self.m.semantics.member(owner, name, node)
            case "class" if isinstance(owner.ref, ClassInfo):
                return self.m.semantics.static_member(owner.ref, name)
            case "mapping" | "unknown" if owner.fields is not None and name in owner.fields:
                return owner.fields[name]
            case "foreign":
                return attribute_of_object(self.m, owner, name)
            case "distribution":
                return self._of_distribution(owner, name)
            case "device":
                return AbstractValue("text", place=owner.place) if name == "type" else NUMBER
            case "sequence" if owner.items and name in ("values", "indices") and len(owner.items) == 2:
                pair: AbstractValue = owner.items[0 if name == "values" else 1]
                return pair
            case "optimizer" if name == "param_groups":
                return groups_of(owner.place)
            case "unknown" if owner.place:
                return self._of_unseen(owner, name)
        known = by_convention(name)
        kept = kept_entry(self.m, node, owner, name) if known is TOP and owner.kind == "unknown" else None
        return kept or known

    def _of_tensor(self, owner: AbstractValue, name: str) -> AbstractValue:
        if name in table.names("attributes", "tensor"):
            dtype = real_dtype(owner.dtype) if name in table.names("attributes", "real") else owner.dtype
            const, shape = owner.const if name != "grad" else TOP.const, attribute_shape(name, owner.shape)
            return owner.replace(shape=shape, dtype=dtype, trait=None, source="", const=const)
        if name in table.names("attributes", "shape"):
            return sizes_of(owner)
        if name == "device":
            asked = Mark.ASKED if owner.place == "host" else None
            return AbstractValue("device", owner.place or "either", sure=owner.sure, trait=asked)
        if name == "dtype":
            return AbstractValue("dtype")
        if name in table.names("attributes", "number") or name.startswith("is_"):
            return BOOL if name.startswith(("requires", "is_")) else NUMBER
        if kept_on_host(name):
            return HOST_SIZES
        if (
            not owner.loose
            or table.name_like("setting").search(name)
            or signatures.signature(f"Tensor.{name}")
        ):
            return TOP  # of a method, the name itself: `batch.split` is another object's attribute
        return owner.replace(sure=min(owner.sure, LIKELY))

    @staticmethod
    def _of_distribution(owner: AbstractValue, name: str) -> AbstractValue:
        if name in table.names("attributes", "shape-of-distribution"):
            return AbstractValue("sequence", element=NUMBER, trait=Mark.SHAPE)
        if name in table.names("attributes", "other-of-distribution"):
            return TOP
        return AbstractValue("tensor", owner.place or "either", sure=LIKELY, why=owner.why)

    def _of_unseen(self, owner: AbstractValue, name: str) -> AbstractValue:
        known = name in table.names("attributes", "shape") or name in ("device", "dtype")
        unseen = TOP if table.name_like("setting").search(name) else owner
        return self._of_tensor(as_tensor(owner), name) if known else unseen

    def _fstring(self, node: ir.FString) -> AbstractValue:
        things = [constant(part) if isinstance(part, str) else self.of(part) for part in node.parts]
        for part, thing in zip(node.parts, things, strict=True):
            if not isinstance(part, str):
                self.reads.formatted(part, thing, "f-string", node)
        return joined_texts(things)

    def _sequence(self, node: ir.Sequence) -> AbstractValue:
        found: list[AbstractValue] = []
        starred = False
        for element in node.elements:
            thing = self.of(element)
            if isinstance(element, ir.Starred) and thing.kind == "sequence" and thing.items is not None:
                found.extend(thing.items)
                continue
            if isinstance(element, ir.Starred):
                starred = True
                thing = element_of(thing)
            found.append(thing)
        if starred and node.kind == "tuple" and indexes(found):
            return index_of(found)
        if starred or node.kind == "set":
            trait = Mark.SET if node.kind == "set" else None
            return AbstractValue("sequence", element=join_all(found), trait=trait)
        return sequence(found) if found else AbstractValue("sequence", items=(), ref=node.start)

    def _dict(self, node: ir.Dict) -> AbstractValue:
        items: dict[str, AbstractValue] = {}
        others: list[AbstractValue] = []
        for key, value in zip(node.keys, node.values, strict=True):
            thing = self.of(value)
            if key is None:
                if thing.kind == "mapping" and thing.fields is not None:
                    items |= thing.fields
                else:
                    others.append(element_of(thing) if thing.kind == "mapping" else TOP)
                continue
            named = self.of(key)
            if isinstance(named.const, str):
                items[named.const] = thing
            else:
                others.append(thing)
        if others:
            held = join_all([*others, *items.values()])
            return AbstractValue("mapping", element=held, ref=self.m.birth)
        return AbstractValue("mapping", fields=items, ref=self.m.birth)

    def _lambda(self, node: ir.Lambda) -> AbstractValue:
        return AbstractValue("function", ref=Function(node, self.m.frame.scope, self.m.frame))

    def _yield(self, node: ir.Yield) -> AbstractValue:
        thing = self.of(node.value) if node.value is not None else NONE
        if node.is_from:
            thing = self.iteration.iterated(thing)
        yield_value(self.m, thing)
        return TOP

    def _walrus(self, node: ir.Walrus) -> AbstractValue:
        thing = self.of(node.value)
        self.m.semantics.assign(node.target, thing, node.value)
        return thing

    def _slice(self, node: ir.Slice) -> AbstractValue:
        bounds = (node.lower, node.upper, node.step)
        return AbstractValue(
            "sequence", items=tuple(NONE if b is None else self.of(b) for b in bounds), trait=Mark.SLICE
        )

    def _subscript(self, node: ir.Subscript) -> AbstractValue:
        return self.indexing.read(node, self.of(node.value))

    def store(
        self, target: ir.Subscript, thing: AbstractValue, value: ir.Expr | None, operator: str = ""
    ) -> None:
        """Write a value to an element: `x[i] = value`, `x[i] += value`."""
        self.indexing.write(target, self.of(target.value), thing, value, operator)

"""Methods of everything that is no tensor and no module: optimizers, containers, loggers, unknown things."""

from __future__ import annotations

from dataclasses import dataclass

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.builtins import Builtins
from xlamig.flow.interp.distributions import Distributions
from xlamig.flow.interp.domain import (
    NONE,
    NUMBER,
    TEXT,
    TOP,
    AbstractValue,
    Mark,
    element_of,
    join,
    sequence,
    updated,
)
from xlamig.flow.interp.fitted import note_fit
from xlamig.flow.interp.host_batches import array_method
from xlamig.flow.interp.kept import kept_entry
from xlamig.flow.interp.keywords import take_keyword
from xlamig.flow.interp.last_batches import take_batch
from xlamig.flow.interp.lengths import is_sorted_by_length, joined
from xlamig.flow.interp.let_through import after_skip, as_let_through
from xlamig.flow.interp.libraries import Libraries
from xlamig.flow.interp.optimizer_calls import call_optimizer, call_scaler
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.shown_objects import attributes_shown
from xlamig.flow.interp.sizes import Sizes
from xlamig.flow.interp.state import State
from xlamig.flow.interp.texts import filled_text
from xlamig.flow.interp.unknown_objects import UnknownObjects
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


@dataclass(eq=False, slots=True)
class Objects:
    m: State
    reads: Reads
    sizes: Sizes
    libraries: Libraries
    unknown: UnknownObjects
    distributions: Distributions
    builtins: Builtins

    def method(self, owner: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """Return the value of a call of a method, by the kind of its object."""
        if name == "sort" and owner.kind in ("sequence", "unknown") and is_sorted_by_length(args, self.m):
            assert isinstance(node.func, ir.Attribute)
            element = self.m.semantics.iterate(owner)
            ordered = AbstractValue("sequence", element=element, trait=Mark.BY_LENGTH)
            self._put(node.func.value, path_of(node.func.value), ordered)
            return NONE
        if owner.kind == "bool" and not hasattr(bool, name):
            owner = owner.replace(kind="unknown", trait=None)  # a tensor's comparison
        if owner.kind == "unknown":
            self.libraries.observe(owner, name, args, node)
        match owner.kind:
            case "loader" | "sequence" if name in ("next", "__next__") and not args.all:
                take_batch(self.m, owner)
                return self.m.semantics.iterate(owner)
            case "sequence":
                return self._of_sequence(owner, name, args, node)
            case "mapping":
                return self._of_mapping(owner, name, args, node)
            case "text":
                return self._of_text(owner, name, args, node)
            case "optimizer":
                return call_optimizer(self.m, owner, name, args, node)
            case "scheduler":
                if name == "step" and owner.trait is Mark.PLATEAU and args.positional:
                    self.reads.host(
                        node, args.positional[0], "scheduler", "ReduceLROnPlateau.step", args.node(0)
                    )
                return TOP
            case "scaler":
                return call_scaler(self.m, name, args, node)
            case "distribution":
                return self.distributions.method(owner, name, args, node)
            case "parameters":
                return owner
            case "foreign" if isinstance(owner.trait, Mark):
                return array_method(self.sizes, owner, name, node)
            case "foreign" if owner.trait is not None:
                note_fit(self.m, self.unknown.modules.moves, owner, name, args, node)
                return self.libraries.method(owner, name, args, node)
            case "foreign":
                return self.unknown.of_foreign(name, args, node)
            case "number" | "bool":
                return NUMBER
            case "device" | "logger":  # below a logger's level nothing is read
                return NONE
        return self.unknown.call(owner, name, args, node)

    def _of_text(self, owner: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue:
        if name != "format":
            return TEXT
        self.unknown.record_formatted(args, node, "str.format")
        for part, thing in attributes_shown(self.m, owner, args, node):
            self.reads.formatted(part, thing, "str.format", node)
        return filled_text(owner, "{}", args.all)

    # ------------------------------------------------------------------ containers

    def _of_sequence(self, owner: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue:
        assert isinstance(node.func, ir.Attribute)
        path = path_of(node.func.value)
        if name in ("append", "extend", "insert", "appendleft") and args.positional:
            new = args.positional[-1] if name != "extend" else self.m.semantics.iterate(args.positional[0])
            trait = owner.trait if owner.trait in (Mark.RING, Mark.GROWS) else Mark.APPENDED
            known = owner.items or owner.element
            element = join(element_of(owner), new) if known else new
            changed = AbstractValue("sequence", element=element, trait=trait, loop=owner.loop, ref=owner.ref)
            changed = after_skip(self.m, as_let_through(changed, owner))
            if name == "extend":
                changed = joined(changed, owner, args.positional[0])
            self._put(node.func.value, path, changed)
            return NONE
        if name == "clear":
            self._put(node.func.value, path, AbstractValue("sequence", items=(), trait=Mark.RING))
            return NONE
        if name in ("pop", "popleft"):
            return element_of(owner)
        if name == "copy":
            return owner
        if name == "sort":
            self.builtins.ordering.in_place(owner, args, node)
            return NONE
        if name in ("index", "count"):
            if args.positional and args.positional[0].kind == "tensor":
                self.reads.host(node, args.positional[0], "builtin", f"list.{name}", args.node(0))
            return NUMBER
        if name == "__len__":
            return self.builtins.call("len", Args([owner]), node)
        if name == "numel":  # of a shape
            return NUMBER
        return TOP

    def _put(self, target: ir.Expr, path: str, changed: AbstractValue) -> None:
        if isinstance(target, ir.Subscript):
            self.m.semantics.store(target, changed, None)
        elif path:
            self.m.put(path, changed)
            if isinstance(target, ir.Attribute):
                self.m.semantics.set_attribute(target, changed, None)

    def _of_mapping(self, owner: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue:
        assert isinstance(node.func, ir.Attribute)
        element = element_of(owner) if owner.fields or owner.element else TOP
        match name:
            case "items":
                return AbstractValue("sequence", element=sequence((TEXT, element)), trait=element.trait)
            case "values":
                return AbstractValue("sequence", element=element)
            case "keys":
                return AbstractValue("sequence", element=TEXT)
            case "get" | "pop" | "setdefault":
                if (taken := take_keyword(self.m, node.func.value, name, args)) is not None:
                    return taken
                key = args.positional[0].const if args.positional else None
                if owner.fields is not None and isinstance(key, str) and key in owner.fields:
                    return owner.fields[key]
                kept = kept_entry(self.m, node.func.value, owner, key) if element is TOP else None
                return kept or element
            case "update":
                self._put(
                    node.func.value, path_of(node.func.value), updated(owner, args.get(0), args.keywords)
                )
                return NONE
            case "copy":
                return owner
            case "to":
                held = owner.fields.values() if owner.fields is not None else (element,)
                for item in held:
                    self.sizes.moved(item, node)
                moved = element.replace(place="device", cause="") if element.kind == "tensor" else element
                return AbstractValue("mapping", element=moved)
        if owner.trait is Mark.REGISTRY and not name.startswith("register"):
            makes = table.name_like("makes").search(name) is not None
            return self.m.semantics.reach(element, node, args) if makes else element
        return TOP

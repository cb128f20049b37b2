"""Assignment to names, attributes, elements and several targets."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.alternatives import several
from xlamig.flow.interp.conventions import HOST_SIZES, is_moved_model, kept_on_host
from xlamig.flow.interp.domain import LIKELY, MISSING, AbstractValue, Mark, element_of, join
from xlamig.flow.interp.frames import ClassInfo
from xlamig.flow.interp.growth import record_growth_of
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.one_rank import note_updated
from xlamig.flow.interp.opaque_calls import OpaqueCalls
from xlamig.flow.interp.optimizer_calls import made_of_parameters
from xlamig.flow.interp.ragged import record_ragged
from xlamig.flow.interp.reads import VALUE_SIZES
from xlamig.flow.interp.state import State
from xlamig.flow.model.kinds import is_optimizer_name
from xlamig.flow.model.overwritten import is_overwritten
from xlamig.flow.model.scopes import path_of

_HANDED_BACK = ("module", "optimizer", "scheduler")


class Assignment:
    def __init__(self, state: State, moves: Moves, opaque: OpaqueCalls) -> None:
        self.m = state
        self.moves, self.opaque = moves, opaque

    def assign(self, target: ir.Expr, thing: AbstractValue, value: ir.Expr | None = None) -> None:
        """Assign a value to a target; `value` is the expression that it comes from."""
        if thing.kind == "unknown":
            thing = self.opaque.assigned(target, thing)
            thing = self._handed_back(target, value) or thing
            if thing.kind == "unknown" and is_optimizer_name(path_of(target).rpartition(".")[2]):
                thing = made_of_parameters(self.m, self.moves, value) or thing
        elif thing.kind == "tensor" and thing.loose and is_moved_model(target, value):
            thing = AbstractValue("module", thing.place, sure=LIKELY, loose=True, why=thing.why)
        elif thing.kind == "tensor":
            thing = self.opaque.assigned(target, thing)
        if isinstance(value, ir.Comprehension):
            record_ragged(self.m, target, value, thing)
        match target:
            case ir.Name(id=name):
                self._assign_name(name, thing)
            case ir.Attribute():
                self.set_attribute(target, thing, value)
            case ir.Subscript():
                self.m.semantics.store(target, thing, value)
            case ir.Sequence(elements=elements):
                items = self.m.semantics.unpack(thing, len(elements))
                call = value if thing.kind == "unknown" and isinstance(value, ir.Call) else None
                for part, item in zip(elements, items, strict=True):
                    sizes = HOST_SIZES if item.kind == "tensor" and kept_on_host(path_of(part)) else None
                    self.assign(part, sizes or self._handed_back(part, call) or item)
            case ir.Starred(value=inner):
                self.assign(inner, AbstractValue("sequence", element=element_of(thing)))

    def _handed_back(self, target: ir.Expr, value: ir.Expr | None) -> AbstractValue | None:
        """Return the module or optimizer that an unknown function takes and gives back under the same name:
        `model, optimizer = amp.initialize(model, optimizer)`; None for anything else."""
        path = path_of(target)
        for arg in value.args if path and isinstance(value, ir.Call) else ():
            if path_of(arg.value) == path:
                given = self.m.semantics.evaluate(arg.value)
                if given.kind in _HANDED_BACK:
                    return given.replace(sure=min(given.sure, LIKELY))
        return None

    def _assign_name(self, name: str, thing: AbstractValue) -> None:
        thing = self.m.until_moved.bound(name, thing)
        if self.m.frame.scope.outer_names.get(name) == "global":
            module = self.m.frame.module.env
            module[name] = join(module[name], thing) if name in module else thing
        else:
            self.m.env[name] = thing
        self.m.forget_attributes(name)

    def set_attribute(self, target: ir.Attribute, thing: AbstractValue, value: ir.Expr | None) -> None:
        """Assign to an attribute; its class learns what the attribute may hold."""
        m = self.m
        owner = m.semantics.evaluate(target.value)
        path = path_of(target)
        self.moves.attribute(target, owner, thing, value)
        if target.attr == "data" and owner.kind == "tensor":
            note_updated(m, target, owner)
        record_growth_of(m, thing, f".{target.attr}")
        if thing.cause in VALUE_SIZES | {"dynamic"} and m.frame.scope.name.endswith(".__init__"):
            thing = thing.replace(cause="")  # read once, and the same every step
        if thing.on_host:  # methods may change it, and the data of another step
            thing = thing.replace(const=MISSING)
        if thing.trait is Mark.APPENDED and m.frequency == "step":
            thing = thing.replace(trait=Mark.GROWS, loop=0)
        if path:
            m.put(path, thing)
        m.effects.assign(target.attr)
        kinds = [way.ref for way in several(owner) or (owner,) if way.kind in ("module", "instance")]
        classes = [ref for ref in kinds if isinstance(ref, ClassInfo)]
        if not classes or m.kept_off or self._is_replaced(target, path):
            return
        for info in classes:
            if not m.frame.scope.name.endswith(".__init__"):
                info.rewritten.add(target.attr)
            m.hold(info, target.attr, thing)

    def _is_replaced(self, target: ir.Attribute, path: str) -> bool:
        """Return whether the method goes on to give an attribute another value, whichever branches run:
        `self.table = self.table.to("cpu")`."""
        scope = self.m.frame.scope
        made = [binding for binding in scope.find(path) if binding.scope is scope] if path else []
        here = next((one for one in made if one.start <= target.start < one.end), None)
        later = [one for one in made if here is not None and one.start > here.start]
        if here is None or not later:
            return False
        if any(one.block == here.block for one in later):
            return True
        return isinstance(scope.node, ir.FunctionDef) and is_overwritten(scope.node.body, path, here.start)

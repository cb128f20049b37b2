"""Objects that a call of a class makes."""

from __future__ import annotations

from dataclasses import dataclass

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.call_contexts import CallContexts
from xlamig.flow.interp.crossing import named
from xlamig.flow.interp.distributions import Distributions, precedes_project
from xlamig.flow.interp.domain import LIKELY, TOP, AbstractValue
from xlamig.flow.interp.frames import ClassInfo, Function
from xlamig.flow.interp.layers import is_wrapper
from xlamig.flow.interp.left_out import record_fields
from xlamig.flow.interp.state import State
from xlamig.knowledge import values as table

_CALLED = ("__call__", "forward")
_MOVES = frozenset({"cpu", "cuda", "to", "xla"})


def is_rewritten(info: ClassInfo, name: str) -> bool:
    """Return whether an attribute may have got another value after its object was made."""
    has_constructor = any("__init__" in cls.methods for cls in info.lineage())
    return name in (info.rewritten if has_constructor else info.assigned)


def _run_by_call(owner: AbstractValue) -> tuple[str, ...]:
    """Return the methods that calling an object runs, first the one that gets the arguments."""
    lineage = owner.ref.lineage() if isinstance(owner.ref, ClassInfo) else []
    own = next((name for name in _CALLED if any(name in cls.methods for cls in lineage)), "")
    above = (table.called_by(base) for cls in lineage for base in sorted(cls.outside))
    return (own,) if own else next(filter(None, above), ())


def stays_itself(owner: AbstractValue, name: str) -> bool:
    """Return whether a method of a library's module, as torchmetrics' metrics are, gives the object back."""
    if not isinstance(owner.ref, ClassInfo) or name not in table.names("modules", "same") | _MOVES:
        return False
    outside = (base for cls in owner.ref.lineage() for base in cls.outside)
    return any(map(table.called_by, outside))


def _moved_by_itself(made: AbstractValue, init: Function, args: Args) -> AbstractValue:
    """Return a new module where its constructor has moved it: `self.to(device)`."""
    own = args.filled.get(init.node.params[0].name) if init.node.params else None
    if made.kind != "module" or own is None:
        return made
    return made.replace(place=own.place, sure=own.sure, why=own.why)


def of_constructor(info: ClassInfo, name: str) -> AbstractValue:
    """Return the object that `Net.from_pretrained(path)` makes, where running it tells nothing."""
    if not name.startswith("from_"):
        return TOP
    return AbstractValue("module" if info.is_module else "instance", "host", sure=LIKELY, ref=info)


@dataclass(eq=False, slots=True)
class Instances:
    m: State
    call_contexts: CallContexts
    distributions: Distributions

    def call(self, owner: AbstractValue, args: Args, node: ir.Call) -> AbstractValue | None:
        """Return the result of calling an object; None if the project does not define what that runs."""
        methods = filter(None, (self.method_of(owner, name) for name in _run_by_call(owner)))
        first = next(methods, None)
        result = self.call_contexts.call(first, args, node) if first is not None else None
        for method in methods:
            result = self.call_contexts.call(method, Args(), node)
        return result

    def method_of(self, owner: AbstractValue, name: str) -> Function | None:
        """Return a method that the project defines, bound to the object; None without one."""
        if not isinstance(owner.ref, ClassInfo):
            return None
        for cls in owner.ref.lineage():
            if name in cls.methods:
                made = self.m.function(cls.methods[name], cls.frame, cls)
                if made.kind != "static":
                    made.bound = owner
                return made
        return None

    def above(self) -> AbstractValue:
        """Return what `super()` stands for: the object as one of the class above."""
        own, owner = self.m.env.get("self"), self.m.frame.owner
        if own is None or owner is None:
            return TOP
        if not owner.bases or precedes_project(owner):
            return own.replace(ref=None) if own.kind == "module" else self.distributions.above(owner)
        return own.replace(ref=owner.bases[0])

    def construct(self, info: ClassInfo, args: Args, node: ir.Call) -> AbstractValue:
        """Return a new object of a class, after running its constructor."""
        place = self.m.default_place if info.is_module else ""
        made = AbstractValue("module" if info.is_module else "instance", place, ref=info)
        for cls in info.lineage():
            if "__init__" in cls.methods:
                init = self.m.function(cls.methods["__init__"], cls.frame, cls)
                init.bound = made
                self.call_contexts.call(init, args, node)
                made = _moved_by_itself(made, init, args)
                made = made.replace(fields=self._stored(info, init, args) or None)
                break
        else:
            record_fields(self.m, info, args)
            made = made.replace(fields=self._fields(info, args) or None)
        if is_wrapper(info):
            self._wrap(info, args)
        return made

    def _stored(self, info: ClassInfo, init: Function, args: Args) -> dict[str, AbstractValue]:
        """Return the tensors that a constructor only stores, as `self.mask = mask`, each under its
        attribute: another object of the class may hold one of another place or shape."""
        if info.is_module or args.starred or not any(thing.kind == "tensor" for thing in args.all):
            return {}
        names = [param.name for param in init.node.params][1:]
        given = dict(zip(names, args.positional, strict=False)) | args.keywords
        held = {}
        for attribute, bindings in info.scope.attributes.items():
            value = bindings[0].value
            if len(bindings) != 1 or bindings[0].scope is not init.scope or not isinstance(value, ir.Name):
                continue
            thing = given.get(value.id)
            if thing is not None and thing.kind == "tensor" and len(init.scope.find(value.id)) == 1:
                held[attribute] = thing
        return {attribute: self._for_class(info, thing) for attribute, thing in held.items()}

    def _wrap(self, info: ClassInfo, args: Args) -> None:
        """An object of a class such as `MyParallel(nn.DataParallel)` keeps the module that it runs."""
        given = [thing for thing in args.all if thing.kind == "module"]
        if given:
            info.hold("module", self._for_class(info, given[0]))

    def _for_class(self, info: ClassInfo, thing: AbstractValue) -> AbstractValue:
        """Return a value of this module as one that a class may keep, which may be of another."""
        foreign = info.frame.home != self.m.names.module
        return named(thing, self.m.filename) if foreign else thing

    def _fields(self, info: ClassInfo, args: Args) -> dict[str, AbstractValue]:
        """A dataclass keeps its arguments under the names of its fields."""
        fields = [
            s.target.id
            for s in info.node.body
            if isinstance(s, ir.AnnAssign) and isinstance(s.target, ir.Name)
        ]
        positional = args.positional
        if args.starred and len(positional) == 1:
            positional = positional * len(fields)
        given = dict(zip(fields, positional, strict=False))
        given.update((name, thing) for name, thing in args.keywords.items() if name in fields)
        if info.frame.home != self.m.names.module:
            given = {name: named(thing, self.m.filename) for name, thing in given.items()}
        known = info.attributes
        if any(name not in known or known[name].key() != thing.key() for name, thing in given.items()):
            info.version += 1
        info.attributes.update(given)
        return given

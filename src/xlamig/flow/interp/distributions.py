"""Distributions of torch: which of their methods check a tensor, and read the answer on the host."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import LIKELY, NONE, POSSIBLE, TOP, AbstractValue, Residence
from xlamig.flow.interp.frames import ClassInfo
from xlamig.flow.interp.reads import Reads, sureness
from xlamig.flow.interp.state import State
from xlamig.flow.model.kinds import is_distribution_class
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

_ABSTRACT = "Distribution"
_ALWAYS_HELD = frozenset({"dependent", "dependent_property"})  # constraints that ask nothing


def is_distribution(info: ClassInfo) -> bool:
    """Return whether a class of torch's distributions stands above a class of the project."""
    return bool(_bases(info))


def makes_distribution(node: ir.FunctionDef, owner: ClassInfo | None) -> bool:
    """Return whether a function is the constructor of a distribution, which steps make: of their outputs."""
    return node.name == "__init__" and owner is not None and not owner.is_module and is_distribution(owner)


def inherits_method(info: ClassInfo, name: str) -> bool:
    """Return whether a class has a method from torch's distributions, not from a class of the project."""
    if name not in table.names("distributions", "methods") or not is_distribution(info):
        return False
    for cls in info.lineage():
        if name in cls.methods:
            return False
        if precedes_project(cls):
            return True
    return True


def precedes_project(cls: ClassInfo) -> bool:
    """Return whether torch's base stands before those of the project: its methods are found first."""
    own = {base.node.name for base in cls.bases}
    written = [path_of(arg.value).rpartition(".")[2] in own for arg in cls.node.args if not arg.keyword]
    return bool(written) and not written[0] and any(map(is_distribution_class, cls.outside))


def checking(state: State, word: str, name: str, args: Args) -> str | None:
    """Return the name of a distribution whose methods check tensors, where no finding about its creation
    tells of it: it is made of numbers, or before the steps."""
    asked = args.keywords.get("validate_args")
    if word != "distribution" or (asked is not None and asked.const is False):
        return None
    of_numbers = bool(args.all) and all(value.kind in ("number", "bool") for value in args.all)
    return name if of_numbers or (state.frequency == "once" and not state.repeating) else None


class Distributions:
    def __init__(self, state: State, reads: Reads) -> None:
        self.m, self.reads = state, reads

    def above(self, info: ClassInfo) -> AbstractValue:
        """Return what `super()` gives in a class whose bases are torch's own."""
        if not is_distribution(info):
            return TOP
        return AbstractValue("distribution", "device", sure=LIKELY, ref=info)

    def part(self, info: ClassInfo, name: str) -> AbstractValue | None:
        """Return the distribution that torch's constructor keeps under an attribute."""
        if name not in table.names("distributions", "parts") or not is_distribution(info):
            return None
        return AbstractValue("distribution", "device", sure=LIKELY, ref="torch.distributions.Distribution")

    def method(self, owner: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """Return the value of a call of a distribution's method. That of one that a call in sight creates
        checks as well: its creation tells of both."""
        info = owner.ref if isinstance(owner.ref, ClassInfo) else None
        if name == "__init__" and info is not None:
            self._check_arguments(self.m.frame.owner or info, args, node)
            return NONE
        if name == "_validate_sample":
            self._check_value(LIKELY, args, node)
            return NONE
        untold = info is None or _has_concrete_base(info)
        if name in table.names("distributions", "checked") and owner.ref is not None and untold:
            self._check_value(owner.sure, args, node)
        if name in table.names("distributions", "tensors"):
            asked = any(value.place == "device" for value in args.tensors())
            place: Residence = "device" if asked else owner.place or "either"
            self.m.work(place)
            return AbstractValue("tensor", place, sure=LIKELY, why=owner.why)
        return TOP

    def by_name(self, name: str, args: Args, node: ir.Call) -> AbstractValue | None:
        """Return the value of `x.log_prob(value)` of something unknown; None for other methods."""
        if name == "_validate_sample":
            self._check_value(LIKELY, args, node)
            return NONE
        if name not in table.names("distributions", "only"):
            return None
        assert isinstance(node.func, ir.Attribute)
        last = path_of(node.func.value).rpartition(".")[2]
        if table.name_like("distribution").search(last):
            self._check_value(LIKELY, args, node)
        elif not self._is_of_project(name):
            self._check_value(POSSIBLE, args, node)
        given = args.tensors()
        place = given[0].place if given else "either"
        return AbstractValue("tensor", place or "either", sure=POSSIBLE)

    def _is_of_project(self, name: str) -> bool:
        """Return whether classes of the project that are no distributions have the method, too."""
        elsewhere = self.m.names.project.has_method(name, table.name_like("distribution-class"))
        return elsewhere or name in self.m.scopes.methods

    def _check_arguments(self, info: ClassInfo, args: Args, node: ir.Call) -> None:
        """`super().__init__(shape, validate_args=validate_args)` reads one answer for each constraint."""
        asked = args.keywords.get("validate_args")
        if (asked is not None and asked.const is False) or not _constrains(info):
            return
        sure = POSSIBLE if asked is not None and asked.kind == "bool" and asked.const is not True else LIKELY
        self._record(sure, "", node)

    def _check_value(self, sure: int, args: Args, node: ir.Call) -> None:
        value = args.get(0, "value")
        if value is None or (value.kind == "tensor" and not sureness(value)):
            return
        if value.kind not in ("tensor", "unknown"):
            return
        known = sureness(value) if value.kind == "tensor" else POSSIBLE
        shown = args.node(0, "value")
        self._record(min(sure, known), short(self.m.source(shown)) if shown is not None else "", node)

    def _record(self, sure: int, checked: str, node: ir.Call) -> None:
        tensor = AbstractValue("tensor", "device", sure=sure)
        self.reads.checked(node, tensor, short(self.m.source(node.func)), checked)


def _constrains(info: ClassInfo) -> bool:
    """Return whether the constructor of torch asks something of the arguments: the class has constraints, or
    inherits those of one of torch's distributions."""
    for cls in info.lineage():
        held = cls.attributes.get("arg_constraints")
        if held is None:
            continue
        if held.fields is None:
            return True
        return any(_asks(value) for value in held.fields.values())
    without = table.names("distributions", "unconstrained")
    return any(name not in without for name in _bases(info))


def _has_concrete_base(info: ClassInfo) -> bool:
    """Return whether a class inherits the methods of one of torch's concrete distributions."""
    return any(name != _ABSTRACT for name in _bases(info))


def _bases(info: ClassInfo) -> list[str]:
    """Return the names of torch's distributions above a class."""
    above = (base for cls in info.lineage() for base in cls.outside)
    return [base.rpartition(".")[2] for base in above if is_distribution_class(base)]


def _asks(constraint: AbstractValue) -> bool:
    return str(constraint.ref).rpartition(".")[2] not in _ALWAYS_HELD

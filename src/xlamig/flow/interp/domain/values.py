"""The abstract domain: the values an expression may have."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.interp.domain.shapes import Shape
from xlamig.flow.interp.domain.traits import Trait
from xlamig.knowledge.devices import maker_of

Kind = Literal[
    "unknown", "tensor", "module", "optimizer", "scheduler", "scaler", "loader", "dataset", "device",
    "dtype", "number", "bool", "text", "none", "sequence", "mapping", "instance", "function", "class",
    "api", "foreign", "type", "nothing", "parameters", "distribution", "writer", "logger",
]  # fmt: skip
Residence = Literal["device", "host", "either", ""]
Cause = Literal[
    "", "varied", "batch", "length", "growing", "step-counter", "position", "random", "derived", "read",
    "dynamic",
]  # fmt: skip
"""Why a number differs between runs of the graph, or a shape does; the later, the more it costs."""

CERTAIN, LIKELY, POSSIBLE = 3, 2, 1
_MAX_WHY = 4


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


class _OnHost:
    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


ON_HOST = _OnHost("ON_HOST")
"""The constant of a tensor on the device that is computed from nothing but data which the host had before."""
OF_NUMBERS = _OnHost("OF_NUMBERS")
"""The constant of one that is computed from nothing but Python numbers which are the same every step."""


class Definition:
    """A class or function of the module that defines a value."""

    __slots__ = ()


class Made(NamedTuple):
    """The operation that made a value, and its statement."""

    node: ir.Node
    statement: ir.Stmt
    operation: str


class Alternatives(NamedTuple):
    """The modules, classes or functions that the branches of a condition give."""

    refs: frozenset[str | int | Definition]


Ref = str | int | Definition | Made | Alternatives | None


class Changes(TypedDict, total=False):
    """Fields of a value that `AbstractValue.replace` changes."""

    kind: Kind
    place: Residence
    sure: int
    dtype: str
    shape: Shape
    loose: bool
    ref: Ref
    items: tuple[AbstractValue, ...] | None
    fields: Mapping[str, AbstractValue] | None
    element: AbstractValue | None
    cause: Cause
    loop: int
    trait: Trait | None
    source: str
    const: Any  # Any: a constant of the program
    why: tuple[Why, ...]


class AbstractValue:
    """An abstract value; never changed once made.

    place    of a tensor, module or device: "device" the accelerator, "host", "either" or "" unknown
    sure     3 certain, 2 likely, 1 possible: that it is what `kind` and `place` say
    dtype    of a tensor: "bool", "int", "float", "complex" or "" unknown; of a number "complex" or ""
    shape    of a tensor, as far as it is known
    loose    may as well be a container of such things: a batch, a model's output; a mapping may hold more
    ref      api: its dotted name; function, class, instance: what defines it; module, optimizer: an identity
    items    of a sequence whose elements are all known, in order
    fields   of a mapping whose keys are all known, of an instance of a dataclass, and the attributes that
             methods of a library's object set, by name
    element  the join of what any other container holds, or a mapping under the keys that are not in `fields`
    cause    of a number: why it differs between graph runs ("" not); of a tensor: "dynamic" shape
    loop     the loop in which `cause` or `trait` holds, 0 everywhere
    trait    what else matters: see there
    source   source text of the tensor a mask was computed from
    """

    __slots__ = (
        "cause", "const", "dtype", "element", "fields", "items", "kind",
        "loop", "loose", "place", "ref", "shape",
        "source", "sure", "trait", "why",
    )  # fmt: skip

    def __init__(
        self,
        kind: Kind,
        place: Residence = "",
        sure: int = CERTAIN,
        dtype: str = "",
        shape: Shape = None,
        loose: bool = False,
        ref: Ref = None,
        items: tuple[AbstractValue, ...] | None = None,
        fields: Mapping[str, AbstractValue] | None = None,
        element: AbstractValue | None = None,
        cause: Cause = "",
        loop: int = 0,
        trait: Trait | None = None,
        source: str = "",
        const: Any = MISSING,  # Any: a constant of the program
        why: tuple[Why, ...] = (),
    ) -> None:
        self.kind = kind
        self.place = place
        self.sure = sure
        self.dtype = dtype
        self.shape = shape
        self.loose = loose
        self.ref = ref
        self.items = items
        self.fields = fields
        self.element = element
        self.cause = cause
        self.loop = loop
        self.trait = trait
        self.source = source
        self.const = const
        self.why = why

    @property
    def on_host(self) -> bool:
        """Return whether a tensor on the device is computed from nothing but what the host had before."""
        return isinstance(self.const, _OnHost)

    @property
    def scalar(self) -> bool:
        """Return whether the value is a 0-d tensor."""
        return self.shape == ()

    def replace(self, **changes: Unpack[Changes]) -> AbstractValue:
        """Return the value with other fields."""
        # Field by field: a loop over the slots takes three times as long, and replace is on the hot path.
        made = AbstractValue(
            self.kind, self.place, self.sure, self.dtype, self.shape, self.loose, self.ref, self.items,
            self.fields, self.element, self.cause, self.loop, self.trait, self.source, self.const, self.why,
        )  # fmt: skip
        for name, value in changes.items():
            setattr(made, name, value)
        return made

    def with_reason(self, message: str, span: tuple[int, int], filename: str = "") -> AbstractValue:
        """The same with one more link in the chain of reasons."""
        return self.replace(why=(*self.why[-_MAX_WHY:], Why(message, span, filename)))

    def key(self, depth: int = 2) -> tuple[object, ...]:
        """Equal keys: the interpreter cannot tell the two apart. A key keeps the definitions in it alive: no
        later one is taken for them."""
        const = self.const if isinstance(self.const, str | int | float | bool | None) else None
        if self.const is OF_NUMBERS:
            const = OF_NUMBERS.name
        inside: object = None
        if depth:
            if self.fields is not None:
                inside = tuple((name, item.key(depth - 1)) for name, item in sorted(self.fields.items()))
            elif self.items is not None:
                inside = tuple(item.key(depth - 1) for item in self.items)
            elif self.element is not None:
                inside = self.element.key(depth - 1)
        return (
            self.kind, self.place, self.sure, self.dtype, self.shape, self.loose, self.cause, self.loop,
            self.trait, self.source, self.ref, type(self.const), const, inside,
        )  # fmt: skip

    def __repr__(self) -> str:
        shown = [
            f"{n}={getattr(self, n)!r}" for n in ("place", "cause", "const", "trait") if getattr(self, n)
        ]
        return f"<{self.kind} {' '.join(shown)}>"


TOP = AbstractValue("unknown", sure=POSSIBLE)
BOTTOM = AbstractValue("nothing")  # of what does not return, or is still being found out
NONE = AbstractValue("none", const=None)
NUMBER = AbstractValue("number")
BOOL = AbstractValue("bool")
TEXT = AbstractValue("text")
FOREIGN = AbstractValue("foreign")
OPTION = AbstractValue("foreign", ref="option")
"""An attribute of a library's object, as `args.steps`: computed with a number, most likely one as well."""
DEVICE = AbstractValue("device", "device")


@lru_cache(maxsize=4096, typed=True)
def constant(value: object) -> AbstractValue:
    """Return the value of a Python literal."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return AbstractValue("bool", const=value)
    if isinstance(value, int | float):
        return AbstractValue("number", const=value)
    if isinstance(value, complex):
        return AbstractValue("number", dtype="complex")
    if isinstance(value, str):
        return AbstractValue("text", place=place_of_text(value), const=value)
    return FOREIGN


def place_of_text(text: str) -> Residence:
    """Where a device string points to; "" if it is none."""
    maker = maker_of(text)
    return "" if maker is None else "host" if maker == "host" else "device"

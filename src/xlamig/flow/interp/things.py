"""What an expression may be: the abstract values of the interpreter, and how two of them join."""

from __future__ import annotations

from typing import Any, Literal

from xlamig.facts import Why

Kind = Literal[
    "unknown", "tensor", "module", "optimizer", "scheduler", "scaler", "loader", "dataset", "device",
    "dtype", "number", "bool", "text", "none", "sequence", "mapping", "instance", "function", "class",
    "api", "foreign", "type", "nothing", "parameters", "distribution", "writer", "logger",
]  # fmt: skip
Place = Literal["device", "host", "either", ""]

CERTAIN, LIKELY, POSSIBLE = 3, 2, 1
_MAX_WHY = 4
_MAX_ITEMS = 32


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


class Thing:
    """An abstract value; never changed once made.

    place    of a tensor, module or device: "device" the accelerator, "host", "either" or "" unknown
    sure     3 certain, 2 likely, 1 possible: that it is what `kind` and `place` say
    dtype    of a tensor: "bool", "int", "float" or "" unknown
    scalar   a 0-d tensor
    loose    may as well be a container of such things: a batch, a model's output
    ref      api: its dotted name; function, class, instance: what defines it; module, optimizer: an identity
    items    of a sequence or mapping whose elements are all known; `element` joins the others; the fields of
             an instance of a dataclass
    cause    of a number: why it differs between graph runs ("" not); of a tensor: "dynamic" shape
    loop     the loop in which `cause` or `tag` holds, 0 everywhere
    tag      what else matters: "nan" of a tensor computed by isnan and the like; "carried:x", "grown:x"
    source   source text of the tensor a mask was computed from
    """

    __slots__ = (
        "cause", "const", "dtype", "element", "items", "kind", "loop", "loose", "place", "ref", "scalar",
        "source", "sure", "tag", "why",
    )  # fmt: skip

    def __init__(
        self,
        kind: Kind,
        place: Place = "",
        sure: int = CERTAIN,
        dtype: str = "",
        scalar: bool = False,
        loose: bool = False,
        ref: Any = None,
        items: Any = None,
        element: Thing | None = None,
        cause: str = "",
        loop: int = 0,
        tag: str = "",
        source: str = "",
        const: Any = MISSING,
        why: tuple[Why, ...] = (),
    ) -> None:
        self.kind = kind
        self.place = place
        self.sure = sure
        self.dtype = dtype
        self.scalar = scalar
        self.loose = loose
        self.ref = ref
        self.items = items
        self.element = element
        self.cause = cause
        self.loop = loop
        self.tag = tag
        self.source = source
        self.const = const
        self.why = why

    def but(self, **changes: Any) -> Thing:
        """The same with other fields."""
        made = Thing.__new__(Thing)
        for name in Thing.__slots__:
            setattr(made, name, changes[name] if name in changes else getattr(self, name))
        return made

    def because(self, message: str, span: tuple[int, int], filename: str = "") -> Thing:
        """The same with one more link in the chain of reasons."""
        return self.but(why=(*self.why[-_MAX_WHY:], Why(message, span, filename)))

    def key(self, depth: int = 2) -> tuple[Any, ...]:
        """Equal keys: the interpreter cannot tell the two apart."""
        const = self.const if isinstance(self.const, str | int | float | bool | None) else None
        inside: Any = None
        if depth:
            if isinstance(self.items, dict):
                inside = tuple((name, item.key(depth - 1)) for name, item in self.items.items())
            elif self.items is not None:
                inside = tuple(item.key(depth - 1) for item in self.items)
            elif self.element is not None:
                inside = self.element.key(depth - 1)
        ref = self.ref if isinstance(self.ref, str | int | None) else id(self.ref)
        return (
            self.kind, self.place, self.sure, self.dtype, self.scalar, self.loose, self.cause, self.loop,
            self.tag, self.source, ref, type(const), const, inside,
        )  # fmt: skip

    def __repr__(self) -> str:
        shown = [f"{n}={getattr(self, n)!r}" for n in ("place", "cause", "const", "tag") if getattr(self, n)]
        return f"<{self.kind} {' '.join(shown)}>"


UNKNOWN = Thing("unknown", sure=POSSIBLE)
NOTHING = Thing("nothing")  # of what does not return, or is still being found out
NONE = Thing("none", const=None)
NUMBER = Thing("number")
BOOL = Thing("bool")
TEXT = Thing("text")
FOREIGN = Thing("foreign")
DEVICE = Thing("device", "device")


def constant(value: Any) -> Thing:
    """Of a Python literal."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return Thing("bool", const=value)
    if isinstance(value, int | float):
        return Thing("number", const=value)
    if isinstance(value, str):
        return Thing("text", place=place_of_text(value), const=value)
    return FOREIGN


def place_of_text(text: str) -> Place:
    """Where a device string points to; "" if it is none."""
    name = text.partition(":")[0]
    if name in ("cuda", "xla", "tpu", "mps", "xpu", "npu", "hpu"):
        return "device"
    return "host" if name == "cpu" else ""


def sequence(items: list[Thing] | tuple[Thing, ...]) -> Thing:
    if len(items) > _MAX_ITEMS:
        return Thing("sequence", element=join_all(items))
    return Thing("sequence", items=tuple(items))


def element_of(thing: Thing) -> Thing:
    """What a sequence or mapping holds, all elements joined."""
    if thing.items is not None:
        values = thing.items.values() if isinstance(thing.items, dict) else thing.items
        return join_all(tuple(values))
    return thing.element or UNKNOWN


def inside(thing: Thing) -> Thing:
    """What a sequence or mapping holds; of anything else, the thing itself."""
    return element_of(thing) if thing.kind in ("sequence", "mapping") else thing


def join_all(things: Any) -> Thing:
    found: Thing | None = None
    for thing in things:
        found = thing if found is None else join(found, thing)
    return found or UNKNOWN


def together(things: Any) -> Thing:
    """The parameters of several modules as one."""
    held = [thing for thing in things if thing.kind == "parameters"]
    made = join_all(held) if held else UNKNOWN
    return made.but(items=tuple(module for thing in held for module in thing.items or ())) if held else made


def join_place(one: Place, other: Place) -> Place:
    return one if one == other else "either" if one and other else one or other


_NUMERIC = frozenset({"number", "bool"})


def join(one: Thing, other: Thing) -> Thing:
    """What a name is after either of two ways."""
    if one is other:
        return one
    if one.kind != other.kind:
        return _join_kinds(one, other)
    if one.kind == "unknown":
        known = one if one.why else other
        return known if one.place == other.place else known.but(place="")
    items, element = one.items, one.element
    if one.kind in ("sequence", "mapping", "instance") and (
        items is not other.items or element is not other.element
    ):
        items, element = _join_items(one, other)
    const = one.const if type(one.const) is type(other.const) and one.const == other.const else MISSING
    place = join_place(one.place, other.place)
    if one.kind in ("text", "device") and place == "either":
        place = "device"  # chosen by what is there: what is not on the accelerator is of no interest
    if (
        const is one.const
        and items is one.items
        and element is one.element
        and place == one.place
        and one.sure == other.sure
        and one.cause == other.cause
        and one.tag == other.tag
        and one.ref is other.ref
        and one.source == other.source
        and one.dtype == other.dtype
        and one.scalar == other.scalar
        and one.loose == other.loose
    ):
        return one
    tagged = one if one.tag or not other.tag else other
    made = one.but(
        place=place,
        sure=min(one.sure, other.sure),
        dtype=one.dtype if one.dtype == other.dtype else "",
        scalar=one.scalar and other.scalar,
        loose=one.loose or other.loose,
        ref=tagged.ref if one.ref == other.ref or one.kind == "tensor" else None,
        cause=one.cause or other.cause,
        loop=(tagged.loop if tagged.tag else 0) or one.loop or other.loop,
        tag=tagged.tag,
        source=one.source if one.source == other.source else "",
        const=const,
        items=items,
        element=element,
        why=one.why or other.why,
    )
    if made.kind in ("function", "class", "instance", "api") and made.ref is None:
        return UNKNOWN
    return made


def _join_kinds(one: Thing, other: Thing) -> Thing:
    if one.kind in ("none", "nothing"):
        return other
    if other.kind in ("none", "nothing"):
        return one
    kinds = {one.kind, other.kind}
    if kinds == _NUMERIC:
        number = one if one.kind == "number" else other
        return number.but(const=MISSING)
    if "tensor" in kinds:
        tensor, rest = (one, other) if one.kind == "tensor" else (other, one)
        if rest.kind in _NUMERIC:  # `total = 0`, then `total += loss`
            return tensor.but(sure=min(tensor.sure, LIKELY))
        if rest.kind == "unknown":
            alike = rest.place == tensor.place != ""
            return tensor.but(sure=min(tensor.sure, LIKELY if alike else POSSIBLE))
        if rest.kind in ("sequence", "mapping"):
            held = element_of(rest)
            alike = held.kind == "nothing" or (held.kind == "tensor" and held.place == tensor.place)
            return tensor.but(sure=min(tensor.sure, LIKELY) if alike else POSSIBLE, loose=True)
    return UNKNOWN


def _join_items(one: Thing, other: Thing) -> tuple[Any, Thing | None]:
    if one.kind == "instance" and (one.items is None or other.items is None):
        return None, None
    if one.items is not None and other.items is not None and len(one.items) == len(other.items):
        if one.kind == "sequence":
            return tuple(join(a, b) for a, b in zip(one.items, other.items, strict=True)), None
        if one.items.keys() == other.items.keys():
            return {key: join(value, other.items[key]) for key, value in one.items.items()}, None
    empty = [thing for thing in (one, other) if thing.items is not None and not thing.items]
    if len(empty) == 1:
        full = other if empty[0] is one else one
        return None, element_of(full)
    return None, join(element_of(one), element_of(other))

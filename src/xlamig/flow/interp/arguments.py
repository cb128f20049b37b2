"""Bind the arguments of a call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from xlamig import ir
from xlamig.flow.interp.domain import (
    CERTAIN,
    DEVICE,
    LIKELY,
    AbstractValue,
    Mark,
    Residence,
    as_tensor,
    inside,
)
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

TYPE_NAME = "type-name"
"""The `ref` of the text that `x.type()` returns; its place is the one of `x`."""
_HOST = AbstractValue("device", "host")


@dataclass(slots=True)
class Args:
    """Evaluated arguments. `pairs` are those that are written out, as they stand in the call; those of
    `*args` and `**kwargs` are in `positional` and `keywords` alone."""

    positional: list[AbstractValue] = field(default_factory=list)
    keywords: dict[str, AbstractValue] = field(default_factory=dict)
    pairs: list[tuple[ir.Arg, AbstractValue]] = field(default_factory=list)
    starred: bool = False
    partial: bool = False  # of `*args` or `**kwargs` it is not known what they hold
    rest: AbstractValue | None = None  # what `*args` goes on with
    others: AbstractValue | None = None  # what `**kwargs` holds, if its keywords are not known
    filled: dict[str, AbstractValue] = field(default_factory=dict)  # parameters that the callee changed

    def shown(self, node: ir.Call, keywords: bool = True) -> Iterator[tuple[ir.Expr, AbstractValue]]:
        """Yield what a call that makes text of its arguments is given, each with its place, also the elements
        of `*args`; without keywords if they only say how."""
        for arg, thing in self.pairs:
            if keywords or arg.keyword is None:
                yield arg.value, thing
        if self.rest is not None:
            yield next(arg.value for arg in node.args if arg.star == "*"), self.rest

    def after(self, preset: Args) -> Args:
        """Return the arguments of a call of what `functools.partial` made with those of `preset`."""
        keywords = {**preset.keywords, **self.keywords}
        return replace(self, positional=[*preset.positional, *self.positional], keywords=keywords)

    def get(self, index: int, keyword: str = "") -> AbstractValue | None:
        """Return the argument at a position or of a keyword; None if the call leaves it out."""
        if keyword and keyword in self.keywords:
            return self.keywords[keyword]
        return self.positional[index] if 0 <= index < len(self.positional) else None

    def node(self, index: int, keyword: str = "") -> ir.Expr | None:
        """The expression at a position or of a keyword."""
        for node, _ in self.pairs:
            if keyword and node.keyword == keyword:
                return node.value
        plain = [node for node, _ in self.pairs if node.keyword is None]
        return plain[index].value if 0 <= index < len(plain) else None

    @property
    def all(self) -> list[AbstractValue]:
        """Return the positional arguments, then those of keywords."""
        return [*self.positional, *self.keywords.values()]

    def tensors(self) -> list[AbstractValue]:
        """Return the tensors among the arguments, also those in sequences."""
        found: list[AbstractValue] = []
        for thing in (*self.all, *([self.others] if self.others is not None else [])):
            inner = inside(thing)
            if inner.kind == "tensor":
                found.append(inner)
            elif inner.kind == "unknown" and inner.place:
                found.append(as_tensor(inner))
        return found


def are_listed_arrays(args: Args) -> bool:
    """Return whether all arguments are lists of arrays, as sessions of ONNX and OpenVINO take; modules of
    torch take tensors."""
    given = args.all
    return bool(given) and all(
        one.kind == "sequence" and bool(one.items) and all(part.kind == "foreign" for part in one.items or ())
        for one in given
    )


def destination(name: str, args: Args) -> AbstractValue | None:
    """The device that something is moved to; None if it stays."""
    if name in ("cuda", "xla"):
        return DEVICE
    given = args.keywords.get("device") or args.get(0)
    if name in ("type", "type_as"):
        return _of_class(given) if given is not None else None
    if given is None or given.kind in ("dtype", "bool"):
        return None
    if given.kind == "api":
        return None  # a dtype
    if given.kind == "tensor":
        asked = Mark.ASKED if given.place == "host" else None
        return AbstractValue("device", given.place or "either", sure=given.sure, trait=asked)
    if given.kind == "device":
        return given
    if given.kind == "text":
        if isinstance(given.const, str) and not given.place:
            return None  # the name of no device: a unit, a format
        return AbstractValue("device", given.place or "device", sure=CERTAIN if given.place else LIKELY)
    if given.kind == "none" or (given.kind == "unknown" and _is_called_dtype(args)):
        return None
    return AbstractValue("device", "device", sure=LIKELY)


def mapped_place(args: Args) -> Residence:
    """Return where a model of another library is made: on the host, unless a `device_map` places it, or it is
    quantized for a GPU."""
    given = args.keywords.get("device_map")
    if given is None and args.keywords.keys() & table.names("modules", "quantized-by"):
        return "either"
    if given is None or given.kind == "none" or given.const == "cpu" or given.place == "host":
        return "host"
    return "device" if given.place == "device" else "either"


def _is_called_dtype(args: Args) -> bool:
    """Return whether the name of the first argument says that it is a dtype."""
    node = args.node(0)
    return node is not None and table.name_like("dtype").search(path_of(node).rpartition(".")[2]) is not None


def _of_class(given: AbstractValue) -> AbstractValue | None:
    """Return the device that `x.type(torch.FloatTensor)`, `x.type(y.type())` and `x.type_as(y)` move to; None
    for a dtype, and where `y` is not on the device: a buffer of a module that is moved elsewhere may be."""
    if given.kind == "tensor" or given.ref == TYPE_NAME:
        return AbstractValue("device", given.place, sure=given.sure) if given.place == "device" else None
    named = given.ref if given.kind == "api" else given.const
    word = table.result_of(named) if isinstance(named, str) else ""
    return _HOST if word == "host-tensor" else DEVICE if word == "device-tensor" else None


def dtype_of(args: Args) -> str:
    """Return the kind of the dtype that a call asks for: "bool", "int", "float", "complex"; "" for none."""
    asked = args.keywords.get("return_complex")
    if asked is not None and asked.const is True:
        return "complex"
    given = args.keywords.get("dtype") or next((a for a in args.positional if a.kind == "api"), None)
    if given is None or given.kind != "api":
        return ""
    name = str(given.ref).rpartition(".")[2]
    if name == "bool":
        return "bool"
    if name.startswith(("complex", "cfloat", "cdouble", "chalf")):
        return "complex"
    return "int" if name.startswith(("int", "uint", "long", "short")) else "float"


def computes_number(node: ir.Expr | None) -> bool:
    """Return whether an expression is a number, whatever it is computed from, and never None."""
    match node:
        case ir.Const(value=bool() | int() | float()) | ir.Binary():
            return True
        case ir.Call(func=ir.Name(id="len" | "int" | "float" | "max" | "min" | "round")):
            return True
        case ir.Call(func=ir.Attribute(attr="size" | "numel" | "item" | "dim")):
            return True
        case ir.Subscript(value=ir.Attribute(attr="shape")):
            return True
    return False

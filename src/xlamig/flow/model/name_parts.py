"""Names that a program puts together out of texts and one value."""

from __future__ import annotations

from typing import NamedTuple

from xlamig import ir

_FEWEST = 4  # characters that say on their own which names are meant


class NameParts(NamedTuple):
    """The texts around the value that a name depends on."""

    prefix: str
    variable: ir.Expr
    suffix: str


def name_parts(node: ir.Expr) -> NameParts | None:
    """Return the parts of `name`, `"_" + name`, `f"_{name}"`, `"_%s" % name` and `"_{}".format(name)`; None
    for a text that depends on nothing, or on more than one value."""
    match node:
        case ir.Const():
            return None
        case ir.FString(parts=parts):
            values = [part for part in parts if not isinstance(part, str)]
            if len(values) != 1:
                return None
            at = parts.index(values[0])
            return NameParts("".join(map(str, parts[:at])), values[0], "".join(map(str, parts[at + 1 :])))
        case ir.Binary(op="+", left=ir.Const(value=str(text)), right=right):
            return _around(text, right, "")
        case ir.Binary(op="+", left=left, right=ir.Const(value=str(text))):
            return _around("", left, text)
        case ir.Binary(op="%", left=ir.Const(value=str(text)), right=right):
            value = right.elements[0] if isinstance(right, ir.Sequence) and right.elements else right
            return _filled(text, "%s", value)
        case ir.Call(func=ir.Attribute(value=ir.Const(value=str(text)), attr="format"), args=(arg,)):
            return _filled(text, "{}", arg.value)
        case ir.Binary():
            return None
    return NameParts("", node, "")


def _around(prefix: str, node: ir.Expr, suffix: str) -> NameParts | None:
    inner = name_parts(node)
    return inner and inner._replace(prefix=prefix + inner.prefix, suffix=inner.suffix + suffix)


def _filled(text: str, blank: str, value: ir.Expr) -> NameParts | None:
    parts = text.split(blank)
    return NameParts(parts[0], value, parts[1]) if len(parts) == 2 else None


def is_meant(name: str, prefix: str, suffix: str) -> bool:
    """Return whether a name has the texts around a value, and they are long enough to say that it is meant:
    whole words, because `norm1` says less than `norm_1`."""
    words = (prefix if prefix.endswith("_") else "", suffix if suffix.startswith("_") else "")
    fits = name.startswith(prefix) and name.endswith(suffix) and len(name) > len(prefix) + len(suffix)
    return fits and sum(len(word.strip("_")) for word in words) >= _FEWEST

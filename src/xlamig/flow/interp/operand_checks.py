"""Properties of what an operator gets that torch_xla computes in another way than torch."""

from __future__ import annotations

from collections.abc import Callable

from xlamig import ir
from xlamig.flow.interp.domain import LIKELY, AbstractValue, Mark


def checks(
    name: str,
    call: ir.Call,
    held: list[AbstractValue],
    first: AbstractValue | None,
    is_number: Callable[[str], bool],
) -> dict[str, bool]:
    """Return what is proved of the tensors that an operator gets, and of its first argument."""
    return {
        "on_host": bool(held) and all(map(_is_on_host, held)),
        "boolean": bool(held) and held[0].dtype == "bool" and held[0].place != "host",
        "complex": bool(held) and held[0].dtype == "complex" and held[0].place != "host",
        "divides_complex": divides_complex(held[0] if held else None, held[1] if len(held) > 1 else None),
        "sorted_index": any(o.trait is Mark.SORTED_INDEX and o.place != "host" for o in held),
        "host_scalar": has_host_scalar(held),
        "unequal_batches": have_unequal_batches(held),
        "behind_first": name == "fill_diagonal_" and begins_behind_first(call, is_number),
        "drops_diagonal": name == "einsum" and first is not None and drops_a_diagonal(first.const),
    }


def _is_on_host(operand: AbstractValue) -> bool:
    """Return whether a tensor is on the host; of one that varies only the shape may be uncertain."""
    return operand.place == "host" and (operand.sure >= LIKELY or operand.cause == "varied")


def divides_complex(one: AbstractValue | None, other: AbstractValue | None) -> bool:
    """Return whether a complex tensor that may be on the device is divided by a number, None or any other
    value than a tensor, or by a complex tensor."""
    if one is None or one.kind != "tensor" or one.dtype != "complex" or one.place == "host":
        return False
    return other is None or other.kind in ("number", "bool") or other.dtype == "complex"


def has_host_scalar(operands: list[AbstractValue]) -> bool:
    """Return whether a 0-d tensor of the host stands beside a tensor of the device."""
    scalar = any(o.place == "host" and o.scalar and o.sure >= LIKELY for o in operands)
    return scalar and any(o.place == "device" and o.sure >= LIKELY for o in operands)


def have_unequal_batches(operands: list[AbstractValue]) -> bool:
    """Return whether operands, not all of the host, differ before their last two dimensions."""
    shapes = [o.shape for o in operands if o.shape is not None]
    if len(shapes) != 2 or all(o.place == "host" for o in operands):
        return False
    one, other = shapes
    sizes = zip(one[:-2], other[:-2], strict=False)
    return len(one) != len(other) or any(
        isinstance(a, int) and isinstance(b, int) and a != b for a, b in sizes
    )


def begins_behind_first(call: ir.Call, is_number: Callable[[str], bool]) -> bool:
    """Return whether a method is called on a part of a tensor that begins behind its first element: `x[1]`,
    `x[:, 2:]`, `x[i]` where the variable is a number."""
    part = call.func.value if isinstance(call.func, ir.Attribute) else None
    return isinstance(part, ir.Subscript) and any(_skips(index, is_number) for index in part.index)


def _skips(index: ir.Expr, is_number: Callable[[str], bool]) -> bool:
    match index:
        case ir.Slice(lower=lower):
            return lower is not None and _skips(lower, is_number)
        case ir.Const(value=value):
            return isinstance(value, int) and not isinstance(value, bool) and value != 0
        case ir.Name(id=name):
            return is_number(name)
        case ir.Unary(op="-", operand=operand):
            return _skips(operand, is_number)
        case ir.Binary(left=left, right=right):
            return _skips(left, is_number) or _skips(right, is_number)
    return False


def drops_a_diagonal(equation: object) -> bool:
    """Return whether an equation of `einsum` sums over a diagonal without saying what is left: "ii"."""
    if not isinstance(equation, str) or "->" in equation or "," in equation:
        return False
    letters = [letter for letter in equation if letter.isalpha()]
    return len(letters) > len(set(letters))

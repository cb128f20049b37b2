"""Boolean masks as indices."""

from __future__ import annotations

import re
from typing import Literal

from xlamig import ir
from xlamig.facts import DynamicShape
from xlamig.flow.interp.domain import LIKELY, POSSIBLE, AbstractValue, Mark, as_tensor
from xlamig.flow.interp.integer_indices import holds_integers
from xlamig.flow.interp.masked_views import View, view_without
from xlamig.flow.interp.picked_rows import position_in_rows
from xlamig.flow.interp.reads import sureness
from xlamig.flow.interp.state import State
from xlamig.flow.interp.unchanged_masks import unchanged_mask
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

_OPERATORS = re.compile(r" *[-+*/] *")
_PATH = re.compile(r"[A-Za-z_][\w.]*")


def record_mask(
    m: State,
    node: ir.Subscript,
    part: ir.Expr,
    base: AbstractValue,
    mask: AbstractValue,
    index: list[AbstractValue],
    access: str,
    thing: AbstractValue | None,
    value: ir.Expr | None,
    operator: str,
    fixed: bool,
) -> None:
    """Record that an index is a mask: the shape of what it picks depends on values, of a `fixed` one only in
    the eyes of XLA."""
    mixed = _mixed(m, part, base, mask)
    sure = min(sureness(base) or POSSIBLE, sureness(mask)) if sureness(base) else 0
    if mixed:
        sure = LIKELY if m.frequency != "unknown" else POSSIBLE
    tensor = m.source(node.value)
    beside = access == "write" and not mixed and len(node.index) > 1
    view = view_without(m, node, part, index, mask) if beside else None
    written = ""
    if thing is not None:
        written = "tensor" if thing.kind == "tensor" else "scalar"
        if isinstance(value, ir.Subscript) and any(m.source(i) == m.source(part) for i in value.index):
            written = "masked"
    if sure > POSSIBLE and not mixed:
        m.read(Effect.SELECT)
    position = position_in_rows(m, part) if access == "read" and len(node.index) == 1 else {}
    joined = {"joined": tensor} if beside and view is None else {}
    fitting = _fitting(m, part, base, mask, view) if view or len(node.index) == 1 else {}
    same = {} if mixed else unchanged_mask(m, part)
    m.recorder.prove(node, {**fitting, **joined, **_number(thing), **position, **same})
    m.record(
        DynamicShape,
        node,
        sure,
        mask.why or base.why,
        via=f"mask-{access}",
        operation=operator or "[]",
        tensor=short(view.text if view else tensor),
        target=short(m.source(node)) if access == "write" else "",
        mask=short(", ".join(map(m.source, node.index)) if access == "read" else m.source(part)),
        value=written,
        widened=_with_dimensions(m, part, max(view.behind, 1) if view else 1),
        same_shape=_computed_from(mask.source, tensor) and not beside,
        fixed=fixed,
        mixed=mixed,
        parts={"mask": (part.start, part.end)},
    )


def _fitting(
    m: State, part: ir.Expr, base: AbstractValue, mask: AbstractValue, view: View | None
) -> dict[str, str]:
    """Return the proof of what a mask has to be written as beside the tensor that it indexes, or beside the
    part of it that the other indices take."""
    lost = view.lost if view else 0
    if base.shape is None or mask.shape is None or lost is None:
        return {}
    lacks = len(base.shape) - len(mask.shape) - lost
    return {"fitting": _with_dimensions(m, part, lacks)} if lacks >= 0 else {}


def _number(written: AbstractValue | None) -> dict[str, str]:
    """Return the proof that a number is written at the mask, and no tensor."""
    return {"number": "written"} if written is not None and written.kind == "number" else {}


def _with_dimensions(m: State, part: ir.Expr, number: int) -> str:
    text = short(m.source(part))
    if not number:
        return text
    return f"{text if _PATH.fullmatch(text) else f'({text})'}[...{', None' * number}]"


def _computed_from(source: str, tensor: str) -> bool:
    """Return whether a mask compares the very tensor, or a sum or product of it: `a - b > p` has the shape of
    `b` where it is an index of it, because an index has at most its dimensions."""
    if source == tensor:
        return bool(tensor)
    operands = _OPERATORS.split(source)
    return tensor in operands and all(map(_PATH.fullmatch, operands))


def _mixed(
    m: State, part: ir.Expr, base: AbstractValue, mask: AbstractValue
) -> Literal["", "mask", "tensor"]:
    """Return which of a tensor and its mask is on the host while the other is on the device; a mask only if
    it is drawn at random, so that it selects a different number every time."""
    if min(base.sure, mask.sure) < LIKELY:
        return ""
    if base.place == "host" and mask.place == "device":
        return "tensor"
    return "mask" if base.place == "device" and mask.place == "host" and _is_drawn(m, part) else ""


def _is_drawn(m: State, node: ir.Expr, depth: int = 3) -> bool:
    """Return whether an expression, or what its names are set to, draws random numbers."""
    for inner in ir.walk(node):
        match inner:
            case ir.Call(func=func) if path_of(func).rpartition(".")[2] in table.names("sizes", "draws"):
                return True
            case ir.Name() if depth:
                bindings = m.frame.scope.find(inner.id)
                if any(b.value is not None and _is_drawn(m, b.value, depth - 1) for b in bindings):
                    return True
    return False


def as_mask(m: State, part: ir.Expr, found: AbstractValue, indexed: ir.Expr | None = None) -> AbstractValue:
    """Return an index of a tensor as a mask where its name, the function that made it or its shape says that
    it is one and nothing says what it holds; others as they are."""
    if found.dtype or found.shape == () or found.kind not in ("tensor", "unknown"):
        return found
    if found.place == "host" or (found.kind == "unknown" and found.trait is not None):
        return found
    node = _viewed(part.operand if isinstance(part, ir.Unary) and part.op == "~" else part)
    name = path_of(node).rpartition(".")[2]
    expanded = indexed is not None and _is_expanded(m, part, indexed)
    if not expanded and not table.name_like("masked").search(name) and not _is_made_as_mask(m, node):
        return found
    if not expanded and holds_integers(m, part):
        return found.replace(dtype="int") if found.kind == "tensor" else found
    if found.kind == "unknown":
        return AbstractValue("tensor", "either", sure=POSSIBLE, dtype="bool")
    sure = LIKELY if expanded or table.name_like("mask").search(name) else POSSIBLE
    return found.replace(dtype="bool", sure=min(found.sure, sure))


def _viewed(node: ir.Expr) -> ir.Expr:
    """Return `mask` of `mask.unsqueeze(-1).expand_as(x)`, which holds the same values."""
    while isinstance(node, ir.Call) and isinstance(node.func, ir.Attribute):
        if node.func.attr not in table.names("torch", "mask-keeping"):
            break
        node = node.func.value
    return node


def _is_expanded(m: State, part: ir.Expr, indexed: ir.Expr) -> bool:
    """Return whether an index is made as large as the very tensor, in several dimensions, as only masks are:
    `x[keep.unsqueeze(-1).expand_as(x)]`."""
    match part:
        case ir.Call(
            func=ir.Attribute(value=ir.Call(func=ir.Attribute(attr="unsqueeze")), attr="expand_as"),
            args=(ir.Arg(value=other),),
        ):
            return m.source(other) == m.source(indexed)
    return False


def _is_made_as_mask(m: State, node: ir.Expr) -> bool:
    """Return whether a name is set, once, to what a function for masks returns."""
    bindings = m.frame.scope.find(node.id) if isinstance(node, ir.Name) else []
    value = bindings[0].value if len(bindings) == 1 and bindings[0].kind == "value" else None
    made = (n.func for n in ir.walk(value) if isinstance(n, ir.Call)) if value is not None else ()
    return any(table.name_like("masked").search(path_of(func).rpartition(".")[2]) for func in made)


def has_mask(index: list[AbstractValue]) -> bool:
    """Return whether an index is a tensor of booleans that may be on the device: only tensors take one."""
    return any(part.kind == "tensor" and part.dtype == "bool" and part.place != "host" for part in index)


def as_compared(base: AbstractValue, part: AbstractValue) -> AbstractValue:
    """Return an index as a mask if it compares something that was computed from tensors, as in `x[y == 0]`:
    both are tensors, because no list or tuple has a use for it. Nobody indexes a tensor by a single boolean
    either, so what may be a tensor of booleans likely is one."""
    if part.kind == "tensor" and part.dtype == "bool" and part.sure == POSSIBLE and part.place != "host":
        is_likely = base.kind == "tensor" and base.place == "device" and base.sure > POSSIBLE
        return part.replace(sure=LIKELY) if is_likely else part
    if (
        part.trait is not Mark.COMPARED
        or base.kind not in ("tensor", "unknown")
        or base.place in ("", "host")
    ):
        return part
    return AbstractValue("tensor", part.place, sure=part.sure, dtype="bool", why=part.why)


def masked_base(base: AbstractValue) -> AbstractValue:
    """Return the tensor that an unknown value must be, since a mask indexes it."""
    return as_tensor(base) if base.place else AbstractValue("tensor", "either", sure=LIKELY)

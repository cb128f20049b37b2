"""A call of a torch_xla function as statements that may stand in code for CUDA and CPU too."""

from __future__ import annotations

from dataclasses import dataclass

from xlamig.facts import Fact, Span
from xlamig.findings import Create, Edit
from xlamig.fix.context import FixContext
from xlamig.fix.helper import helper_function
from xlamig.fix.imports import ensure_module
from xlamig.knowledge import helpers


@dataclass(frozen=True, slots=True)
class XlaStatement:
    lines: tuple[str, ...]
    edits: tuple[Edit, ...] = ()
    creates: tuple[Create, ...] = ()


def xla_statement(
    context: FixContext, fact: Fact, function: str, arguments: str, place: Span
) -> XlaStatement | None:
    """A statement for `place` that calls the helper's `function`; native code calls torch_xla itself."""
    plain = helpers.meaning(f"{context.settings.helper}.{function}", context.settings.helper)
    call = f"{plain}({arguments})"
    if context.settings.target != "torch_xla":
        return None
    if context.settings.style == "native":
        imported = ensure_module(context, "torch_xla", place)
        return (
            XlaStatement((f"{imported.name}{call.removeprefix('torch_xla')}",), imported.edits)
            if imported
            else None
        )
    found = helper_function(context, function, place)
    if found is None:
        return None
    return XlaStatement((f"{found.name}({arguments})",), found.edits, found.creates)

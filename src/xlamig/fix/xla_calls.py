"""A call of a torch_xla function as statements that may stand in code for CUDA and CPU too."""

from __future__ import annotations

from dataclasses import dataclass

from xlamig.facts import Fact, Span
from xlamig.findings import Create, Edit
from xlamig.fix.context import FixContext
from xlamig.fix.helper import helper_function
from xlamig.fix.imports import ensure_module
from xlamig.fix.scopes import bindings
from xlamig.knowledge import helpers


@dataclass(frozen=True, slots=True)
class XlaStatement:
    lines: tuple[str, ...]
    edits: tuple[Edit, ...] = ()
    creates: tuple[Create, ...] = ()


def xla_statement(
    page: FixContext, fact: Fact, function: str, arguments: str, place: Span
) -> XlaStatement | None:
    """A statement for `place` that calls the helper's `function`. Without the helper, the device in
    scope is asked whether it is XLA's; native code calls torch_xla itself."""
    plain = helpers.meaning(f"{page.settings.helper}.{function}", page.settings.helper)
    call = f"{plain}({arguments})"
    if page.settings.target != "torch_xla":
        return None
    if page.settings.style == "native":
        imported = ensure_module(page, "torch_xla", place)
        return (
            XlaStatement((f"{imported.name}{call.removeprefix('torch_xla')}",), imported.edits)
            if imported
            else None
        )
    found = helper_function(page, function, place)
    if found is not None:
        return XlaStatement((f"{found.name}({arguments})",), found.edits, found.creates)
    device = fact.proofs.get("device-in-scope")
    if device is None:
        return None
    indent = page.module.indent
    test = f'if str({device}).startswith("xla"):'
    if not bindings(page.module, "torch_xla"):
        return XlaStatement((test, f"{indent}import torch_xla", "", f"{indent}{call}"))
    known = ensure_module(page, "torch_xla", place)
    if known is None or known.edits:
        return None
    return XlaStatement((test, f"{indent}{known.name}{call.removeprefix('torch_xla')}"))

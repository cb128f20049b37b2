"""The expression that stands for "the device this project runs on", at one place of a file."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Fact, Span
from xlamig.fix.context import Expression, FixContext, FixDeclined
from xlamig.fix.helper import helper_function
from xlamig.fix.imports import Imported, ensure_module
from xlamig.fix.scopes import Function, holds_a_device, path_to, runs_at_import
from xlamig.flow.model.scripts import starts_program
from xlamig.knowledge import helpers

_UNREACHED = {"cuda", "no-xla", "other-device", "never"}


def device_expression(
    context: FixContext,
    fact: Fact,
    place: Span,
    index: str = "",
    from_scope: bool = True,
    known: bool = False,
    later: bool = False,
) -> Expression | None:
    """Return the expression for the device at `place`; None or `FixDeclined` where nothing is proven to work.
    `index` is that of the CUDA device that was meant, "" for the current one. A variable in scope serves if
    `from_scope`; it may be a string, unless it has to be `known` as a torch.device. `later`: what is written
    runs after the import, whatever the place."""
    decline_unreached(fact)
    in_scope = fact.proofs.get("device-in-scope")
    serves = from_scope and not index and in_scope is not None
    if serves and in_scope and holds_a_device(context.module, in_scope, place, known):
        return Expression(in_scope)
    if not later and not may_decide_here(context, place):
        raise FixDeclined("it runs at import, too early to select a device")
    if context.settings.target == "torch_tpu":
        form = '{0}.device({0}.accelerator.current_accelerator() or "cpu")'
        return _device_of_import(ensure_module(context, "torch", place), form)
    if context.settings.style == "native":
        return _device_of_import(ensure_module(context, "torch_xla", place), "{0}.device()")
    return _helper(context, place, index)


def written_device(context: FixContext, fact: Fact, place: Span, index: str = "") -> Expression:
    """Return what `device_expression` does without a device in scope; `FixDeclined` where that is nothing."""
    found = device_expression(context, fact, place, index, from_scope=False)
    if found is None:
        raise FixDeclined("no device can be written here")
    return found


def decline_unreached(fact: Fact) -> None:
    """Raise `FixDeclined` for a place that XLA does not get to."""
    if closed := next((guard for guard in fact.guards if guard.kind in _UNREACHED), None):
        raise FixDeclined(f"only `{closed.text}` gets there")


def is_default_device(device: str, index: str) -> bool:
    """The first CUDA device, or the current one: what a single-device program means."""
    return device in ("cuda", "cuda:0") and index in ("", "constant")


def index_of(device: str) -> str:
    """ "0" of "cuda:0"."""
    return device.partition(":")[2]


def _device_of_import(imported: Imported | None, form: str) -> Expression | None:
    if imported is None:
        return None
    return Expression(form.format(imported.name), imported.edits)


def may_decide_here(context: FixContext, place: Span) -> bool:
    """A device is decided when code runs; at import only a script does that, or what it imports, also in a
    class body."""
    around = [n for n in path_to(context.module, *place) if (n.start, n.end) != place]
    if any(isinstance(node, ir.FString) for node in around):
        return False
    if not runs_at_import(context.module, *place):
        return True
    is_default = any(isinstance(node, Function) for node in around)
    is_library = context.package_root is not None and not context.starts_early
    return not is_default and (not is_library or starts_program(context.module))


def _helper(context: FixContext, place: Span, index: str) -> Expression | None:
    found = helper_function(context, helpers.DEVICE, place)
    if found is None:
        raise FixDeclined(f"no import of `{context.settings.helper}` certainly works in this file")
    return Expression(f"{found.name}({index})", found.edits, found.creates)

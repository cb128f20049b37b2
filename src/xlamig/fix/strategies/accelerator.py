"""`torch.accelerator.current_accelerator()` and what asks for one become calls of the helper."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact
from xlamig.findings import Create, Edit
from xlamig.fix.context import Draft, FixContext, Options
from xlamig.fix.device import may_decide_here
from xlamig.fix.helper import helper_function
from xlamig.fix.inline import joined_definitions
from xlamig.fix.scopes import bindings
from xlamig.knowledge import helpers

_TWINS = {"current_accelerator": helpers.ACCELERATOR, "is_available": helpers.AVAILABLE}


def accelerator(fact: Fact, options: Options, context: FixContext) -> Draft | None:
    """All questions to `torch.accelerator` in the file, or none: they have to agree. Option `others`:
    also where the file uses more of `torch.accelerator`, which knows no XLA either."""
    if not isinstance(fact, DeviceChoice) or fact.via != "accelerator" or context.settings.style == "native":
        return None
    edits: list[Edit] = []
    creates: tuple[Create, ...] = ()
    calls = {id(n.func): n for n in ir.walk(context.module) if isinstance(n, ir.Call)}
    here = False
    for node in _uses(context.module):
        twin = _TWINS.get(node.attr)
        if twin is None and options.get("others"):
            continue
        call = calls.get(id(node))
        place = (node.start, node.end)
        function = helper_function(context, twin, place) if twin and call else None
        if function is None or not may_decide_here(context, place):
            return None
        here = here or (call is not None and (call.start, call.end) == fact.span)
        edits += [*function.edits, context.edit(*place, function.name)]
        creates = function.creates
    if not here:
        return None
    merged = _one_insertion(edits, context.module.newline)
    return Draft(f"Use `{helpers.ACCELERATOR}()`, which knows XLA", merged, creates) if merged else None


def _uses(module: ir.Module) -> Iterator[ir.Attribute]:
    """Every `torch.accelerator.x`, where `torch` can be nothing but the module."""
    names = {
        alias.asname or "torch"
        for node in ir.walk(module)
        if isinstance(node, ir.Import)
        for alias in node.names
        if alias.name == "torch"
    }
    for node in ir.walk(module):
        match node:
            case ir.Attribute(value=ir.Attribute(value=ir.Name(id=name), attr="accelerator")):
                if name in names and all(isinstance(b, ir.Alias) for b in bindings(module, name)):
                    yield node


def _one_insertion(edits: list[Edit], newline: str) -> tuple[Edit, ...]:
    """The edits, with the imports or the definitions that stand at one place written as one."""
    by_place: dict[tuple[int, int], list[Edit]] = {}
    for edit in dict.fromkeys(edits):
        by_place.setdefault((edit.place.start, edit.place.end), []).append(edit)
    found: list[Edit] = []
    for same in by_place.values():
        contents = [edit.content for edit in same]
        is_code = contents[0].strip("\r\n").startswith("def ")
        content = joined_definitions(contents, newline) if is_code else _joined_imports(contents)
        found.append(Edit(same[0].filename, same[0].cell, same[0].place, content))
    return tuple(found)


def _joined_imports(contents: list[str]) -> str:
    first, *more = contents
    line = first.rstrip("\r\n")
    names = [other.rpartition(" import ")[2].strip(", \r\n") for other in more]
    return ", ".join((line, *names)) + first[len(line) :]

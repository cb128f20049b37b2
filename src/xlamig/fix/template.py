"""Python text that a rule page gives for a fix, with placeholders for what is at the place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import Formatter

from xlamig import ir
from xlamig.facts import Fact, Span
from xlamig.findings import Create, Edit
from xlamig.fix.context import Expression, FixContext
from xlamig.fix.device import device_expression
from xlamig.fix.imports import Imported, ensure_module

_IMPORT = "import "
_XLA = "torch_xla"
_NONE: Mapping[str, str | None] = {}


def fill(
    source: str, context: FixContext, fact: Fact, place: Span, texts: Mapping[str, str | None] = _NONE
) -> Expression | None:
    """`source` for a use at `place`: `{name}` is that of `texts`, `{import x.y}` what the module is called
    here, `{torch}` short for torch itself, `{device}` the project's torch.device. Braces of the text are
    doubled. None where one of these is not to be had."""
    written: list[str] = []
    edits: list[Edit] = []
    creates: tuple[Create, ...] = ()
    for literal, name, _, _ in Formatter().parse(source):
        written.append(literal)
        if name is None:
            continue
        text = texts.get(name)
        if name == "torch" or name.startswith(_IMPORT):
            module = _module(context, name.removeprefix(_IMPORT), place)
            text = module.name if module else None
            edits += module.edits if module else ()
        elif name == "device" and name not in texts:
            device = device_expression(context, fact, place, known=True)
            text = device.text if device else None
            edits += device.edits if device else ()
            creates = device.creates if device else ()
        if text is None:
            return None
        written.append(text)
    return Expression("".join(written), together(edits), creates)


def _module(context: FixContext, name: str, place: Span) -> Imported | None:
    """Portable code names torch_xla only in files that cannot do without it already."""
    needs = name.partition(".")[0] == _XLA and context.settings.style == "portable"
    if needs and not any(map(_imports_xla, context.module.body)):
        return None
    return ensure_module(context, name, place)


def _imports_xla(statement: ir.Stmt) -> bool:
    names = [a.name for a in statement.names] if isinstance(statement, ir.Import) else ()
    names = [statement.module] if isinstance(statement, ir.ImportFrom) else names
    return any(name.partition(".")[0] == _XLA for name in names)


def together(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits, those that insert different lines at one place as one."""
    found: dict[Span, Edit] = {}
    for edit in dict.fromkeys(edits):
        span = edit.place.start, edit.place.end
        old = found.get(span)
        content = edit.content if old is None else old.content + edit.content
        found[span] = Edit(edit.filename, edit.cell, edit.place, content)
    return tuple(found.values())

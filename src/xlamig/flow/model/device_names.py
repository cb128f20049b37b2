"""Detects modules that name a device, or a library that chooses one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.words import places_of, starts_of
from xlamig.knowledge import helpers
from xlamig.knowledge.devices import alternatives, device_types

_TYPES = alternatives("nvidia", "xla", "other", words=True)
_LIBRARIES = "accelerat|lightning|deepspeed|horovod|fabric"
_NAMED = re.compile(rf"device|cuda|gpu|{_LIBRARIES}|(?:^|[_.])(?:{_TYPES})(?:[_.:]|$)", re.IGNORECASE)
_SETTINGS = re.compile(
    r"torch_xla|self|cls|args?|opts?|options?|conf|config|cfg|hparams|params|flags", re.IGNORECASE
)
_WRITTEN_TYPES = device_types("nvidia", "xla", "other")
_WRITTEN_ANYWHERE = _LIBRARIES.split("|")
# The word first: an expression that begins with it is sought ten times as fast as one that begins with \b.
_WRITTEN_DEVICE = re.compile(
    r"""device\b(?:(?<=\btorch\.device)|(?<=\bself\.device)|(?<=\bargs\.device)
    |(?<![\w.]device)(?!\s*=\s*[\w.]*\.device\b))""",
    re.VERBOSE,
)
_LONGEST = 40  # of a text that may be a device or an option's name


def names_device(module: ir.Module, helper: str) -> bool:
    """Return whether a name, an option or a text of the module stands for a device other than the CPU.

    `x.device`, which follows a tensor, does not; neither do torch_xla, `helper`, the module that fixes
    call, and what it seeds, or defines in the file: those may be there before a device is.
    """
    return any(
        _NAMED.search(name)
        for name in _names(module)
        if name != helpers.SEED and not name.startswith("torch_xla") and f".{helper}." not in f".{name}."
    )


def may_choose_device(text: str) -> bool:
    """Return whether the text of a module may choose a device; comments count as well."""
    if any(word in text for word in _WRITTEN_ANYWHERE) or _WRITTEN_DEVICE.search(text):
        return True
    starts = starts_of("default_device(", text)
    return any(True for _ in starts) or any(True for kind in _WRITTEN_TYPES for _ in places_of(kind, text))


def _names(module: ir.Module) -> Iterator[str]:
    for node in (node for statement in module.body if not _is_ours(statement) for node in ir.walk(statement)):
        match node:
            case ir.Name(id=name) | ir.Param(name=name) | ir.FunctionDef(name=name):
                yield name
            case ir.Attribute(attr="device"):
                if _SETTINGS.fullmatch(path_of(node.value)):
                    yield node.attr
            case ir.Attribute(attr=name):
                yield name
            case ir.Alias(name=name):
                yield name
            case ir.ImportFrom(module=name):
                yield name
            case ir.Const(value=str(text)) if len(text) <= _LONGEST and " " not in text:
                yield text


def _is_ours(node: ir.Stmt) -> bool:
    return isinstance(node, ir.FunctionDef) and helpers.is_inline(node.name, ir.docstring(node))

"""Places that raise once the device that reaches them is XLA's: what choosing XLA would expose."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from xlamig import ir
from xlamig.flow.model.device_sets import closed_sets
from xlamig.flow.model.guards import NAMES_XLA
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

_DEVICE = re.compile(r"(?:[\w.]*(?:^|[._]))?(?:device|dev)(?:_?(?:name|str|id|type))?", re.IGNORECASE)
_WRAPPED = re.compile(r"(?:str|torch\.device)\((.*)\)", re.DOTALL)
_ARGUMENTS = {"load": "map_location", "Generator": "device"}
_OWNERS = ("torch.", "th.")


def device_sinks(module: ir.Module, text: str) -> tuple[str, ...]:
    """The source texts of a module's sinks."""
    if "device" not in text and ".jit." not in text:
        return ()
    # A walk takes longer than a search: most modules have neither a name of CUDA nor such a call.
    sets = closed_sets(module, text) if "cuda" in text else ()
    calls = _calls(module, text) if _may_call().search(text) else ()
    found = (*sets, *calls)
    return tuple(short(text[node.start : node.end]) for node in found)


@cache
def _may_call() -> re.Pattern[str]:
    names = {name.rpartition(".")[2] for name in table.names("program", "saved-programs")} | _ARGUMENTS.keys()
    return re.compile(rf"\.[\s\\]*(?:{'|'.join(sorted(names))})\b")


def _calls(module: ir.Module, text: str) -> Iterator[ir.Expr]:
    """`torch.load(path, map_location=device)`, `torch.Generator(device=device)`, `torch.jit.trace(f, x)`"""
    for node in ir.walk(module):
        if not isinstance(node, ir.Call) or not text.startswith(_OWNERS, node.start):
            continue
        if path_of(node.func) in table.names("program", "saved-programs"):
            yield node
        name = _ARGUMENTS.get(node.func.attr if isinstance(node.func, ir.Attribute) else "")
        given = [arg for arg in node.args if name and arg.keyword in (name, None)]
        if any(is_run_time_device(text[arg.value.start : arg.value.end]) for arg in given):
            yield node


def is_run_time_device(text: str) -> bool:
    """`device`, `args.device`, `str(self.device)`: a name for a device, and nothing about XLA."""
    wrapped = _WRAPPED.fullmatch(text)
    name = wrapped[1] if wrapped else text
    return _DEVICE.fullmatch(name) is not None and NAMES_XLA.search(name) is None

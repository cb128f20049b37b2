"""The arguments that choose the devices of a model's wrapper: of torch's, or of one that nobody knows."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts.common import ContextTag
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

_DEVICES = ("device_ids", "output_device")


def device_arguments(node: ir.Call, dotted: str | None) -> dict[int, ContextTag]:
    """Return where the arguments stand that choose the devices of a wrapper, each by its position."""
    wrappers = (table.names("program", key) for key in ("replicates", "data-parallel"))
    if any(dotted in names for names in wrappers):
        return dict.fromkeys(_of_torch(node), "device-ids")
    if (dotted or "").startswith("torch.") or not node.args or node.args[0].keyword:
        return {}
    named = {arg.keyword: i for i, arg in enumerate(node.args)}
    if not path_of(node.func).rpartition(".")[2][:1].isupper() or "device_ids" not in named:
        return {}
    return {named[name]: "wrapper-devices" for name in _DEVICES if name in named}


def _of_torch(node: ir.Call) -> list[int]:
    """Return the positions in a call of torch's wrapper, which only `device_ids` gives the devices."""
    if not any(arg.keyword == "device_ids" if arg.keyword else i == 1 for i, arg in enumerate(node.args)):
        return []
    return [i for i, arg in enumerate(node.args) if (arg.keyword in _DEVICES if arg.keyword else i in (1, 2))]

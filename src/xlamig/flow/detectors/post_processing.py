"""Find the functions whose work belongs on the host: those that pick detections out of predictions, and those
that exchange Python objects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.per_file import per_file

_SELECTS = frozenset({"nonzero", "unique", "argwhere", "masked_select"})
_ORDERS = frozenset({"sort", "argsort", "topk"})
_OVERLAP = re.compile(r"(?:^|_)(?:iou|ious|nms)(?:$|_|\d)|IoU|jaccard", re.IGNORECASE)
_LEARNS = re.compile(r"loss|target|assign|match|anchor", re.IGNORECASE)
_MOST_SELECTS = 2
_PICKLES = frozenset({"dumps", "_object_to_tensor"})
_COLLECTIVES = frozenset({"all_gather", "gather", "all_gather_into_tensor"})


@per_file
@lru_cache(maxsize=256)
def picks_detections(function: ir.FunctionDef) -> bool:
    """Return whether a function sorts boxes, drops those that overlap others in a loop, and selects rows by
    values at several places, as non-maximum suppression written by hand does; no function that gives
    predictions their targets."""
    if _LEARNS.search(function.name):
        return False
    names = list(_called(function))
    if sum(name in _SELECTS for name in names) < _MOST_SELECTS or _ORDERS.isdisjoint(names):
        return False
    loops = (part for part in ir.walk(function) if isinstance(part, ir.For | ir.While))
    return any(_OVERLAP.search(name) is not None for loop in loops for name in _called(loop))


@per_file
@lru_cache(maxsize=256)
def exchanges_objects(function: ir.FunctionDef) -> bool:
    """Return whether a function sends Python objects to other processes as bytes in tensors."""
    names = set(_called(function))
    return not names.isdisjoint(_PICKLES) and not names.isdisjoint(_COLLECTIVES)


def _called(node: ir.Node) -> Iterator[str]:
    """Yield the last names of what a node calls."""
    for part in ir.walk(node):
        if isinstance(part, ir.Call):
            func = part.func
            yield func.attr if isinstance(func, ir.Attribute) else path_of(func)

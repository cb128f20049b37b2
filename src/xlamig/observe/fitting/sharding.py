"""Spreads a graph over devices by annotations on its arguments, as GSPMD wants them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from xlamig.fits import Argument, Graph, Layout

_SHARED = ("parameter", "optimizer")  # what FSDP spreads; buffers are small, and read whole


class Unshardable(Exception):
    """Why a graph cannot be spread."""


@dataclass(frozen=True, slots=True)
class Shards:
    """For each argument its donated result and sharding, for each result its sharding."""

    arguments: list[dict[str, Any]]
    results: list[dict[str, Any]]


def shard(graph: Graph, devices: int, layout: Layout) -> Shards:
    """Raises Unshardable where the batch cannot be divided."""
    if layout == "one chip":
        return Shards([{"output": one.output} for one in graph.arguments], [])
    batch = batch_size(graph)
    if batch % devices:
        raise Unshardable(f"the batch of {batch} does not divide into {devices} devices")
    whole = "{replicated}"
    arguments = [
        {"output": one.output, "sharding": _sharding(one, batch, devices, layout) or whole}
        for one in graph.arguments
    ]
    results: list[dict[str, Any]] = [{} for _ in graph.outputs]
    for one, given in zip(graph.arguments, arguments, strict=True):
        if one.output is not None:  # a donated buffer stays where it is
            results[one.output] = {"sharding": given["sharding"]}
    return Shards(arguments, results)


def batch_size(graph: Graph) -> int:
    """The first dimension that most of the inputs have in common."""
    given = [one for one in graph.arguments if one.role == "input" and one.shape]
    given = given or [
        one for one in graph.arguments if one.role == "state" and one.shape and one.output is None
    ]
    if not given:
        raise Unshardable("no argument carries the batch: its data is made on the device, or is a constant")
    sizes = Counter(one.shape[0] for one in given)
    return max(sizes, key=lambda size: (sizes[size], size))


def _is_kept(one: Argument) -> bool:
    return one.output is None


def _sharding(one: Argument, batch: int, devices: int, layout: Layout) -> str | None:
    if one.role in ("input", "state") and one.shape and one.shape[0] == batch and _is_kept(one):
        return _split(len(one.shape), 0, devices)
    if layout == "FSDP" and one.role in _SHARED:
        divisible = [d for d, size in enumerate(one.shape) if size % devices == 0]
        if divisible:
            return _split(len(one.shape), max(divisible, key=lambda d: one.shape[d]), devices)
    return None


def _split(rank: int, dimension: int, devices: int) -> str:
    tiles = ",".join(str(devices if d == dimension else 1) for d in range(rank))
    return f"{{devices=[{tiles}]<=[{devices}]}}"

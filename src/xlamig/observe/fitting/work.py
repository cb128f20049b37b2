"""The work in a graph: FLOPs of its matrix products, and what goes between devices."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import ceil, prod

from xlamig.fits import Collective, Matmul, Place
from xlamig.observations import Spot
from xlamig.observe.fitting import hlo
from xlamig.observe.fitting.hlo import Instruction

_MOST = 10
_COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
_GROUPS = re.compile(r"\b(feature|batch)_group_count=(\d+)")
_WINDOW = re.compile(r"window=\{([^}]*)\}")
Product = tuple[int, int, int, int]
"""(batch, rows, contracted, columns)."""
_LABELS = re.compile(r"dim_labels=(\w+)_(\w+)->(\w+)")


def matmuls(
    found: Iterable[Instruction], sites: Sequence[Spot | None], mxu: int
) -> tuple[int, tuple[Matmul, ...]]:
    """The FLOPs of all matrix products and convolutions, and the largest groups of equal ones."""
    shapes: dict[str, tuple[int, ...]] = {}
    groups: dict[tuple[int, int, int, Place | None], list[int]] = defaultdict(list)
    for one in found:
        shapes[one.name] = hlo.dimensions(one.shape)
        if one.opcode in ("dot", "convolution"):
            left, right = (shapes.get(name, ()) for name in one.operands[:2])
            b, m, k, n = (_dot if one.opcode == "dot" else _convolution)(one, left, right)
            groups[m, k, n, hlo.place(one.op_name, sites)].append(2 * b * m * k * n)
    made = [
        Matmul(m, k, n, len(flops), sum(flops), _fill(k, mxu) * _fill(n, mxu), place)
        for (m, k, n, place), flops in groups.items()
    ]
    made.sort(key=lambda one: -one.flops)
    return sum(one.flops for one in made), tuple(made[:_MOST])


def _fill(size: int, mxu: int) -> float:
    return size / (ceil(size / mxu) * mxu) if size else 0.0


def _read_numbers(one: Instruction, name: str) -> list[int]:
    found = re.search(rf"\b{name}=\{{([0-9,]*)\}}", one.rest)
    return [int(n) for n in found[1].split(",") if n] if found else []


def _dot(one: Instruction, left: tuple[int, ...], right: tuple[int, ...]) -> Product:
    batch = prod(left[d] for d in _read_numbers(one, "lhs_batch_dims"))
    contracted = prod(left[d] for d in _read_numbers(one, "lhs_contracting_dims"))
    rows = prod(left) // max(1, batch * contracted)
    return batch, rows, contracted, prod(right) // max(1, batch * contracted)


def _convolution(one: Instruction, left: tuple[int, ...], right: tuple[int, ...]) -> Product:
    """As if by a matrix product: a row for each position, what a position sees is contracted."""
    labels = _LABELS.search(one.rest)
    if labels is None:
        return 1, 1, 1, 1
    kernel, out = labels[2], labels[3]
    result = hlo.dimensions(one.shape)
    spatial = [label for label in out if label.isdigit()]
    pairs = prod(
        _pairs(result[out.index(d)], right[kernel.index(d)], _window(one, int(d), len(spatial)))
        for d in spatial
    )
    positions = prod(result[out.index(d)] for d in spatial)
    batch, columns = result[out.index("b")], result[out.index("f")]
    groups = dict(_GROUPS.findall(one.rest))
    each = columns // int(groups.get("feature", 1))
    rows = batch * positions
    contracted = max(1, right[kernel.index("i")] * pairs // max(1, positions))
    return columns // max(1, each), rows, contracted, each


def _window(one: Instruction, place: int, count: int) -> dict[str, str]:
    found = _WINDOW.search(one.rest)
    parts = dict(part.split("=", 1) for part in found[1].split()) if found else {}
    return {name: value.split("x")[place] for name, value in parts.items() if len(value.split("x")) == count}


def _pairs(result: int, kernel: int, window: dict[str, str]) -> int:
    """Products along one dimension. Holes between the input's elements, which the gradient of a strided
    convolution has, are multiplied with nothing; padding is, as every counter of FLOPs has it."""
    holes = int(window.get("lhs_dilate", 1))
    if holes == 1:
        return result * kernel
    stride, dilation = int(window.get("stride", 1)), int(window.get("rhs_dilate", 1))
    pad = int(window.get("pad", "0_0").split("_")[0])
    return sum(
        (at * stride + tap * dilation - pad) % holes == 0 for at in range(result) for tap in range(kernel)
    )


def collectives(found: Iterable[Instruction]) -> tuple[Collective, ...]:
    """Return the collectives of one device in a step, by operation."""
    shapes: dict[str, str] = {}
    sizes: dict[str, list[int]] = defaultdict(list)
    for one in found:
        shapes[one.name] = one.shape
        name = one.opcode.removesuffix("-start")
        if name in _COLLECTIVES:
            sizes[name].append(sum(hlo.size(shapes.get(given, "")) for given in one.operands))
    return tuple(Collective(name, len(each), sum(each)) for name, each in sorted(sizes.items()))

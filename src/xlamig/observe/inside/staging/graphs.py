"""The graphs of a program: what each is given, what it writes, and its StableHLO."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch_xla

from . import tensors

_C = torch_xla._XLAC
MOST = 24  # graphs that are distinguished at one line; where there are more, none repeats
_SCALAR = -1  # the number of what no tensor of the program holds


@dataclass(slots=True)
class Graph:
    """`trains` is whether an optimizer stepped in it; `file` is empty until it is written."""

    cause: str  # boundary | read
    place: int  # number of the site
    trains: bool
    evaluates: bool = False  # without gradients
    count: int = 0
    last: int = 0  # the boundary after which it was last seen
    file: str = ""
    arguments: list[dict[str, Any]] = field(default_factory=list)
    outputs: list[dict[str, Any]] = field(default_factory=list)

    def content(self) -> dict[str, Any]:
        return asdict(self)


class Graphs:
    """All that were seen, by torch_xla's own hash. `held` tells which placeholder stands for which tensor."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.found: dict[bytes, Graph] = {}
        self.held: dict[int, int] = {}
        self.at: Counter[tuple[str, int]] = Counter()

    def see(
        self, cause: str, place: int, outputs: Sequence[torch.Tensor], step: int, trains: bool, write: bool
    ) -> None:
        """Counts the graph that computes `outputs`; the second time, or where told to, it is written."""
        if not self.may_repeat(cause, place):
            return
        key = _C._get_graph_hash(list(outputs))
        self.at[cause, place] += key not in self.found
        graph = self.found.setdefault(key, Graph(cause, place, trains))
        graph.count += 1
        graph.last = step
        graph.trains |= trains
        graph.evaluates |= not torch.is_grad_enabled()
        if not graph.file and (write or graph.count == 2):
            self._write(graph, outputs)

    def may_repeat(self, cause: str, place: int) -> bool:
        """Return whether fewer than MOST different graphs were seen there."""
        return self.at[cause, place] < MOST

    def _write(self, graph: Graph, outputs: Sequence[torch.Tensor]) -> None:
        graph.file = f"graph-{list(self.found.values()).index(graph)}.mlirbc"
        known = tensors.uses()
        graph.arguments = _arguments(outputs, known, tensors.numbers(known) | self.held)
        graph.outputs = [_describe_tensor(one, known.get(id(one))) for one in outputs]
        code = _C._get_stablehlo(list(outputs), _C._xla_get_default_device(), [], True)
        (self.folder / graph.file).write_bytes(code)


def _arguments(
    outputs: Sequence[torch.Tensor], known: Mapping[int, tensors.Use], held: Mapping[int, int]
) -> list[dict[str, Any]]:
    """In the order of the module. `output` is the result that overwrites an argument: torch_xla donates
    the buffer of a tensor that the graph gives a new value."""
    numbers, values = _C._get_tensors_xla_device_data_node(list(outputs))
    written = {id(one): place for place, one in enumerate(outputs)}
    found = []
    for number, value in zip(numbers, values, strict=True):
        owner = held.get(number)
        output = written.get(owner) if owner is not None else None
        same = output is not None and _alike(outputs[output], value)
        told = _describe_tensor(
            value, known.get(owner) if owner is not None else None, held=owner is not None
        )
        found.append(told | {"output": output if same else None})
    return found


def _alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and one.dtype == other.dtype


def _describe_tensor(one: torch.Tensor, use: tensors.Use | None, held: bool = False) -> dict[str, Any]:
    role = use.role if use else "scalar" if one.dim() == 0 else "state" if held else "input"
    return {
        "role": role,
        "name": use.name if use else "",
        "shape": list(one.shape),
        "dtype": str(one.dtype).removeprefix("torch."),
        "bytes": one.numel() * one.element_size(),
    }

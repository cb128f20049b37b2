"""The result of compiling a program's graphs for TPUs. See observe/fitting for how it is found out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xlamig.observations import Failure, Spot

GraphKind = Literal[
    "training step", "evaluation", "graph without an update", "graph that a read executes", "saved graph"
]  # an evaluation runs without gradients
Role = Literal["parameter", "optimizer", "buffer", "state", "input", "scalar"]
Layout = Literal["one chip", "data parallel", "FSDP"]
ProblemKind = Literal["out of memory", "refused", "aborted", "timeout", "not sharded"]

ROLES: tuple[Role, ...] = ("parameter", "optimizer", "buffer", "state", "input", "scalar")
CAVEAT = "Compiled, not run: a lower bound, not a prediction, and not compared with a TPU."


@dataclass(frozen=True, slots=True)
class Argument:
    """A buffer that a graph is given. `output` is the result that overwrites it, which torch_xla does
    for every tensor that a step gives a new value."""

    role: Role
    name: str
    shape: tuple[int, ...]
    dtype: str
    bytes: int
    output: int | None = None


@dataclass(frozen=True, slots=True)
class Graph:
    """`count` is how often it was seen; `file` holds its StableHLO, `sites` the lines its operators name."""

    kind: GraphKind
    spot: Spot | None
    count: int
    arguments: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    file: str
    sites: tuple[Spot | None, ...] = ()

    def bytes_of(self, *roles: Role) -> int:
        return sum(one.bytes for one in self.arguments if one.role in roles)


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the program something of a graph comes from."""

    filename: str
    row: int
    backward: bool = False  # in the backward pass of that line


@dataclass(frozen=True, slots=True)
class Buffer:
    """One that is alive when the memory in use is at its peak. `name` is an argument's or an operator's."""

    bytes: int
    shape: str
    name: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class Matmul:
    """`count` products of an m x k and a k x n matrix; a convolution counts as one. `fill` is the share of
    the matrix unit that k and n use."""

    m: int
    k: int
    n: int
    count: int
    flops: int
    fill: float
    place: Place | None


@dataclass(frozen=True, slots=True)
class Collective:
    """`bytes` is what one device hands to all operations of that name, in one step."""

    name: str
    count: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Memory:
    """In bytes, of one device. `aliased` outputs use the memory of arguments."""

    arguments: int
    outputs: int
    aliased: int
    temporaries: int
    code: int
    peak: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Why there is no executable. `needed` is the memory that the compiler asks for, if it says so."""

    kind: ProblemKind
    message: str
    place: Place | None = None
    needed: int | None = None


@dataclass(frozen=True, slots=True)
class Compiled:
    """One graph for `devices` devices of one kind. FLOPs and bytes are those of one device and one step:
    `flops` of its matrix products and convolutions, `compiler_flops` and `bytes` by the compiler's own
    cost model. `bound` is the shortest a step can take, in seconds."""

    chip: str
    chips: int
    devices: int
    layout: Layout
    available: int
    flops: int = 0
    compiler_flops: float | None = None
    bytes: float | None = None
    bound: float | None = None
    limit: Literal["MXU", "HBM"] | None = None
    seconds: float | None = None  # to compile
    memory: Memory | None = None
    buffers: tuple[Buffer, ...] = ()
    matmuls: tuple[Matmul, ...] = ()
    collectives: tuple[Collective, ...] = ()
    problem: Problem | None = None

    @property
    def fits(self) -> bool:
        return self.problem is None

    @property
    def intensity(self) -> float | None:
        """FLOPs for each byte of memory traffic."""
        return self.flops / self.bytes if self.bytes else None


@dataclass(frozen=True, slots=True)
class GraphFit:
    """`batch` is the value of the batch argument, None where it was not varied."""

    graph: Graph
    compiled: tuple[Compiled, ...]
    batch: int | None = None


@dataclass(frozen=True, slots=True)
class Capture:
    """`steps` trained, of which each graph is one; reads were answered with stand-in values."""

    graphs: tuple[Graph, ...]
    steps: int
    distinct: int  # graphs of training steps
    torch_xla: str
    reads: tuple[tuple[Spot | None, int], ...] = ()
    fallbacks: tuple[tuple[Spot | None, str, int], ...] = ()
    redirected: tuple[tuple[str, int], ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class LargestBatch:
    """The largest batch that fits, and the smallest that was tried and does not; None for none."""

    chip: str
    chips: int
    layout: Layout
    argument: str
    fits: int | None
    too_large: int | None


@dataclass(frozen=True, slots=True)
class Fit:
    """A whole report. The training step comes first."""

    program: str
    capture: Capture
    graphs: tuple[GraphFit, ...]
    compiler: str  # the versions of jax and libtpu
    largest: tuple[LargestBatch, ...] = ()

    @property
    def compiled(self) -> tuple[Compiled, ...]:
        return tuple(one for graph in self.graphs for one in graph.compiled)

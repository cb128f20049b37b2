"""The host waits for the device: reads, transfers, timings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from xlamig.facts.common import Fact

Consumer = Literal[
    "",
    "raise",
    "progress",
    "log",
    "container",
    "file",
    "text",
    "environment",
    "slice",
    "index",
    "module",
    "size",
    "fill",
    "iterations",
    "shift",
    "extremum",
    "packing",
    "library",
    "remainder",
    "any",
    "empty",
    "count",
    "update",
    "filter",
    "sample",
    "shape",
    "choice",
    "loss",
    "branch",
    "stop",
    "state",
    "return",
    "sum",
]
"""The consumer of a value on the host: a check that raises, one whether a step still changes a number (`t +
dt > t`), a log, a list or array, a file, a decoder of tokens, the step of an environment, a slice's bound, an
index, the choice of a module that is called, a size of a tensor, what fills one (`torch.full`), a number of
iterations, the distance that `torch.roll` rolls by, Python's `min` or `max`, the lengths of a packed
sequence, a library that computes on the host, a remainder (`n % 100`), a test whether a mask selects
anything, the same where the function returns nothing otherwise, a number that is counted up, whether the
parameters are updated, whether Python keeps a number that may be NaN, how the part of a list is made that
belongs to a sample, whether a tensor gets another shape, one of several written values, a loss that the
backward pass starts from, another branch, a loop that ends, the state that Python keeps (`self.count -= 1`),
the caller, a total that the host adds copies to."""

Cut = Literal["", "start", "end", "window", "write"]
"""How a slice uses a number: as its start, its end or as one of two ends that both vary; or the slice is
written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRead(Fact):
    """Python needs the value of a device tensor: the graph so far runs, and the host waits for it.

    `operation` is what reads: "Tensor.item", "float", "print", "if", "math.isnan", "torch.equal".
    `boundary` is "after" where a step boundary comes before it with no device work between. `nth`
    counts the reads of one iteration of a step loop. `over` says that a loop reads one tensor after another;
    "rows" is of the loop itself, whose iterations read numbers out of the rows of a tensor; "elements" is a
    read of a different element of the tensor `source` every iteration, which leaves that tensor as it is;
    "same" is a read of the same values in all iterations of the innermost loop. `holds`: the tensor is
    computed from nothing but Python numbers that are the same every step. `counted`: the shape of what is
    copied depends on values, which the host has read to make it. `kept` is the source text of the
    Python number that the constructor puts where the value is read, which no method changes; `longest` that
    of the greatest of several lengths that is read, as `lengths.max()`.
    `origin` is "host" where the tensor is computed from nothing but data that were moved to the device.
    """

    kind: ClassVar[str] = "host-read"

    via: Literal[
        "item",  # .item(), .tolist(), float(t), int(t)
        "copy",  # .cpu(), .to("cpu"), .numpy()
        "format",  # print, f-string, str, repr, a progress bar or logger that formats it
        "log",  # an f-string or the like inside logger.debug(...)
        "truth",  # if, while, assert, and, or, not, bool(t), any([...])
        "nan-check",  # the same on isnan, isinf, isfinite; math.isnan(t)
        "builtin",  # max, min, sorted, range, math.*, membership, torch.equal, torch.tensor([t, u])
        "number",  # a 0-d tensor as index, slice bound, size or other Python number
        "scheduler",  # ReduceLROnPlateau.step(t)
        "check",  # d.log_prob(t) of torch.distributions, which validates t
        "array",  # np.exp(t), ax.plot(t): a library that makes a NumPy array of it, which raises
    ]
    operation: str
    tensor: str  # the source text of what is read, shortened
    boundary: Literal["before", "after"] = "before"
    nth: Literal["only", "first", "later"] = "only"
    over: Literal["", "parameters", "state-dict", "list", "rows", "elements", "same"] = ""
    source: str = ""
    origin: Literal["", "host"] = ""
    loop: Literal["", "training", "evaluation", "decoding"] = ""  # of steps, that it stands in itself
    consumer: Consumer = ""
    indexed: str = ""  # the name of the tensor, list ... that the value indexes or slices
    cut: Cut = ""  # of a "number"
    holds: Literal["", "numbers"] = ""
    counted: bool = False
    kept: str = ""
    longest: str = ""
    collects: bool = False  # the loop that a "stop" ends adds to a list in each iteration


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer(Fact):
    """Values go from the host to the device. `count` says whether several batch tensors go one by one.

    `loop` is the kind of the innermost loop of steps, also of a caller; `consumer` "host" says that all uses
    of what is copied bring it back; `reads` that the host reads values in the same iterations.
    via "missing": they do not go there, and a module or loss on the device gets them; `holds` says what
    holds the tensors; "any" where it may be one itself. With CUDA, a wrapper of the module moves those that
    are `scattered`; torch_xla those that are `copied`, for a loss that is made of sums and products.
    """

    kind: ClassVar[str] = "transfer"

    via: Literal["batch", "constant", "leaf", "copy", "missing"]
    operation: str
    tensor: str = ""
    count: Literal["one", "several"] = "one"
    loop: Literal["", "training", "evaluation", "decoding"] = ""
    consumer: Literal["", "host"] = ""
    holds: Literal["", "sequence", "mapping", "any"] = ""
    scattered: bool = False
    copied: bool = False
    reads: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing(Fact):
    """The time between two clock reads is taken around device work that nothing waits for."""

    kind: ClassVar[str] = "timing"

    clock: str

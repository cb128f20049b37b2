"""The fields that all facts share, and the values that facts hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from xlamig.findings import Confidence, Frequency

Span = tuple[int, int]
"""(start, end) offsets in code points of the decoded text, end exclusive."""


GuardKind = Literal[
    "cuda",  # only where CUDA is: is_available(), x.is_cuda, device.type == "cuda"
    "other-device",  # an mps, xpu, npu ... branch
    "xla",  # only where torch_xla is
    "no-xla",  # only where torch_xla is not
    "optional-import",  # try: import ... except ImportError
    "package",  # is_x_available(), find_spec(...)
    "hasattr",
    "version",
    "never",  # a condition that is constantly false
    "unset",  # a flag that its class's constructor sets to False or None, and nothing in the file to more
    "half",  # only for tensors of float16, which a port to bfloat16 no longer has
    "off",  # a test of an option that everything in the project leaves off, or on
    "self-test",  # `if __name__ == "__main__":` of a module that others import
    "host-test",  # such a test in a module that chooses no device: all of it stays on the host
    "type-checking",
]


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition that has to hold for the place to run. `text` is its source, shortened; `called` if it
    holds where the function is called, maybe in another file, which `span` does not show."""

    kind: GuardKind
    text: str
    span: Span
    called: bool = False


@dataclass(frozen=True, slots=True)
class Why:
    """A link in the chain of reasons; `filename` is "" for the fact's own file."""

    message: str
    span: Span | None = None
    filename: str = ""

    def of(self, filename: str) -> Why:
        """The same link, seen from another file than its own."""
        return self if self.filename else Why(self.message, self.span, filename)


Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Value:
    """The abstract value of an argument.

    constant  `value` is the Python constant, also one found through a name or default
    pattern   a string known in part: "cuda:*" for f"cuda:{rank}"
    device    a torch.device or a lambda to it: `value` is "cuda", "cuda:0", "cuda:*", "cpu" ...; also a
              dictionary that leads to it, from the devices `items`
    api       a torch name: `value` is "torch.float16"
    cuda-test true only where CUDA is in use, like `device.type == "cuda"`
    sequence  a list, tuple or set that is written out: `items` are its elements
    expression  anything else; `value` is the source text, also that of a sequence
    """

    kind: Literal["constant", "pattern", "device", "api", "cuda-test", "sequence", "expression"]
    value: Scalar
    items: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class Argument:
    """`span` is the whole argument, `cut` what to delete so that the call stays well-formed.
    `reasons` say how the value is known; only rules that look at the argument show them."""

    name: str  # the parameter's name where the signature is known, else the keyword or position
    value: Value
    span: Span
    value_span: Span
    cut: Span
    keyword: bool
    reasons: tuple[Why, ...] = ()


ContextTag = Literal[
    "no-grad",  # under torch.no_grad or inference_mode
    "no-view",  # of inference_mode: the code in it calls no module and makes no view of a tensor
    "no-cast",  # of autocast: no result in it has another type without autocast
    "only-raised",  # of autocast: without it, results that are float32 would be bfloat16
    "makes-model",  # of inference_mode: a model is made, or moved to its device, in it
    "loop",
    "forward",  # a method of a module, trainer or autograd.Function that runs every step
    "training-loop",  # a loop each iteration of which is a step of training
    "per-step",  # one of these two; `frequency` is then "step", or "interval" under `step % n == 0`
    "worker",  # of a data loader: __getitem__, collate_fn ...
    "rank-guarded",  # only on rank 0
    "rank-called",  # in a function all of whose calls are rank-guarded
    "handover",  # in a function that does something on one rank, or reads or writes files: others may wait
    "condition",  # in the test of if, while, assert, a ternary; an operand of and, or, not
    "comparison",
    "shared-work",  # in the test of an if that wraps a model for several processes, or runs a collective
    "data-parallel",  # in the test of an if that only wraps models for the GPUs of one process
    "divisor",  # what `/`, `//` or `%` divides by
    "alignment",  # what `%` divides by a number
    "isinstance",  # in the second argument of isinstance or issubclass
    "try",  # in the body of a try that catches more than failed imports
    "message",  # in what is raised or asserted
    "log",  # in what is printed or logged
    "saved",  # in the arguments of a call that writes a file
    "device-ids",  # in the devices that are given to DistributedDataParallel or DataParallel
    "wrapper-devices",  # in the `device_ids` of a class that is not torch's and gets a model
    "set-device",  # in the argument of what sets the process's GPU
    "assigned",  # in the value that a statement assigns, or that is passed on as a generator
    "default-argument",
    "test-code",  # of the whole file
    "build",  # of the whole file: setup.py
    "ci",  # of the whole file: it says how the project is tested, not how it is run
    "saving-program",  # of the whole file: its program saves states by torch.save
    "loads-on-cpu",  # of the whole file: each torch.load of its program passes map_location="cpu"
    "cuda-program",  # of the whole file: CUDA is named somewhere
]


ContextTags = frozenset[ContextTag]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """The fields common to all facts. `span` is what a report underlines."""

    kind: ClassVar[str]

    span: Span
    statement: Span
    scope: str = ""  # "Trainer.fit", "" at module level
    callers: tuple[str, ...] = ()  # of the function, if nothing else calls it: the nearest first
    calls: tuple[Span, ...] = ()  # where these call it
    parts: Mapping[str, Span] = field(default_factory=dict)
    related: tuple[Why, ...] = ()
    frequency: Frequency = "unknown"
    context: ContextTags = frozenset()
    guards: tuple[Guard, ...] = ()
    confidence: Confidence = "certain"
    proofs: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[Why, ...] = ()

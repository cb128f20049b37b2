"""The vocabulary: what can be true of a place in a PyTorch program. Facts name no target.

A rule page matches facts by the fields below, so a field's name is public. The analyser
(`flow/`, `artifacts/`) predicts facts, a real run (`observe/`) observes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar, Literal

from xlamig.findings import Confidence, Frequency
from xlamig.knowledge import signatures

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
    "type-checking",
]


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition that has to hold for the place to run. `text` is its source, shortened."""

    kind: GuardKind
    text: str
    span: Span


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
    device    a torch.device or a lambda to it: `value` is "cuda", "cuda:0", "cuda:*", "cpu" ...
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
    "loop",
    "forward",  # a method of a module, trainer or autograd.Function that runs every step
    "training-loop",  # a loop each iteration of which is a step of training
    "per-step",  # one of these two; `frequency` is then "step", or "interval" under `step % n == 0`
    "worker",  # of a data loader: __getitem__, collate_fn ...
    "rank-guarded",  # only on rank 0
    "handover",  # in a function that does something on one rank, or reads or writes files: others may wait
    "condition",  # in the test of if, while, assert, a ternary; an operand of and, or, not
    "comparison",
    "divisor",  # what `/`, `//` or `%` divides by
    "isinstance",  # in the second argument of isinstance or issubclass
    "try",  # in the body of a try that catches more than failed imports
    "message",  # in what is raised or asserted
    "default-argument",
    "test-code",  # of the whole file
    "ci",  # of the whole file: it says how the project is tested, not how it is run
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
    parts: Mapping[str, Span] = field(default_factory=dict)
    related: tuple[Why, ...] = ()
    frequency: Frequency = "unknown"
    context: ContextTags = frozenset()
    guards: tuple[Guard, ...] = ()
    confidence: Confidence = "certain"
    proofs: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[Why, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiUse(Fact):
    """A known API is imported, named, called, assigned to or caught.

    `name` is canonical: "torch.cuda.synchronize"; a method has its receiver's class in front,
    "Tensor.cuda", "Module.cuda", "unknown.cuda"; a setting that is read is "setting.gpus". The
    callee of a call matched by a keyword alone may be "unknown". `spelled` is the source text.
    """

    kind: ClassVar[str] = "api-use"

    name: str
    spelled: str
    via: Literal["call", "reference", "import", "decorator", "assignment", "except", "with"]
    args: tuple[Argument, ...] = ()
    complete: bool = True  # False with *args or **kwargs: an absent argument may be there

    def argument(self, name: str) -> Argument | None:
        return next((a for a in self.args if a.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceChoice(Fact):
    """A device is named, chosen or tested.

    via "literal": `device`, of CUDA, XLA or TPU, stands in `position`; "index": a number that is a
    rank, or any given to torch.cuda.set_device, stands for a GPU; "selection": an availability test
    picks between CUDA and `fallback`; "move": under such a test a tensor or module is moved, with no
    other branch; "test": where a tensor or device is on CUDA, or not on the CPU (`device` is "cpu"), real
    work is done, and `fallback` elsewhere; "accelerator": torch.accelerator or get_device_module picks;
    "flag": a name keeps whether CUDA is there, and decides several placements.
    """

    kind: ClassVar[str] = "device-choice"

    via: Literal["literal", "index", "selection", "move", "test", "accelerator", "flag"]
    device: str  # "cuda", "cuda:0", "cuda:*", "xla", "tpu"
    position: str = ""  # to, cuda, factory, torch.device, set_device, option, default, setting ...; of a
    # test: if, ternary, assert, lookup, option
    index: Literal["", "constant", "rank", "expression"] = ""
    form: str = ""  # of a selection: ternary, if-else, and, move, word; of a test: is-cuda, type, text, set
    fallback: str = ""  # cpu, none, raise, other
    result: Literal["device", "string", "move", "unknown"] = "unknown"
    spelled: str = ""  # the source text of a literal or a test
    answer: str = ""  # what a test gives for an XLA tensor: True, False


@dataclass(frozen=True, slots=True, kw_only=True)
class Package(Fact):
    """A third-party package is imported (`via` "import") or required (`via` "requirement").

    What is required has the name of its distribution, in the normal form of PEP 503; `file` says where:
    "requirements", "toml", "setup-cfg", "setup-py", "lock", "yaml", "dockerfile", "shell" ...
    `releases` are the releases of torch, as "2.9", that the requirement admits; `cuda` is the CUDA it asks
    for by its own version, as in "2.4.1+cu121".
    """

    kind: ClassVar[str] = "package"

    package: str  # import name: "flash_attn"
    name: str  # dotted: "flash_attn.flash_attn_func"; of a distribution: "flash-attn"
    via: Literal["import", "requirement"] = "import"
    spelled: str = ""  # the requirement as it is written
    version: str = ""  # its specifier: ">=2.5,<3"
    releases: frozenset[str] = frozenset()
    cuda: str = ""  # "cu121"
    optional: bool = False  # an extra, a group for development
    file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel(Fact):
    """A source file with kernels written for GPUs: a unit of work, with the operators of Python that reach
    it among `related`, and who calls them.

    `name` are the file's stem, its kernels and operators in lower case, one after the other; `subject` and
    `amount` are these for people. `features` are those of knowledge/data/cuda-features.toml.
    """

    kind: ClassVar[str] = "kernel"

    via: Literal["source"]
    name: str
    subject: str
    amount: str
    kernels: int = 0
    launches: int = 0
    lines: int = 0  # of device code
    operators: tuple[str, ...] = ()
    features: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch(Fact):
    """A process group backend is named outside the call itself: an option or a default."""

    kind: ClassVar[str] = "launch"

    backend: str
    via: Literal["option", "default", "setting"]


Consumer = Literal[
    "",
    "raise",
    "log",
    "container",
    "file",
    "text",
    "environment",
    "slice",
    "index",
    "branch",
    "stop",
    "return",
]
"""The consumer of a value on the host: a check that raises, a log, a list or array, a file, a decoder of
tokens, the step of an environment, a slice's bound, an index, a branch, a loop that ends, the caller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRead(Fact):
    """Python needs the value of a device tensor: the graph so far runs, and the host waits for it.

    `operation` is what reads: "Tensor.item", "float", "print", "if", "math.isnan", "torch.equal".
    `boundary` is "after" where a step boundary comes before it with no device work between. `nth`
    counts the reads of one iteration of a step loop. `over` says that a loop reads one tensor after another;
    "rows" is of the loop itself, whose iterations read numbers out of the rows of a tensor.
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
    ]
    operation: str
    tensor: str  # the source text of what is read, shortened
    boundary: Literal["before", "after"] = "before"
    nth: Literal["only", "first", "later"] = "only"
    over: Literal["", "parameters", "state-dict", "list", "rows"] = ""
    consumer: Consumer = ""
    indexed: str = ""  # the name of the tensor, list ... that the value indexes or slices


@dataclass(frozen=True, slots=True, kw_only=True)
class DynamicShape(Fact):
    """The shape of a result on the device depends on values. `mask` is the source text of the mask or
    size; `same_shape`: a mask computed from the very tensor it is used on. The `operation` of a
    mask-write is "+" for `x[m] += v`."""

    kind: ClassVar[str] = "dynamic-shape"

    via: Literal[
        "nonzero",  # also where(c), argwhere
        "mask-read",  # x[m], masked_select
        "mask-write",  # x[m] = v, x[m] += v
        "unique",  # also bincount, histc, histogram
        "repeat",  # repeat_interleave with a tensor
        "size",  # a size, bound or repeat count that was read from a tensor
        "derived",  # one taken from the shape of a tensor with such a shape
        "masked-scatter",
        "experts",  # a loop over experts that picks tokens by mask
        "detection",  # nms, roi_align ...
    ]
    operation: str
    tensor: str = ""
    mask: str = ""
    value: Literal["", "scalar", "tensor", "masked"] = ""  # of a mask-write
    same_shape: bool = False


Cause = Literal["step-counter", "position", "random", "read", "length", "batch"]
"""Why a number differs between two runs of a graph: it counts steps, it is the position in a sequence
that is decoded, it is random, read from a tensor, the length of something that grows, or the batch's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangingConstant(Fact):
    """A Python number that differs between graph runs stands where it is baked into the graph."""

    kind: ClassVar[str] = "changing-constant"

    via: Literal["index", "slice", "attribute"]
    access: Literal["read", "write"] = "read"
    operation: str = ""  # of an attribute: "torch.arange", "**"
    tensor: str = ""
    number: str = ""  # source text of the number
    cause: Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangingShape(Fact):
    """A tensor has a different shape every graph run: it grows, or a list of tensors does.

    via "cache": a library's object that grows; "generate": a library's decoding loop with such a cache;
    "batch": what is put on the device every step.
    """

    kind: ClassVar[str] = "changing-shape"

    via: Literal["concat", "pad", "list", "size", "cache", "generate", "batch"]
    operation: str
    tensor: str = ""
    cause: Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangingPath(Fact):
    """Python control flow around device work that differs between graph runs."""

    kind: ClassVar[str] = "changing-path"

    via: Literal["branch", "rounds"]
    cause: Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class NegativeSlice(Fact):
    """A slice of a device tensor starts at `-n`, and the dimension may be shorter than `n`.

    `growing`: the tensor begins shorter and grows, as a window of the last steps does.
    """

    kind: ClassVar[str] = "negative-slice"

    access: Literal["read", "write"]
    tensor: str
    number: str  # source text of the start
    growing: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StepBoundary(Fact):
    """A loop each iteration of which is a step, and what ends it. One fact per loop, where its optimizer
    steps, or at its header if none does.

    boundary  none: nothing runs the graph; read: a host read in every iteration does; sync: a step marker;
              several: more than one marker; loader: a device loader; framework: a library's own loop
    optimizer how parameters are updated: plain `step()`, xm (`xm.optimizer_step` with no barrier),
              none, several
    """

    kind: ClassVar[str] = "step-boundary"

    loop: Literal["training", "evaluation", "decoding"]
    boundary: Literal["none", "read", "sync", "several", "loader", "framework"]
    optimizer: Literal["plain", "xm", "none", "several"] = "none"
    accumulates: bool = False  # the optimizer's step stands under a condition


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleMove(Fact):
    """A module is moved after something had come to depend on its parameters: a move to XLA replaces them."""

    kind: ClassVar[str] = "module-move"

    via: Literal["optimizer", "tie", "hook", "attribute", "list", "data", "host-data"]
    module: str  # source text
    optimizer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer(Fact):
    """Values go from the host to the device. `count` says whether several batch tensors go one by one."""

    kind: ClassVar[str] = "transfer"

    via: Literal["batch", "constant", "leaf", "copy"]
    operation: str
    tensor: str = ""
    count: Literal["one", "several"] = "one"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing(Fact):
    """The time between two clock reads is taken around device work that nothing waits for."""

    kind: ClassVar[str] = "timing"

    clock: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment(Fact):
    """A fact about the program's surroundings. In Python an environment variable is read, written or deleted;
    `value` is what is written. In other files (`access` is "file", `file` their kind) something has a `name`:

    variable  an environment variable is set         image     a container image is used
    package   a package of the system is installed   index     a package index is named
    command   a program is started, its arguments as text in `value`
    option    an option of such a command: "docker --gpus", "sbatch --gres"
    setting   a key of a YAML or JSON file; `path` are the keys above it, with dots
    """

    kind: ClassVar[str] = "environment"

    variable: str = ""
    access: Literal["read", "write", "delete", "file"]
    value: Value | None = None
    what: Literal["variable", "image", "package", "index", "command", "option", "setting"] = "variable"
    name: str = ""
    path: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEvent(Fact):
    """Something about the run itself: an unparsable file, a stray suppression, a crashed rule."""

    kind: ClassVar[str] = "tool"

    event: Literal[
        "unparsable-file", "unused-suppression", "unknown-code", "stale-baseline-entry", "rule-crashed"
    ]
    subject: str  # the code, rule or error text it is about
    detail: str = ""


FACTS: Mapping[str, type[Fact]] = MappingProxyType(
    {
        cls.kind: cls
        for cls in (
            ApiUse,
            DeviceChoice,
            HostRead,
            DynamicShape,
            ChangingConstant,
            ChangingShape,
            ChangingPath,
            NegativeSlice,
            StepBoundary,
            ModuleMove,
            Transfer,
            Timing,
            Package,
            Kernel,
            Launch,
            Environment,
            ToolEvent,
        )
    }
)


@dataclass(frozen=True, slots=True)
class Interest:
    """The names the rulebook can use, compiled once, so that the analyser looks for nothing else.

    `names` are exact canonical names, `prefixes` come from "torch.cuda.*" and end in ".", those of
    variables from "NCCL_*"; `methods` are the last parts of "Tensor.cuda", "Module.cuda" and
    "unknown.cuda", `settings` those of "setting.gpus".
    `surroundings` are names, also with "*", of what stands in files that are not Python.
    `signatures` are the rule book's own parameter names, in order; `aliases` maps other public names
    of an API to the canonical one; `helper` is the module that portable fixes call.
    """

    kinds: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    methods: frozenset[str] = frozenset()
    settings: frozenset[str] = frozenset()
    keywords: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()
    variable_prefixes: tuple[str, ...] = ()
    surroundings: frozenset[str] = frozenset()
    signatures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    helper: str = "xla_compat"

    def parameters(self, name: str) -> tuple[str, ...]:
        """Parameter names in order, for reading positional arguments: the book's, else torch's own."""
        own = self.signatures.get(name)
        return own if own is not None else signatures.parameters(name) or ()

    def wants(self, name: str) -> bool:
        return name in self.names or name.startswith(self.prefixes)

    def wants_variable(self, name: str) -> bool:
        return name in self.variables or name.startswith(self.variable_prefixes)

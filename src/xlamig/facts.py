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
    "other-device",  # an mps, xpu, npu ... arm
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


Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of an argument.

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


CONTEXTS = (
    "no-grad",  # under torch.no_grad or inference_mode
    "loop",
    "forward",  # a method of a module, trainer or autograd.Function that runs in every step
    "training-loop",  # a loop each round of which is a step of training
    "hot",  # one of these two; `frequency` is then "step", or "interval" under `step % n == 0`
    "worker",  # of a data loader: __getitem__, collate_fn ...
    "rank-guarded",  # only on rank 0
    "condition",  # in the test of if, while, assert, a ternary; an operand of and, or, not
    "comparison",
    "isinstance",  # in the second argument of isinstance or issubclass
    "try",  # in the body of a try that catches more than failed imports
    "message",  # in what is raised or asserted
    "default-argument",
    "test-code",  # of the whole file
    "cuda-program",  # of the whole file: CUDA is named somewhere
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What every fact carries. `span` is what a report underlines."""

    kind: ClassVar[str]

    span: Span
    statement: Span
    scope: str = ""  # "Trainer.fit", "" at module level
    parts: Mapping[str, Span] = field(default_factory=dict)
    related: tuple[Why, ...] = ()
    frequency: Frequency = "unknown"
    context: frozenset[str] = frozenset()  # the words of CONTEXTS
    guards: tuple[Guard, ...] = ()
    confidence: Confidence = "certain"
    proofs: Mapping[str, str] = field(default_factory=dict)
    reasons: tuple[Why, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiUse(Fact):
    """A known API is imported, named, called, assigned to or caught.

    `name` is canonical: "torch.cuda.synchronize"; a method has its receiver's class in front,
    "Tensor.cuda", "Module.cuda", "unknown.cuda"; the callee of a call matched by a keyword alone
    may be "unknown". `spelled` is the source text.
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
    other arm; "test": where a tensor or device is on CUDA, or not on the CPU (`device` is "cpu"), real
    work is done, and `fallback` elsewhere; "accelerator": torch.accelerator or get_device_module picks.
    """

    kind: ClassVar[str] = "device-choice"

    via: Literal["literal", "index", "selection", "move", "test", "accelerator"]
    device: str  # "cuda", "cuda:0", "cuda:*", "xla", "tpu"
    position: str = ""  # to, cuda, factory, torch.device, set_device, option, default, setting ...; of a
    # test: if, ternary, assert
    index: Literal["", "constant", "rank", "expression"] = ""
    form: str = ""  # of a selection: ternary, if-else, and, move; of a test: is-cuda, type, text
    fallback: str = ""  # cpu, none, raise, other
    result: Literal["device", "string", "move", "unknown"] = "unknown"
    spelled: str = ""  # the source text of a literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Package(Fact):
    """A third-party package is imported (`via` "import") or required (`via` "requirement")."""

    kind: ClassVar[str] = "package"

    package: str  # import name: "flash_attn"
    name: str  # dotted: "flash_attn.flash_attn_func"
    via: Literal["import", "requirement"] = "import"


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch(Fact):
    """A process group backend is named outside the call itself: an option or a default."""

    kind: ClassVar[str] = "launch"

    backend: str
    via: Literal["option", "default", "setting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment(Fact):
    """An environment variable is read, written or deleted in Python; `value` is what is written."""

    kind: ClassVar[str] = "environment"

    variable: str
    access: Literal["read", "write", "delete"]
    value: Value | None = None


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
    {cls.kind: cls for cls in (ApiUse, DeviceChoice, Package, Launch, Environment, ToolEvent)}
)


@dataclass(frozen=True, slots=True)
class Interest:
    """What the rulebook can use, compiled once, so that the analyser looks for nothing else.

    `names` are exact canonical names, `prefixes` come from "torch.cuda.*" and end in ".", those of
    variables from "NCCL_*"; `methods` are the last parts of "Tensor.cuda", "Module.cuda" and
    "unknown.cuda".
    `signatures` are the rule book's own parameter names, in order; `aliases` maps other public names
    of an API to the canonical one.
    """

    kinds: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = ()
    methods: frozenset[str] = frozenset()
    keywords: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    variables: frozenset[str] = frozenset()
    variable_prefixes: tuple[str, ...] = ()
    signatures: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)

    def parameters(self, name: str) -> tuple[str, ...]:
        """Parameter names in order, for reading positional arguments: the book's, else torch's own."""
        own = self.signatures.get(name)
        return own if own is not None else signatures.parameters(name) or ()

    def wants(self, name: str) -> bool:
        return name in self.names or name.startswith(self.prefixes)

    def wants_variable(self, name: str) -> bool:
        return name in self.variables or name.startswith(self.variable_prefixes)

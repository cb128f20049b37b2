"""The APIs, devices, packages, kernels and process groups that a program uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from xlamig.facts.common import Argument, Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiUse(Fact):
    """A known API is imported, named, called, assigned to or caught.

    `name` is canonical: "torch.cuda.synchronize"; a method has its receiver's class in front,
    "Tensor.cuda", "Module.cuda", "unknown.cuda"; a setting that is read is "setting.gpus". The
    callee of a call matched by a keyword alone may be "unknown". `spelled` is the source text. via
    "forward": an object of the class `name` is called; "operator": an operator does what `name` does;
    "option": an option holds what `name` returns; "chosen": an option may choose `name` for a call.
    """

    kind: ClassVar[str] = "api-use"

    name: str
    spelled: str
    via: Literal[
        "call",
        "chosen",
        "reference",
        "import",
        "decorator",
        "assignment",
        "except",
        "with",
        "forward",
        "operator",
        "option",
    ]
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
    "flag": a name keeps whether CUDA is there, and decides several placements; "none": a program that
    trains chooses no device, which is where its first optimizer is built (`form` "shared": its processes
    share a module's memory); "dtype": every device but the CPU (`device`) gets float16, `spelled`.
    """

    kind: ClassVar[str] = "device-choice"

    via: Literal["literal", "index", "selection", "move", "test", "accelerator", "flag", "none", "dtype"]
    device: str  # "cuda", "cuda:0", "cuda:*", "xla", "tpu"; "" where none is chosen
    position: str = ""  # to, cuda, factory, torch.device, option, default, setting, settings-file ...; of a
    # test: if, ternary, assert, lookup, option
    index: Literal["", "constant", "rank", "tensor", "expression"] = ""  # "tensor": what one says of its own
    form: str = ""  # of a selection: ternary, if-else, and, move, mirrored, own, default (device), type,
    # word, override, off; of a test: is-cuda, type, text, backend, set
    fallback: str = ""  # cpu, none, raise, unset (`spelled` is a name that nothing else sets), other
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

    via "call": Python calls `subject`, which runs a kernel of the file `amount`.

    `name` are the file's stem, its kernels and operators in lower case, one after the other; `subject` and
    `amount` are these for people. `features` are those of knowledge/data/cuda-features.toml.
    """

    kind: ClassVar[str] = "kernel"

    via: Literal["source", "call"]
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
    """A process group backend is named outside the call itself: an option, a default, or the one of two that
    a TPU host takes ("choice"); or `option` is for the rank of a process, which a launcher has to pass; or
    the program goes on where the environment variable `variable`, which a launcher sets, is missing."""

    kind: ClassVar[str] = "launch"

    backend: str
    via: Literal["option", "default", "setting", "choice", "variable"]
    option: str = ""
    variable: str = ""

"""Traits: what else the interpreter knows of a value, beside its kind and place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Mark(Enum):
    """A trait without further data, grouped by the kind of value that has it."""

    # Members are singletons: hashing by identity keeps Enum's own hash, a Python call, off the hot path.
    __hash__ = object.__hash__

    # tensors
    BATCH = "batch"  # comes from the loader of a loop of steps
    BUFFER = "buffer"
    CONSTANT = "constant"  # is the same every step
    LEAF = "leaf"  # made with requires_grad=True
    LENGTHS = "lengths"  # of several sequences
    MIXED = "mixed"  # computed from one tensor of the host and one of the device: one place is wrong
    NAN = "nan"  # computed by isnan and the like
    PARAMETER = "parameter"
    SORTED_INDEX = "sorted-index"  # an index as `sort`, `argsort`, `topk` or `max(dim)` returns it
    SPARSE = "sparse"  # is not in the dense layout, the only one of XLA
    STATE = "state"  # is an entry of a state_dict
    # numbers, sequences and tensors of the host
    BLOCKS = "blocks"  # how often a number fits into the greatest length of a batch
    BY_LENGTH = "by-length"  # ordered by the lengths of its elements
    COUNTER = "counter"  # of enumerate or range
    DRAWN = "drawn"  # random, and drawn again and again
    LENGTH = "length"  # of something
    LONGEST = "longest"  # the greatest length in a batch
    REMAINDER = "remainder"  # of a division, so it may be 0
    # sequences
    APPENDED = "appended"  # something was appended to it
    GROWS = "grows"  # it is longer after every iteration
    INDEX = "index"  # positions and slices of a tensor's dimensions, of unknown number
    PADDING = "padding"  # as long as what is missing to a length
    RANGE = "range"
    RING = "ring"  # cleared, or bounded
    SAMPLE = "sample"  # an array, an image or a list as long as a file or text
    SET = "set"
    SHAPE = "shape"  # of a tensor
    SHAPE_REST = "shape-rest"  # of a tensor, without its first dimensions
    SLICE = "slice"
    STEPS = "steps"  # what a generator yields once per step of its own loop
    # others
    ASKED = "asked"  # the device of a tensor on the host
    AWAITS_MOVE = "awaits-move"  # is on the host until the program moves it, or what it makes of it
    COMPARED = "compared"  # a comparison of what may be a tensor: where it indexes, it is a mask
    COMPILED = "compiled"  # a function or module in torch_xla.compile
    COPY = "copy"  # a module with a class's methods and parameters of its own
    CUDA = "cuda"  # whether CUDA is available
    GRADIENTS = "gradients"  # a function that returns the gradients of another
    DEVICE_LOADER = "device-loader"
    INSTANCE = "instance"  # of a class that another file defines
    MADE = "made"  # a device from torch.device(...)
    NAMESPACE = "namespace"  # a module of the project, as an object
    OF_TENSOR = "of-tensor"  # whether a tensor is one
    OF_MODULE = "module"  # computed from a module, not a module
    PARTIAL = "partial"  # a loader whose last batch may be smaller
    REGISTRY = "registry"  # a container of the project's functions or classes
    PLATEAU = "plateau"  # a scheduler that reads the loss
    SELDOM = "seldom"  # a flag that holds in some steps only
    STEP = "step"  # a context that ends a step


@dataclass(frozen=True, slots=True)
class Carried:
    """A tensor that a name keeps from iteration to iteration; ".name" is an attribute or a key."""

    name: str

    @property
    def is_kept(self) -> bool:
        """Return whether an object keeps it, not a variable."""
        return self.name.startswith(".")


@dataclass(frozen=True, slots=True)
class Picked:
    """Rows of the tensor that `name` carries."""

    name: str


@dataclass(frozen=True, slots=True)
class Grown:
    """A tensor that was made longer out of the one that `name` carries."""

    name: str


@dataclass(frozen=True, slots=True)
class Clock:
    """A time; `works` device operations and `waits` for the device were before it, `waiting` that some had
    not finished; `carried_by` is the loop whose earlier iterations took it."""

    works: int
    waiting: bool
    waits: int
    carried_by: int = 0


@dataclass(frozen=True, slots=True)
class TorchModule:
    """A module of torch.nn; `weight` is the canonical name of the function that computes its weight in each
    forward pass, if there is one."""

    class_name: str
    weight: str = ""

    @property
    def name(self) -> str:
        """The class, and the function behind a space."""
        return f"{self.class_name} {self.weight}".rstrip()

    @property
    def computes(self) -> tuple[str, ...]:
        """Return the canonical names of what a forward pass runs."""
        return (f"torch.nn.{self.class_name}", *filter(None, (self.weight,)))


@dataclass(frozen=True, slots=True)
class LibraryObject:
    """An object of another library; `name` is its kind in `values.toml`."""

    name: str


Trait = Mark | Carried | Picked | Grown | Clock | TorchModule | LibraryObject

_PREFIXES: tuple[tuple[type[Carried | Picked | Grown | TorchModule | LibraryObject], str], ...] = (
    (Carried, "carried:"), (Picked, "picked:"), (Grown, "grown:"), (TorchModule, "torch.nn:"),
    (LibraryObject, "library:"),
)  # fmt: skip


def text_of(trait: Trait | None) -> str:
    """Return a trait as plain text, which orders traits and crosses modules; "" for none."""
    if trait is None:
        return ""
    if isinstance(trait, Mark):
        return str(trait.value)
    if isinstance(trait, Clock):
        return "clock"
    return next(prefix for kind, prefix in _PREFIXES if isinstance(trait, kind)) + trait.name


def trait_of(text: str) -> Trait | None:
    """Return the trait that a text stands for."""
    for kind, prefix in _PREFIXES:
        if text.startswith(prefix):
            name = text.removeprefix(prefix)
            return TorchModule(*name.split(" ")) if kind is TorchModule else kind(name)
    return Mark(text) if text else None

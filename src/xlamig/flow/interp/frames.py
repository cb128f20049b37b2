"""Where names live while the interpreter runs: frames, functions, classes, loops."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from xlamig import ir
from xlamig.findings import Frequency
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.attributes import counted, differs, join_held, moved_tensors
from xlamig.flow.interp.domain import (
    LIKELY,
    AbstractValue,
    Definition,
    Ref,
    Residence,
    alternatives,
    join_branches,
)
from xlamig.flow.model.held_parts import may_be_part, registers
from xlamig.flow.model.scopes import Scope

Env = dict[str, AbstractValue]
"""Names and dotted paths ("self.model") to what they hold."""

_MANY = 1000
_PLAIN_BASES = frozenset({"object", "abc.ABC"})
STEPS = frozenset({"training", "evaluation", "decoding"})
"""The kinds of loop each iteration of which is a step."""

LoopKind = Literal["training", "evaluation", "decoding", "accumulation", "epoch", "graph-breaking", "plain"]


@dataclass(eq=False)
class ClassInfo(Definition):
    """A class of the module. `attributes` holds what any method assigns to any instance, joined."""

    node: ir.ClassDef
    scope: Scope
    frame: Frame
    bases: tuple[ClassInfo, ...] = ()
    outside: frozenset[str] = frozenset()  # names of bases that are not the module's
    attributes: Env = field(default_factory=dict)
    assigned: set[str] = field(default_factory=set)  # outside of the constructor that a dataclass has
    rewritten: set[str] = field(default_factory=set)  # outside of `__init__`
    methods: dict[str, ir.FunctionDef] = field(default_factory=dict)
    is_module: bool = False
    version: int = 0  # grows when an attribute becomes something else
    given: set[tuple[int, str]] = field(default_factory=set)  # objects that got a tensor, by scope and name
    alone: dict[tuple[int, str], bool] = field(default_factory=dict)  # see `objects_apart`

    @cached_property
    def counters(self) -> Mapping[str, Sequence[ir.FunctionDef]]:
        """The attributes that methods compute from their own value, as `self.step += 1`, with the methods."""
        found: dict[str, list[ir.FunctionDef]] = {}
        for name, method in self.methods.items():
            if name != "__init__" and "epoch" not in name:
                for part in (method, *self._free_methods_of(method)):
                    for attribute in counted(part):
                        found.setdefault(attribute, []).append(method)
        return found

    @cached_property
    def moved(self) -> frozenset[str]:
        """The tensors that `__init__` makes and a method moves, `self.x = self.x.to(device)`."""
        return moved_tensors(self.methods)

    def _free_methods_of(self, method: ir.FunctionDef) -> Iterator[ir.FunctionDef]:
        """Yield the functions outside of the class that a method gives its object to."""
        free = self.scope.free_methods
        names = {n.id for n in ir.walk(method) if isinstance(n, ir.Name)} if free else frozenset()
        yield from (function for name, function in free.items() if name in names)

    @cached_property
    def last_word(self) -> str:
        """The last word of the class's name: "logger" of `MetricLogger`."""
        words: list[str] = re.findall("[A-Z]?[^A-Z]*", self.node.name)
        return words[-2].lower()

    @property
    def may_be_module(self) -> bool:
        """Return whether the class is a module, or has a base that was not read."""
        return any(cls.is_module or cls.outside - _PLAIN_BASES for cls in self.lineage())

    @cached_property
    def may_hold_parts(self) -> bool:
        """Return whether objects of the class may hold parameters or other modules."""
        every = self.lineage()
        outside = frozenset[str]().union(*(cls.outside for cls in every))
        bindings = (b for cls in every for found in cls.scope.attributes.values() for b in found)
        return (
            not outside <= _PLAIN_BASES | {"torch.nn.Module"}
            or any(map(may_be_part, bindings))
            or any(map(registers, (method for cls in every for method in cls.methods.values())))
        )

    def hold(self, name: str, thing: AbstractValue) -> None:
        """Let the objects of the class hold a value."""
        self.assigned.add(name)
        known = self.attributes.get(name)
        both = thing if known is None else join_held(known, thing, name in self.moved)
        self.attributes[name] = both
        if known is None or differs(known, both):
            self.version += 1

    def lineage(self) -> list[ClassInfo]:
        """The class and the ones above it, nearest first."""
        found: list[ClassInfo] = []
        waiting = [self]
        while waiting:
            current = waiting.pop(0)
            if current not in found:
                found.append(current)
                waiting.extend(current.bases)
        return found


@dataclass(slots=True, eq=False)
class Function(Definition):
    """A function or lambda with the frame it was defined in; `bound` is its first argument, `preset` holds
    those that `functools.partial` gives it."""

    node: ir.FunctionDef | ir.Lambda
    scope: Scope
    frame: Frame
    owner: ClassInfo | None = None
    bound: AbstractValue | None = None
    kind: Literal["", "static", "class", "property"] = ""
    preset: Args | None = None


Answers = dict[tuple[str, str], bool]
"""The answers that a branch gives, by a name and a question: "none", "true" or a comparison."""


class Choice(NamedTuple):
    """An `if` that ran. `answers` are those of its two branches, `tested` is what the names it asks about
    held; `left` is what names hold after it, and what either branch left in them."""

    answers: tuple[Answers, Answers]
    tested: dict[str, AbstractValue | None]
    left: dict[str, tuple[AbstractValue, tuple[AbstractValue, AbstractValue]]]


@dataclass(slots=True, eq=False)
class Frame:
    """A running function, class body or module."""

    scope: Scope
    parent: Frame | None = None
    owner: ClassInfo | None = None
    env: Env = field(default_factory=dict)
    returned: AbstractValue | None = None
    yielded: AbstractValue | None = None
    yields: bool = False  # of a generator
    yields_steps: int = 0  # the loop of its own, by number, that yields once per step; 0 for none
    passed_on: AbstractValue | None = None  # the loader whose batches it yields
    paths: set[str] = field(default_factory=set)  # the dotted ones among the names so far
    name: str = ""  # of a module
    choices: dict[int, Choice] = field(default_factory=dict)  # the `if` statements so far, by their offset
    numbers: frozenset[str] = frozenset()  # parameters that the call computes a number for
    returns_moved: bool = False  # the caller moves what it returns

    @property
    def home(self) -> str:
        """The name of the module that the frame is of."""
        return self.module.name

    @property
    def module(self) -> Frame:
        """Return the frame of the module."""
        frame = self
        while frame.parent is not None:
            frame = frame.parent
        return frame


@dataclass(slots=True, eq=False)
class Loop:
    """A loop that runs. `left` are the environments at its breaks, `again` at its continues; `update` is
    the call in it that steps an optimizer most often, the last of several."""

    node: ir.For | ir.While
    kind: LoopKind = "plain"
    comprehends: bool = False  # it is a comprehension, or `map`
    called: bool = False  # its body is a function, which an object of a library calls
    over: str = ""
    loads: bool = False  # each iteration takes a batch from a loader
    taken: list[AbstractValue] = field(default_factory=list)  # the loaders that iterations take batches from
    rolls: bool = False  # inside a step, each iteration calls the model and runs the graph
    works: bool = True  # an iteration may do work on the device
    moves: bool = False  # an iteration moves something from the host to the device
    test: AbstractValue | None = None  # of a while loop
    update: ir.Call | None = None
    update_on_xla: bool = False  # by torch_xla's own optimizer step
    update_often: int = 0  # its frequency, see FREQUENCIES
    base: int = 0  # of the module, see State
    outside: Frequency = "unknown"  # how often the loop itself runs
    follows: bool = False  # the iteration of the loop around it has called a model before
    works_before: int = 0  # device operations before the iteration
    left: list[Env] = field(default_factory=list)
    again: list[Env] = field(default_factory=list)
    skips: ir.Expr | None = None  # the test of values at which the rest of an iteration is left out
    choices: dict[int, Choice] = field(default_factory=dict)  # those of the last iteration

    @property
    def id(self) -> int:
        """Return a number that no other loop of the project has."""
        return self.base + self.node.start + 1

    @property
    def header(self) -> ir.Name:
        """Return the text before the body, as a node."""
        node = self.node
        return ir.Name(node.start, node.iter.end if isinstance(node, ir.For) else node.test.end, "")

    def note_update(self, node: ir.Call, on_xla: bool, often: int) -> None:
        """Remember the call that a boundary belongs after: the most frequent one, the last of several."""
        if (on_xla, often) >= (self.update_on_xla, self.update_often):
            self.update, self.update_on_xla, self.update_often = node, on_xla, often


def copy_env(env: Env) -> Env:
    """Return a copy of the environment that a branch may change. Of a function with thousands of names,
    mostly generated, the branches are run one after the other, so that time grows with its length."""
    return dict(env) if len(env) <= _MANY else env


def join_env(one: Env | None, other: Env | None) -> Env:
    """Return the join of two environments; None stands for a path that does not get here."""
    if one is None:
        return other if other is not None else {}
    if other is None or one is other:
        return one
    changed = {name for name, _ in one.items() ^ other.items()}  # by identity: the rest is shared
    if not changed:
        return one
    result = dict(one)
    for name in changed:
        here, there = one.get(name), other.get(name)
        if here is not None and there is not None:
            result[name] = join_branches(here, there)
        elif "." in name:  # of an attribute the class knows better
            result.pop(name, None)
        elif there is not None:
            result[name] = there
    return result


def inherits(owner: AbstractValue, base: str) -> bool:
    """Return whether an object's class has a base of this name outside the module."""
    return isinstance(owner.ref, ClassInfo) and any(
        name.endswith(base) for cls in owner.ref.lineage() for name in cls.outside
    )


GUESSED = "#parameter"  # ends the reference of a module that a parameter is, guessed without a caller


def modules_of(ref: Ref) -> list[Ref]:
    """Return the modules that a reference may stand for, by where they are defined: the order of the set
    differs from run to run."""
    return sorted(alternatives(ref), key=_position)


def _position(ref: Ref) -> tuple[str, int, str]:
    if isinstance(ref, ClassInfo):
        return ref.frame.home, ref.node.start, ""
    return ("", ref, "") if isinstance(ref, int) else ("", 0, ref if isinstance(ref, str) else "")


def class_of(value: AbstractValue) -> ClassInfo:
    """Return the class that a value of kind "class" stands for."""
    assert isinstance(value.ref, ClassInfo)
    return value.ref


def functions_of(value: AbstractValue) -> list[Function]:
    """Return the functions that a value of kind "function" may stand for, in the order of the text, and of
    the classes whose objects they are bound to."""
    found = [ref for ref in alternatives(value.ref) if isinstance(ref, Function)]
    return sorted(found, key=_function_position)


def _function_position(function: Function) -> tuple[object, ...]:
    bound = function.bound.ref if function.bound is not None else None
    return function.frame.home, function.node.start, _position(bound)


def object_of(info: ClassInfo, place: Residence, sure: int = LIKELY) -> AbstractValue:
    """Return an object of a class of the module; only modules have a place."""
    if info.is_module:
        return AbstractValue("module", place, sure=sure, ref=info)
    return AbstractValue("instance", sure=sure, ref=info)

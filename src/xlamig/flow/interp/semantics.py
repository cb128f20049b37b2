"""The operations of the interpreter that transfer functions call back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import AbstractValue
from xlamig.flow.interp.events import Event, Recorder
from xlamig.flow.interp.frames import ClassInfo, Function
from xlamig.flow.model.effects import Effects
from xlamig.flow.model.scopes import Scope

Leaves = bool
"""True if a block never gets to its end."""


class Home(Protocol):
    """A module that runs, as others see it."""

    recorder: Recorder
    filename: str

    def source(self, node: ir.Node) -> str:
        """Return the text of a node."""


class Program(Protocol):
    """The modules that one analysis runs. `running` are the functions that run, by the identity of their
    definitions, `keys` the calls, `classes` those that were defined, by the last words of their names,
    `open_steps` what ends the steps of generators' loops, by the numbers of these."""

    running: list[int]
    keys: list[tuple[int, object]]
    classes: dict[str, list[ClassInfo]]
    open_steps: dict[int, tuple[Recorder, Event]]

    def defined(self, dotted: str, origin: str) -> AbstractValue | None:
        """Return the function or class of another module that module `origin` calls `dotted`."""

    def registry(self, module: str, name: str) -> AbstractValue | None:
        """Return a registry as a mapping of what the project's files put into it; None for other names."""

    def configured(self, module: str, part: str) -> AbstractValue | None:
        """Return what configurations name for a part of them that a module makes an object of; None where
        they name nothing."""

    def run(
        self, origin: str, function: Function, args: Args, node: ir.Call | None
    ) -> tuple[AbstractValue, Effects]:
        """Run a function of another module, called by `origin`; return its result and its effects."""

    def note_guessed(self, function: Function) -> None:
        """Remember a function of another module that is called with arguments that say nothing."""

    def scope(self, module: str, node: ir.FunctionDef) -> Scope:
        """Return the scope of a function of another module."""

    def home(self, module: str) -> Home:
        """Return what runs a module."""

    def home_of(self, statement: ir.Stmt) -> Home | None:
        """Return the module that a statement is of."""

    def others(self, module: str) -> Iterable[ir.Module]:
        """Return the other modules that run so far."""


class Alone:
    """A program of one module, which does not ask for others."""

    def __init__(self) -> None:
        self.running: list[int] = []
        self.keys: list[tuple[int, object]] = []
        self.classes: dict[str, list[ClassInfo]] = {}
        self.open_steps: dict[int, tuple[Recorder, Event]] = {}

    def defined(self, dotted: str, origin: str) -> AbstractValue | None:
        """Return None: no other module is known."""
        return None

    def registry(self, module: str, name: str) -> AbstractValue | None:
        """Return None: no other module is known."""
        return None

    def configured(self, module: str, part: str) -> AbstractValue | None:
        """Return None: no other module is known."""
        return None

    def run(
        self, origin: str, function: Function, args: Args, node: ir.Call | None
    ) -> tuple[AbstractValue, Effects]:
        """Raise: no function of another module can be known."""
        raise NotImplementedError

    def note_guessed(self, function: Function) -> None:
        """Raise: no function of another module can be known."""
        raise NotImplementedError

    def scope(self, module: str, node: ir.FunctionDef) -> Scope:
        """Raise: no function of another module can be known."""
        raise NotImplementedError

    def home(self, module: str) -> Home:
        """Raise: no other module is known."""
        raise NotImplementedError

    def home_of(self, statement: ir.Stmt) -> Home | None:
        """Return None: no other module is known."""
        return None

    def others(self, module: str) -> Iterable[ir.Module]:
        """Return nothing: no other module is known."""
        return ()


class Semantics(Protocol):
    """The operations that transfer functions need, so that none of them imports the interpreter, which is
    made of them."""

    # ------------------------------------------------------------------ expressions and statements

    def evaluate(self, node: ir.Expr) -> AbstractValue:
        """Return the value of an expression, and record its effects."""

    def test(self, node: ir.Expr, word: str) -> AbstractValue:
        """Return the value of a test; the host reads a tensor there. `word` is the keyword before it."""

    def block(self, body: Iterable[ir.Stmt]) -> Leaves:
        """Run statements."""

    def assign(self, target: ir.Expr, value: AbstractValue, node: ir.Expr | None = None) -> None:
        """Assign a value to a target; `node` is the expression that it is the value of."""

    def set_attribute(self, target: ir.Attribute, value: AbstractValue, node: ir.Expr | None) -> None:
        """Assign to an attribute of an object."""

    def store(
        self, target: ir.Subscript, value: AbstractValue, node: ir.Expr | None, operator: str = ""
    ) -> None:
        """Assign to an element; `operator` is that of an augmented assignment."""

    # ------------------------------------------------------------------ objects

    def iterate(self, value: AbstractValue) -> AbstractValue:
        """Return what a loop over a value gives in an iteration."""

    def unpack(self, value: AbstractValue, count: int) -> list[AbstractValue]:
        """Return the parts of a value that is assigned to several targets."""

    def attribute(self, owner: AbstractValue, name: str, node: ir.Expr) -> AbstractValue:
        """Return an attribute of any value."""

    def member(self, owner: AbstractValue, name: str, node: ir.Expr) -> AbstractValue:
        """Return an attribute of an instance or a module."""

    def method_of(self, owner: AbstractValue, name: str) -> Function | None:
        """Return a method that the project defines, bound to its object."""

    def static_member(self, info: ClassInfo, name: str) -> AbstractValue:
        """Return an attribute of a class."""

    def named(self, dotted: str) -> AbstractValue:
        """Return what a canonical name stands for."""

    # ------------------------------------------------------------------ calls

    def call_expression(self, node: ir.Call) -> AbstractValue:
        """Return the value of a call expression."""

    def call(self, function: Function, args: Args, node: ir.Call | None) -> AbstractValue:
        """Run a function of the module."""

    def call_summarized(self, function: Function, args: Args, node: ir.Call) -> AbstractValue:
        """Return what a function of another module gives by its summary, without running it."""

    def reach(self, callee: AbstractValue, node: ir.Call, args: Args) -> AbstractValue:
        """Call any value."""

    def call_unknown(self, node: ir.Call, args: Args) -> AbstractValue:
        """Return what a call of something unknown gives: by its name a model, or by its arguments."""

    def make_module(self, dotted: str, args: Args, node: ir.Call) -> AbstractValue:
        """Return a module whose class another file defines."""

"""The interpreter: runs a module on abstract values, statement by statement."""

from __future__ import annotations

from collections.abc import Iterable

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.assignment import Assignment
from xlamig.flow.interp.calls import Calls
from xlamig.flow.interp.definitions import Definitions
from xlamig.flow.interp.domain import AbstractValue
from xlamig.flow.interp.evaluate import Evaluator
from xlamig.flow.interp.frames import ClassInfo, Function
from xlamig.flow.interp.loops import Loops
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.roots import Roots
from xlamig.flow.interp.semantics import Leaves, Program
from xlamig.flow.interp.sizes import Sizes
from xlamig.flow.interp.state import State
from xlamig.flow.interp.statements import Statements
from xlamig.flow.model.exits import jumps_out
from xlamig.flow.model.regions import Regions
from xlamig.flow.model.scopes import ScopeTable
from xlamig.flow.model.site import Analysis


class AbstractInterpreter(State):
    """The state of a run together with its semantics, made of the transfer functions."""

    def __init__(
        self, analysis: Analysis, scopes: ScopeTable, regions: Regions, program: Program | None = None
    ) -> None:
        super().__init__(analysis, scopes, regions, program)
        self.semantics = self
        reads, sizes, moves = Reads(self), Sizes(self), Moves(self)
        self.moves = moves
        self.calls = Calls(self, reads, sizes, moves)
        self.roots = Roots(self, self.calls.call_contexts, moves)
        self.evaluator = Evaluator(self, reads, sizes)
        self.evaluate = self.evaluator.of  # no method: it is the most frequent call of all
        self.definitions = Definitions(self, self.calls.call_contexts)
        self.statements = Statements(
            self,
            self.evaluator,
            self.definitions,
            Loops(self, reads, sizes, moves),
            self.calls.call_contexts,
            reads,
        )
        self.assignment = Assignment(self, moves, self.calls.opaque)

    def block(self, body: Iterable[ir.Stmt]) -> Leaves:
        """Run statements; return whether they leave the block."""
        outer = self.one_rank, self.frequency, self.seldom
        try:
            for node in body:
                self.start_statement(node)
                if self.statements.run(node):
                    return True
                if type(node) is ir.If and not node.orelse and jumps_out(node.body[-1]):
                    self._pass_exit(node.test)
        finally:
            self.one_rank, self.frequency, self.seldom = outer
        return False

    def _pass_exit(self, test: ir.Expr) -> None:
        """Note for the rest of a block which ranks get past an early exit, and whether few iterations do."""
        if not self.one_rank:
            self.one_rank = self.frequency_guards.first_rank(test, self.frame.scope, False)
        self.lowers_frequency(test, False).lower()

    # ------------------------------------------------------------------ Semantics: see there

    def test(self, node: ir.Expr, word: str) -> AbstractValue:
        """Return the value of an expression that is tested."""
        return self.evaluator.tests.truth(node, word)

    def assign(self, target: ir.Expr, value: AbstractValue, node: ir.Expr | None = None) -> None:
        """Bind a target to a value; `node` is the expression of the value."""
        self.assignment.assign(target, value, node)

    def set_attribute(self, target: ir.Attribute, value: AbstractValue, node: ir.Expr | None) -> None:
        """Let an object hold a value under an attribute."""
        self.assignment.set_attribute(target, value, node)

    def store(
        self, target: ir.Subscript, value: AbstractValue, node: ir.Expr | None, operator: str = ""
    ) -> None:
        """Write a value to an element."""
        self.evaluator.store(target, value, node, operator)

    def iterate(self, value: AbstractValue) -> AbstractValue:
        """Return the element of a value that a loop goes through."""
        return self.evaluator.iteration.iterated(value)

    def unpack(self, value: AbstractValue, count: int) -> list[AbstractValue]:
        """Return the parts of a value that is assigned to several targets."""
        return self.evaluator.iteration.unpacked(value, count)

    def attribute(self, owner: AbstractValue, name: str, node: ir.Expr) -> AbstractValue:
        """Return the value of an attribute of a value."""
        return self.evaluator.attribute(owner, name, node)

    def member(self, owner: AbstractValue, name: str, node: ir.Expr) -> AbstractValue:
        """Return what an object or its class holds under a name."""
        return self.calls.member(owner, name, node)

    def method_of(self, owner: AbstractValue, name: str) -> Function | None:
        """Return the method of an object's class; None without one."""
        return self.calls.instances.method_of(owner, name)

    def static_member(self, info: ClassInfo, name: str) -> AbstractValue:
        """Return the attribute or method of a class."""
        return self.calls.static_member(info, name)

    def named(self, dotted: str) -> AbstractValue:
        """Return the value of a full name, such as `torch.nn.Linear`."""
        return self.calls.named(dotted)

    def call_expression(self, node: ir.Call) -> AbstractValue:
        """Return the value of a call."""
        return self.calls.of(node)

    def call(self, function: Function, args: Args, node: ir.Call | None) -> AbstractValue:
        """Return the value of a call of a function."""
        return self.calls.call_contexts.call(function, args, node)

    def call_summarized(self, function: Function, args: Args, node: ir.Call) -> AbstractValue:
        """Return the value of a call by the callee's summary."""
        return self.calls.project.call_summarized(function, args, node)

    def reach(self, callee: AbstractValue, node: ir.Call, args: Args) -> AbstractValue:
        """Return the value of a call of a value."""
        return self.calls.reach(callee, node, args)

    def call_unknown(self, node: ir.Call, args: Args) -> AbstractValue:
        """Return the value of a call of which only the name is known."""
        return self.calls.modules.by_name(node, args)

    def make_module(self, dotted: str, args: Args, node: ir.Call) -> AbstractValue:
        """Return the module that an imported class or function makes."""
        return self.calls.modules.imported(dotted, args, node)

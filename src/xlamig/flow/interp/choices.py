"""Expressions that choose: what each way may be, and what happens only on one of them."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.decisions import Decisions, are_alike, is_copy_to_host
from xlamig.flow.interp.domain import AbstractValue, join_all, join_branches
from xlamig.flow.interp.frames import copy_env
from xlamig.flow.interp.left_out import record_alternative
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effects


class Choices:
    def __init__(self, state: State, reads: Reads, tests: Decisions) -> None:
        self.m = state
        self.reads, self.tests = reads, tests

    def of_operator(self, node: ir.Bool) -> AbstractValue:
        """Return the value of `a and b`, `a or b`."""
        *tested, last = node.values
        found = [self.tests.truth(value, node.op) for value in tested]
        held = node.op == "and"
        guarded = self.m.on_one_rank(tested[0], held)
        with self.m.branch() as way, self.m.lowers_frequency(tested[0], held), guarded:
            found.append(self.m.semantics.evaluate(last))
        if not held:
            record_alternative(self.m, found[:-1], last)
        self.m.join_effects(way, Effects())
        return join_all(found)

    def of_condition(self, node: ir.IfExp) -> AbstractValue:
        """Return the value of `a if test else b`."""
        holds = self.tests.outcome(node)
        tested = self.tests.truth(node.test, "if")
        if holds is not None:
            return self.m.semantics.evaluate(node.body if holds else node.orelse)
        before = copy_env(self.m.env)
        ways: list[Effects] = []
        found: list[AbstractValue] = []
        for arm, taken in ((node.body, True), (node.orelse, False)):
            self.m.frame.env = copy_env(before)
            kept = self.tests.narrow(node.test, taken)
            guarded = self.m.on_one_rank(node.test, taken)
            with self.m.branch() as way, self.m.lowers_frequency(node.test, taken), guarded, kept:
                found.append(self.m.semantics.evaluate(arm))
            ways.append(way)
        self.m.frame.env = before
        if tested.cause == "random" and any(thing.kind == "tensor" for thing in found):
            self.reads.branched(node.test, tested, alike=are_alike(*found))
        if self.tests.is_gpu_flag(node.test) and is_copy_to_host(*found):
            self.m.effects.update(ways[0])
            return found[0]
        self.m.join_effects(*ways)
        reached = [value for value in self.tests.reached(node.test, *found) if value is not None]
        return join_branches(*reached) if len(reached) > 1 else reached[0]

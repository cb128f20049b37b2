"""Follow a device through a function: the value of each name and result with CUDA, and without it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from xlamig import ir
from xlamig.flow.detectors.blocks import blocks_around
from xlamig.flow.detectors.outcomes import outcomes, outcomes_behind
from xlamig.flow.model.guards import NAMES_XLA
from xlamig.flow.model.only_calls import passed_default
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge.devices import alternatives
from xlamig.knowledge.values import name_like

_OTHER = re.compile(rf"(?:^|_|\b)(?:{alternatives('other', words=True)})(?:_|\b|$)")

Target = tuple[str, int]
"""A path of names, or "" for what a function returns, with the position in it."""
Outcomes = dict[Target, tuple[ir.Expr, ...]]
"""The expressions that a target may get its value from."""


class Choice(NamedTuple):
    """The expressions that set one target with CUDA and without; `chosen` is None where a caller or a setting
    gives the device. `near` if the fallback is what the statement leads to, and nothing uses it for anything
    else."""

    chosen: ir.Expr | None
    fallback: ir.Expr
    near: bool = True


@dataclass(slots=True)
class _Run:
    """One run of statements. `values` holds the current values of names, `returned` those returned so far."""

    values: Outcomes = field(default_factory=dict)
    returned: Outcomes = field(default_factory=dict)

    def copy(self) -> _Run:
        return _Run(dict(self.values), self.returned)

    def join(self, *ends: _Run) -> None:
        """Replace the values by the join of those at the ends of branches."""
        self.values = {
            target: tuple({id(v): v for end in ends for v in end.values.get(target, ())}.values())
            for end in ends
            for target in end.values
        }


class DeviceFlow:
    """Runs the statements around a test of availability; `text_of` gives the device of an expression."""

    def __init__(self, analysis: Analysis, text_of: Callable[[ir.Expr, CodeContext], str | None]) -> None:
        self.analysis = analysis
        self.text_of = text_of

    def choice(self, node: ir.If, place: CodeContext) -> Choice | None:
        """Return how the statement chooses CUDA or the CPU; None if it does not, or if XLA may result."""
        if not self._may_choose(node, place):
            return None
        blocks = list(blocks_around(node, self._body(place)))
        before = [statement for block, i in blocks for statement in block[:i]]
        after = [statement for block, i in reversed(blocks) for statement in block[i + 1 :]]
        found = (
            self._decided(node, before, (), place)
            or self._decided(node, before, after, place)
            or self._overridden(node, before, place)
        )
        if found is None or self._may_be_xla(found[0], place):
            return None
        near = any(ir.encloses(s, found[1].fallback) for s in _near(*blocks[-1]))
        return found[1]._replace(near=near)

    def _may_choose(self, node: ir.If, place: CodeContext) -> bool:
        """Return whether something in the statement is a device that a choice may lead to: without it there
        is no need to run what stands around."""
        inside = (s for s in ir.statements(node) if isinstance(s, ir.Stmt))
        values = [value for s in inside for _, value in outcomes_behind(s, place.scope)]
        values += [part for part in ir.walk(node.test) if isinstance(part, ir.Expr)]
        texts = (self.text_of(value, place) or "" for value in values)
        return any(text == "cpu" or text.startswith("cuda") for text in texts)

    def _decided(
        self, node: ir.If, before: Iterable[ir.Stmt], rest: Iterable[ir.Stmt], place: CodeContext
    ) -> tuple[Target, Choice] | None:
        present, absent = (self._end(node, before, rest, there, place) for there in (True, False))
        for target in {**present, **absent}:
            values = present.get(target) or self._asked_for(node.test, target[0])
            chosen = next((v for v in values if (self.text_of(v, place) or "").startswith("cuda")), None)
            fallback = self._cpu(absent.get(target, ()), place)
            inside = [v for v in (chosen, fallback) if v is not None and node.start <= v.start < node.end]
            if chosen is not None and fallback is not None and inside:
                return target, Choice(chosen, fallback)
        return None

    def _overridden(
        self, node: ir.If, before: Iterable[ir.Stmt], place: CodeContext
    ) -> tuple[Target, Choice] | None:
        """Return the choice of a statement that replaces the device of a caller or a setting by the CPU."""
        present, absent = (self._end(node, before, (), there, place) for there in (True, False))
        for target, values in absent.items():
            fallback = self._cpu(values, place)
            if fallback is None or present.get(target) or not node.start <= fallback.start < node.end:
                continue
            path = target[0]
            if name_like("device").search(path.rpartition(".")[2]) and not self._is_cpu(path, place):
                return target, Choice(None, fallback)
        return None

    def _is_cpu(self, path: str, place: CodeContext) -> bool:
        """Return whether a name is the CPU by the default of its parameter, or of the parameter that the only
        caller passes on."""
        found = [binding.value for binding in place.scope.find(path) if binding.kind == "param"]
        if found == [None]:
            found = [passed_default(self.analysis.module, place.scope.node, path)]
        return any(value is not None and self.text_of(value, place) == "cpu" for value in found)

    def _end(
        self,
        node: ir.If,
        before: Iterable[ir.Stmt],
        rest: Iterable[ir.Stmt],
        present: bool,
        place: CodeContext,
    ) -> Outcomes:
        """Return the values of names and results after the statement and the rest, with CUDA or without."""
        run = _Run()
        self._block(before, run, present, place)
        run.returned.clear()
        self._block((node, *rest), run, present, place)
        return {**run.values, **run.returned}

    @staticmethod
    def _asked_for(test: ir.Expr, path: str) -> tuple[ir.Expr, ...]:
        """Return the names in the test that are the target itself, whose default may be the CUDA device, and
        the device that it is compared with."""
        found: list[ir.Expr] = []
        for node in ir.walk(test):
            match node:
                case ir.Name() | ir.Attribute() if path_of(node) == path:
                    found.append(node)
                case ir.Compare(left=left, ops=("==",), comparators=(ir.Const() as right,)):
                    found += [right] if path and path_of(left) == path else []
        return tuple(found)

    def _cpu(self, values: tuple[ir.Expr, ...], place: CodeContext) -> ir.Expr | None:
        """Return the expression that chooses the CPU; None if a value may be CUDA or is unknown."""
        texts = [self.text_of(value, place) for value in values]
        if any(text is None or text.startswith("cuda") for text in texts):
            return None
        return next((v for v, text in zip(values, texts, strict=True) if text == "cpu"), None)

    def _may_be_xla(self, target: Target, place: CodeContext) -> bool:
        """Return whether some statement of the function gives the target an XLA device."""
        return any(
            NAMES_XLA.search(self.analysis.source(value))
            for outer in self._body(place)
            for statement in ir.statements(outer)
            if isinstance(statement, ir.Stmt)
            for other, value in outcomes(statement)
            if other == target
        )

    def _body(self, place: CodeContext) -> ir.Block:
        node = place.scope.node
        return node.body if isinstance(node, ir.FunctionDef | ir.ClassDef) else self.analysis.module.body

    # ------------------------------------------------------------------ runs

    def _block(self, body: Iterable[ir.Stmt], run: _Run, present: bool, place: CodeContext) -> bool:
        """Run statements; return whether the block ends early, with a return, a raise or a jump."""
        return any(self._statement(statement, run, present, place) for statement in body)

    def _statement(self, node: ir.Stmt, run: _Run, present: bool, place: CodeContext) -> bool:
        match node:
            case ir.Assign() | ir.Return() | ir.ExprStmt():
                for target, value in outcomes_behind(node, place.scope):
                    if target[0]:
                        run.values[target] = run.values.get((path_of(value), 0), (value,))
                    else:
                        given = run.values.get((path_of(value), 0), (value,))
                        run.returned[target] = (*run.returned.get(target, ()), *given)
                return isinstance(node, ir.Return)
            case ir.Raise():
                return True
            case ir.Jump(kind=kind):
                return kind != "pass"
            case ir.If(test=test, body=body, orelse=orelse):
                holds = _is_none(test, run.values)
                holds = self._holds(test, present, place) if holds is None else holds
                ways = [body, orelse] if holds is None else [body if holds else orelse]
                return self._branches(ways, run, present, place)
            case ir.With(body=body):
                return self._block(body, run, present, place)
            case ir.Try(body=body, handlers=handlers):
                return self._branches([body, *(h.body for h in handlers)], run, present, place)
            case ir.For(body=body) | ir.While(body=body):
                self._branches([body, ()], run, present, place)
        return False

    def _branches(self, ways: list[ir.Block], run: _Run, present: bool, place: CodeContext) -> bool:
        ends = []
        for way in ways:
            end = run.copy()
            if not self._block(way, end, present, place):
                ends.append(end)
        if ends:
            run.join(*ends)
        return not ends

    def _holds(self, test: ir.Expr, present: bool, place: CodeContext) -> bool | None:
        """Return the outcome of a test with CUDA, or without any accelerator but a TPU."""
        match test:
            case ir.Unary(op="not", operand=operand):
                inner = self._holds(operand, present, place)
                return None if inner is None else not inner
            case ir.Bool(op=op, values=values):
                found = [self._holds(value, present, place) for value in values]
                if (op == "or") in found:
                    return op == "or"
                return None if None in found else op == "and"
            case ir.Name(id=name):
                bindings = place.scope.find(name)
                value = bindings[0].value if len(bindings) == 1 else None
                if isinstance(value, ir.Bool | ir.Unary):
                    return self._holds(value, present, place)
        known = self.analysis.values.of(test, place.scope)
        if known.value.kind == "cuda-test" and known.availability:
            return present is not known.negated
        return False if _OTHER.search(self.analysis.source(test)) else None


def _near(block: ir.Block, i: int) -> Iterator[ir.Stmt]:
    """Yield a statement of a block, the one before it and all after it."""
    yield from block[max(0, i - 1) :]


def _is_none(test: ir.Expr, values: Outcomes) -> bool | None:
    """Return the outcome of `device is None`, if what the name was set to decides it."""
    match test:
        case ir.Compare(left=left, ops=("is" | "is not" as op,), comparators=(ir.Const(value=None),)):
            found = {isinstance(v, ir.Const) and v.value is None for v in values.get((path_of(left), 0), ())}
            return found.pop() is (op == "is") if len(found) == 1 else None
    return None

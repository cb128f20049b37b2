"""Walk a function with the definitions of its names that reach each expression."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from xlamig import ir
from xlamig.flow.model.branched_names import BranchedNames, Changes, Definitions
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

Ends = Literal["", "returns", "raises"]
"""How a block is left before its end."""

_OPEN_TESTS = frozenset({"hasattr", "callable", "type", "is_tensor"})
_TYPE_TESTS = frozenset({"isinstance", "issubclass", "hasattr", "callable", "type", "is_tensor"})


class Reaching:
    """Visits each expression of a function once, in order; a subclass says what to do with it. Code after a
    loop is reached by what the loop defines, the loop's own start is not. Where a test asks for the type
    of a name nothing reaches it: its uses there say nothing of the others. Of a test for a tensor that holds
    in both branches, and after it unless a branch raises."""

    def __init__(self) -> None:
        self._names = BranchedNames()

    def definitions(self, name: str) -> Definitions:
        """Return the definitions of a name that reach the expression being visited."""
        return self._names.get(name)

    def visit(self, node: ir.Expr) -> None:
        """Called with each expression that is evaluated, before those in it."""

    def define(self, target: ir.Expr, value: ir.Expr | None) -> None:
        """Called where a name or an attribute is bound, to the value of an expression if there is one."""

    def bind(self, name: str, start: int) -> None:
        """Let one definition of a name reach what follows."""
        self._names.set(name, frozenset((start,)))

    def bind_parameter(self, name: str, start: int) -> None:
        """Let a parameter of the function reach what follows."""
        self._names.parameters.add(start)
        self.bind(name, start)

    # ------------------------------------------------------------------ statements

    def block(self, body: Iterable[ir.Stmt]) -> Ends:
        """Follow the definitions through statements; return how they end."""
        for node in body:
            ends = self._statement(node)
            if ends:
                return ends
        return ""

    def _statement(self, node: ir.Stmt) -> Ends:
        match node:
            case ir.If():
                return self._if(node)
            case ir.For() | ir.While():
                self._loop(node)
            case ir.With(items=items, body=body):
                for item in items:
                    self.expression(item.value)
                    if item.target is not None:
                        self._assign(item.target, None)
                return self.block(body)
            case ir.Try():
                return self._try(node)
            case ir.Match(subject=subject, cases=cases):
                self.expression(subject)
                self._names.join([{}, *map(self._case, cases)])
            case ir.Return() | ir.Raise():
                self._children(node)
                return "returns" if isinstance(node, ir.Return) else "raises"
            case ir.Jump(kind=kind) if kind != "pass":
                return "returns"
            case _:
                self._simple(node)
        return ""

    def _simple(self, node: ir.Stmt) -> None:
        match node:
            case ir.Assign(targets=targets, value=value):
                self.expression(value)
                for target in targets:
                    self._assign(target, value)
            case ir.AnnAssign(target=target, value=value):
                if value is not None:
                    self.expression(value)
                    self._assign(target, value)
            case ir.AugAssign(target=target, value=value):
                self.expression(target)
                self.expression(value)
                self._assign(target, ir.Binary(node.start, node.end, node.op, target, value))
            case ir.FunctionDef():
                self.bind(node.name, node.start)
                self._nested(node)
            case ir.ClassDef(name=name):
                self.bind(name, node.start)
            case ir.Import(names=names) | ir.ImportFrom(names=names):
                for alias in names:
                    self.bind(alias.asname or alias.name.partition(".")[0], alias.start)
            case _:
                self._children(node)

    def _nested(self, node: ir.FunctionDef) -> None:
        """Visit a function inside: its uses of names around it are uses of what reaches its definition."""
        self._names.begin()
        self._names.forget(param.name for param in node.params)
        self.block(node.body)
        self._names.end()

    def _children(self, node: ir.Node) -> None:
        for child in ir.children(node):
            if isinstance(child, ir.Arg):
                self.expression(child.value)
            elif isinstance(child, ir.Expr):
                self.expression(child)

    def _if(self, node: ir.If) -> Ends:
        self.expression(node.test)
        names = list(asked(node.test))
        before = [self.definitions(name) for name in names]
        branches: list[Changes | None] = []
        ends: list[Ends] = []
        for body, holds in ((node.body, True), (node.orelse, False)):
            self._names.begin()
            if names and _hides(node.test, holds):
                self._names.forget(names)
            ends.append(self.block(body))
            after = self._names.end()
            branches.append(None if ends[-1] else after)
        self._names.join(branches)
        if names and ("raises" in ends or not _asks_for_tensor(node.test)):
            for name, known in zip(names, before, strict=True):
                self._names.set(name, known | self.definitions(name))
        return "" if "" in ends else "returns" if "returns" in ends else "raises"

    def _loop(self, node: ir.For | ir.While) -> None:
        self.expression(node.iter if isinstance(node, ir.For) else node.test)
        self._names.begin()
        if isinstance(node, ir.For):
            self._assign(node.target, None)
        else:
            self._names.forget(asked(node.test))
        self.block(node.body)
        self._names.join([{}, self._names.end()])
        self.block(node.orelse)

    def _try(self, node: ir.Try) -> Ends:
        self._names.begin()
        left = self.block(node.body) or self.block(node.orelse)
        after = self._names.end()
        ends: list[Changes | None] = [None if left else after]
        for handler in node.handlers:
            self._names.begin()
            self._names.join([{}, after])
            left_again = self.block(handler.body)
            handled = self._names.end()
            ends.append(None if left_again else handled)
        self._names.join(ends)
        final = self.block(node.final)
        return final or ("" if any(end is not None for end in ends) else "returns")

    def _case(self, case: ir.Case) -> Changes | None:
        self._names.begin()
        for name in case.captures:
            self.bind(name, case.start)
        if case.guard is not None:
            self.expression(case.guard)
        left = self.block(case.body)
        after = self._names.end()
        return None if left else after

    def _assign(self, target: ir.Expr, value: ir.Expr | None) -> None:
        match target:
            case ir.Name(id=name):
                self.define(target, value)
                self.bind(name, target.start)
            case ir.Sequence(elements=elements):
                parts = value.elements if isinstance(value, ir.Sequence) else ()
                paired = len(parts) == len(elements)
                for i, element in enumerate(elements):
                    self._assign(element, parts[i] if paired else None)
            case ir.Starred(value=inner):
                self._assign(inner, None)
            case ir.Attribute(value=owner):
                self.expression(owner)
                self.define(target, value)
            case _:
                self.expression(target)

    # ------------------------------------------------------------------ expressions

    def expression(self, node: ir.Expr) -> None:
        """Visit an expression and those in it."""
        kind = type(node)  # the three most frequent ones first
        if kind is ir.Name or kind is ir.Const:
            return
        self.visit(node)
        if isinstance(node, ir.Attribute):
            self.expression(node.value)
        elif isinstance(node, ir.Call):
            self.expression(node.func)
            for arg in node.args:
                self.expression(arg.value)
        else:
            self._compound(node)

    def _compound(self, node: ir.Expr) -> None:
        match node:
            case ir.Bool(values=values):
                around = self._names.depth
                for value in values:
                    self.expression(value)
                    self._within(asked(value))
                self._names.end_all(around)
            case ir.IfExp(test=test):
                self.expression(test)
                around = self._names.depth
                self._within(asked(test))
                self.expression(node.body)
                self.expression(node.orelse)
                self._names.end_all(around)
            case ir.Lambda(params=params, body=body):
                around = self._names.depth
                self._within(param.name for param in params)
                self.expression(body)
                self._names.end_all(around)
            case ir.Comprehension():
                self._comprehension(node)
            case ir.Walrus(target=target, value=value):
                self.expression(value)
                self._assign(target, value)
            case _:
                self._children(node)

    def _comprehension(self, node: ir.Comprehension) -> None:
        self._names.begin()
        for generator in node.generators:
            self.expression(generator.iter)
            self._assign(generator.target, None)
            for test in generator.ifs:
                self.expression(test)
                self._names.forget(asked(test))
        self.expression(node.element)
        if node.value is not None:
            self.expression(node.value)
        self._names.end()

    def _within(self, names: Iterable[str]) -> None:
        """Let nothing reach these names in the rest of an expression."""
        hidden = [name for name in names if name in self._names]
        if hidden:
            self._names.begin()
            self._names.forget(hidden)


def asked(test: ir.Expr) -> Iterator[str]:
    """Yield the names and paths whose types a test asks for."""
    match test:
        case ir.Call(func=func, args=(first, *_)):
            if path_of(func).rpartition(".")[2] in _TYPE_TESTS:
                yield path_of(first.value)
        case ir.Unary(operand=operand):
            yield from asked(operand)
        case ir.Bool(values=values):
            for value in values:
                yield from asked(value)
        case ir.Compare(left=left):
            yield from asked(left)


def _hides(test: ir.Expr, holds: bool) -> bool:
    """Return whether a branch is for names of other types than tensors, or for tensors only."""
    negated = isinstance(test, ir.Unary) and test.op == "not"
    return holds is not negated or _asks_for_tensor(test)


def _asks_for_tensor(test: ir.Expr) -> bool:
    """Return whether a test of types is one for tensors, or for what an object has."""
    for node in ir.walk(test):
        if isinstance(node, ir.Name | ir.Attribute):
            path = path_of(node)
            if path.rpartition(".")[2] in _OPEN_TESTS or table.name_like("tensor-annotation").search(path):
                return True
    return False

"""Infer from the uses of a value that it is a tensor, or that it is none.

Evidence runs backwards: a use that comes later tells what a parameter, or the result of an unknown
function, was all the time. `torch.exp(y)` proves `y`, and where `y = x[:, 1:]` it proves `x`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xlamig import ir
from xlamig.flow.model.branched_names import Group, members
from xlamig.flow.model.kinds import made_by
from xlamig.flow.model.names import Names
from xlamig.flow.model.number_uses import expects_no_number, tested_number
from xlamig.flow.model.reaching import Ends, Reaching, asked
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.flow.model.tensor_methods import (
    is_of_tensors,
    is_tensor_method,
    is_text,
    is_text_method,
    keeps_kind,
    losses,
    may_call_a_part,
)
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table
from xlamig.knowledge.signatures import Signature

_PARSERS = ("float", "int")
_ARITHMETIC = frozenset({"+", "-", "*", "/", "//", "**", "%"})


Definition = int | str
"""The offset of a name where it is bound, or an attribute of the object that a method is of: "self.scale"."""


class Evidence:
    """The proofs from the uses in a function, in a module, or in all methods of a class."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.refuted: set[Definition] = set()  # no tensors, though perhaps containers of some
        self.plain: set[Definition] = set()  # neither of them
        self.texts: set[Definition] = set()
        self.proofs: dict[Definition, ir.Expr] = {}
        self.entails: dict[Definition, set[Definition | Group]] = {}
        """For each definition those that are tensors if it is one."""
        self.proved_groups: set[Group] = set()
        self._asked: dict[tuple[Scope, str | int], tuple[ir.Expr, str | None]] = {}

    def add(self, body: ir.Block, params: tuple[ir.Param, ...], scope: Scope) -> None:
        """Collect the uses in a function."""
        uses = _Uses(self, scope, frozenset(param.start for param in params))
        for param in params:
            uses.bind_parameter(param.name, param.start)
        uses.block(body)

    def dotted(self, node: ir.Expr, scope: Scope) -> str | None:
        """Return the canonical name of a node, and remember that the evidence depends on it."""
        key = scope, path_of(node) or id(node)
        known = self._asked.get(key)
        if known is None:
            known = self._asked[key] = node, self.names.dotted(node, scope)
        return known[1]

    def holds_for(self, names: Names) -> bool:
        """Return whether other names, of the same module in another program, give the same evidence."""
        return all(names.dotted(node, scope) == dotted for (scope, _), (node, dotted) in self._asked.items())

    def settle(self) -> None:
        """Prove what follows from the definitions that are proved."""
        waiting = list(self.proofs)
        while waiting:
            current = waiting.pop()
            entailed = self.entails.get(current, ()) if current not in self.refuted else ()
            for other in members(entailed, self.proved_groups):
                if other not in self.proofs:
                    self.proofs[other] = self.proofs[current]
                    waiting.append(other)

    def proof(self, definition: Definition) -> ir.Expr | None:
        """Return the use that proves a definition to be a tensor."""
        return None if definition in self.refuted else self.proofs.get(definition)

    def refutes(self, definition: Definition) -> bool:
        """Return whether a use shows that a definition is no tensor, and holds none."""
        return definition in self.plain and definition not in self.proofs

    def link(self, one: Definition, others: Iterable[Definition | Group]) -> None:
        """Say that proof of one definition is proof of others."""
        self.entails.setdefault(one, set()).update(others)


class _Uses(Reaching):
    """Collects the uses in one function. `params` are the definitions that its parameters are."""

    def __init__(self, found: Evidence, scope: Scope, params: frozenset[int]) -> None:
        super().__init__()
        self.found, self.scope, self.params = found, scope, params
        self._layers: dict[str, bool] = {}
        self._refuted: set[Group] = set()
        self._plain: set[Group] = set()
        self._texts: set[Group] = set()
        self._parsing = False  # in a try that expects numbers which cannot be read

    def _try(self, node: ir.Try) -> Ends:
        outer, self._parsing = self._parsing, self._parsing or any(map(expects_no_number, node.handlers))
        ends = super()._try(node)
        self._parsing = outer
        return ends

    def _if(self, node: ir.If) -> Ends:
        number = tested_number(node.test)
        if number is not None:
            self._doubt(number)
        return super()._if(node)

    def define(self, target: ir.Expr, value: ir.Expr | None) -> None:
        if value is not None:
            defined = (target.start,) if isinstance(target, ir.Name) else self._direct(target)
            for definition in members(defined, set()):
                self.found.link(definition, self._behind(value))

    def visit(self, node: ir.Expr) -> None:
        match node:
            case ir.Call(func=func):
                self._called(node, func)
            case ir.Attribute(value=ir.Name() | ir.Attribute() as owner, attr=name):
                self._attribute(owner, name, node)
            case ir.Binary(op="@", left=left, right=right):
                self._multiplied(left, right)
                self._multiplied(right, left)
            case ir.Compare(left=left, comparators=(right,)) if is_text(right):
                self._refute(left, plain=True)
            case ir.Subscript(value=owner, index=(index,)) if is_text(index):
                self._refute(owner)

    # ------------------------------------------------------------------ proofs

    def _called(self, node: ir.Call, func: ir.Expr) -> None:
        self._refute(func, plain=True)
        dotted = None if self._is_of_parameter(func) else self.found.dotted(func, self.scope)
        if dotted is not None:
            if dotted.startswith("torch."):
                self._prove_arguments(node, signatures.signature(dotted))
        elif isinstance(func, ir.Attribute):
            self._method_called(node, func)
        elif isinstance(func, ir.Name) and func.id == "range":
            for arg in node.args:
                self._refute(arg.value, plain=True)
        elif isinstance(func, ir.Name) and self._parsing and func.id in _PARSERS:
            for arg in node.args:
                self._doubt(arg.value)
        elif isinstance(func, ir.Subscript):  # `self.heads[i - 1](x)`: a number or a key chooses what to call
            for chosen in func.index:
                for name in ir.walk(chosen):
                    if isinstance(name, ir.Name):
                        self._refute(name, plain=True)
        if isinstance(func, ir.Name) or dotted == "torch.is_tensor":
            for attribute in asked(node):  # of a name, nothing reaches the uses that follow
                if attribute.startswith("self."):
                    self.found.refuted.add(attribute)
        if dotted is None and node.args and self._is_layer(func):
            for arg in node.args:
                self._prove(arg.value, node)
        elif dotted is None and table.name_like("module").search(path_of(func).rpartition(".")[2]):
            for arg in node.args:
                if isinstance(arg.value, ir.Subscript) and len(arg.value.index) > 1:  # `model(x[:, 1:])`
                    self._prove(arg.value, node)

    def _is_of_parameter(self, node: ir.Expr) -> bool:
        """Return whether a path begins with a parameter, and so is no name of a module."""
        while isinstance(node, ir.Attribute):
            node = node.value
        return isinstance(node, ir.Name) and not self.params.isdisjoint(self.definitions(node.id))

    def _method_called(self, node: ir.Call, func: ir.Attribute) -> None:
        if func.attr in ("backward", "manual_backward"):
            for loss in losses(node):
                self._note(self._direct(loss), node)
        elif isinstance(func.value, ir.Name) and func.value.id == "self":
            self._prove_arguments(node, signatures.signature(f"Module.{func.attr}"))
        elif func.attr in table.names("evidence", "of-parameters"):
            if isinstance(func.value, ir.Name):
                self._note(self.definitions(func.value.id) & self.params, node)
        elif is_text_method(func.attr, node):
            self._refute(func.value, plain=True)
            self.found.texts.update(members(self._direct(func.value), self._texts))
        elif is_tensor_method(func.attr, node):
            self._prove(func.value, node)
            self._prove_arguments(node, signatures.signature(f"Tensor.{func.attr}"))

    def _multiplied(self, one: ir.Expr, other: ir.Expr) -> None:
        """Let one factor of a matrix product prove the other."""
        if self._is_computed(one):
            self._prove(other, one)
        for definition in members(self._behind(one), set()):
            self.found.link(definition, self._behind(other))

    def _is_computed(self, node: ir.Expr) -> bool:
        """Return whether an expression is a call of a function of torch that returns a tensor."""
        dotted = self.found.dotted(node.func, self.scope) if isinstance(node, ir.Call) else None
        return dotted is not None and signatures.returns(dotted) == {"tensor"}

    def _is_layer(self, func: ir.Expr) -> bool:
        """Return whether a call is one of a module of torch that takes nothing but tensors."""
        path = path_of(func)
        if not path:
            return isinstance(func, ir.Call) and self._makes_layer(func)
        known = self._layers.get(path)
        if known is None:
            made = [binding.value for binding in self.scope.find(path)]
            known = self._layers[path] = bool(made) and all(map(self._makes_layer, made))
        return known

    def _makes_layer(self, node: ir.Expr | None) -> bool:
        dotted = self.found.dotted(node.func, self.scope) if isinstance(node, ir.Call) else None
        if dotted is None or not dotted.startswith("torch.nn.") or made_by(dotted) != "module":
            return False
        return dotted.rpartition(".")[2] not in table.names("evidence", "containers")

    def _prove_arguments(self, node: ir.Call, known: Signature | None) -> None:
        for arg in node.args if known is not None else ():
            if arg.keyword == "out":
                written = arg.value.elements if isinstance(arg.value, ir.Sequence) else (arg.value,)
                for part in written:
                    self._prove(part, node)
        if known is None or not (known.tensors or known.sequences):
            return
        if sum(not arg.keyword for arg in node.args) > len(known.positional):
            return  # `x.addcmul_(value, a, b)`: another order of the arguments, with a number first
        for i, arg in enumerate(node.args):
            if arg.star:
                return
            name = arg.keyword or (known.positional[i] if i < len(known.positional) else "")
            if name in known.tensors:
                self._prove(arg.value, node)
            elif name in known.sequences and isinstance(arg.value, ir.Sequence):
                for element in arg.value.elements:
                    self._prove(element, node)

    def _prove(self, node: ir.Expr, by: ir.Expr) -> None:
        self._note(self._behind(node), by)

    def _note(self, definitions: Iterable[Definition | Group], by: ir.Expr) -> None:
        for definition in members(definitions, self.found.proved_groups):
            self.found.proofs.setdefault(definition, by)

    def _direct(self, node: ir.Expr) -> Iterable[Definition | Group]:
        """Return the definitions whose value a name or an attribute of `self` has."""
        match node:
            case ir.Name(id=name):
                return self.definitions(name)
            case ir.Attribute(value=ir.Name(id="self"), attr=name):
                return (f"self.{name}",)
        return ()

    def _behind(self, node: ir.Expr) -> Iterator[Definition | Group]:
        """Yield the definitions that are tensors if the value of an expression is one."""
        match node:
            case ir.Name() | ir.Attribute():
                yield from self._direct(node)
            case ir.Subscript(value=value, index=index):
                if len(index) > 1 or isinstance(index[0], ir.Slice):
                    yield from self._behind(value)
            case ir.Unary(op="-" | "+" | "~", operand=operand):
                yield from self._behind(operand)
            case ir.Binary(op=op, left=left, right=right) if op in _ARITHMETIC:
                if isinstance(left, ir.Const) or isinstance(right, ir.Const):
                    yield from self._behind(right if isinstance(left, ir.Const) else left)
            case ir.IfExp(body=body, orelse=orelse):
                yield from self._behind(body)
                yield from self._behind(orelse)
            case ir.Walrus(value=value):
                yield from self._behind(value)
            case ir.Call(func=ir.Attribute(value=value, attr=name)) if keeps_kind(name):
                if not may_call_a_part(name, node) and self.found.dotted(node.func, self.scope) is None:
                    yield from self._behind(value)

    # ------------------------------------------------------------------ refutations

    def _attribute(self, owner: ir.Expr, name: str, node: ir.Expr) -> None:
        if name in table.names("evidence", "attributes"):
            self._prove(owner, node)
        elif not name.startswith("_") and not is_of_tensors(name):
            self._refute(owner)

    def _doubt(self, node: ir.Expr) -> None:
        """Let a value count as none with tensors unless another use proves one."""
        self.found.plain.update(members(self._direct(node), self._plain))

    def _refute(self, node: ir.Expr, plain: bool = False) -> None:
        self.found.refuted.update(members(self._direct(node), self._refuted))
        if plain:
            self.found.plain.update(members(self._direct(node), self._plain))

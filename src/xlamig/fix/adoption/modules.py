"""Moves modules where they are made, above the optimizer of their parameters."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.findings import Edit
from xlamig.fix.adoption.calls import Calls
from xlamig.fix.adoption.tree import Tree
from xlamig.fix.context import FixContext, FixDeclined
from xlamig.fix.imports import insert_beside
from xlamig.fix.names import last_name
from xlamig.fix.scopes import dotted_name


class Modules:
    """Writes the moves of a file's modules to `device`."""

    def __init__(self, context: FixContext, tree: Tree, calls: Calls, device: str) -> None:
        self.context = context
        self.tree = tree
        self.calls = calls
        self.device = device
        self.moved: set[str] = set()  # names that hold a module which is moved where it is made
        self.inside = {id(c): c for c in calls.classes.values() if calls.kind_of_class(c) == "module"}

    def edits(self) -> Iterator[Edit]:
        """Yield the moves; raises FixDeclined where an optimizer's parameters are not moved."""
        own = {function.name for function in self._of_their_own()}
        for node in self.tree.nodes:
            if not isinstance(node, ir.Call) or self.calls.kind(node) != "module":
                continue
            if isinstance(node.func, ir.Name) and node.func.id in own:
                self._remember_names(node)
            elif self._stands_alone(node):
                self._remember_names(node)
                yield self.context.edit(node.end, node.end, f".to({self.device})")
        yield from self._before_optimizers()

    def _remember_names(self, call: ir.Call) -> None:
        """Remember the names that a moved module is assigned to."""
        parent = self.tree.parent(call)
        if isinstance(parent, ir.Assign):
            self.moved.update(map(dotted_name, parent.targets))

    def _stands_alone(self, call: ir.Call) -> bool:
        """Return whether it is neither a part of a module nor a loss, which has no parameters."""
        if last_name(call.func).endswith("Loss"):
            return False
        for node in self.tree.above(call):
            if id(node) in self.inside or self.calls.kind(node) in ("module", "dataset", "foreign"):
                return False
            if isinstance(node, ir.FunctionDef) and self._makes_parts(node):
                return False
        return True

    def _makes_parts(self, function: ir.FunctionDef) -> bool:
        """Return whether modules of the file call a function, no constructor, to make their parts."""
        return function.name != "__init__" and any(
            isinstance(node, ir.Call) and last_name(node.func) == function.name
            for owner in self.inside.values()
            for node in ir.walk(owner)
        )

    def _of_their_own(self) -> Iterator[ir.ClassDef]:
        """Yield the classes of modules that build an optimizer of their own parameters."""
        for node in self._parameters():
            if dotted_name(node) == "self":
                yield from (
                    n for n in self.tree.above(node) if id(n) in self.inside and isinstance(n, ir.ClassDef)
                )

    def _parameters(self) -> Iterator[ir.Expr]:
        """Yield the modules whose parameters an optimizer is given."""
        for call in self.tree.nodes:
            if self.calls.kind(call) == "optimizer":
                for node in ir.walk(call):
                    match node:
                        case ir.Call(func=ir.Attribute(value=owner, attr="parameters" | "named_parameters")):
                            yield owner

    def _before_optimizers(self) -> Iterator[Edit]:
        """Move, above the optimizer, modules that are not moved where they are made."""
        done: set[tuple[int, str]] = set()
        for owner in self._parameters():
            name = dotted_name(owner)
            statement = self.tree.statement(owner)
            if not name.strip(".") or name.startswith(".") or statement is None:
                raise FixDeclined("the module of the optimizer's parameters has no name")
            if name in self.moved or any(name.startswith(f"{moved}.") for moved in self.moved):
                continue
            if name != "self" and name.startswith("self.") and self._is_part(owner):
                raise FixDeclined(f"`{name}` is a part of a module")
            if (id(statement), name) in done:
                continue
            done.add((id(statement), name))
            edit = insert_beside(self.context, f"{name}.to({self.device})", statement)
            if edit is None or (name == "self" and self._grows(statement)):
                raise FixDeclined(f"`{name}` cannot be moved above its optimizer")
            yield edit

    def _is_part(self, node: ir.Node) -> bool:
        return any(id(above) in self.inside for above in self.tree.above(node))

    def _grows(self, statement: ir.Stmt) -> bool:
        """Return whether the module gets more parts below a statement of its constructor."""
        function = self.tree.function(statement)
        return function is not None and any(
            isinstance(node, ir.Assign)
            and node.start > statement.end
            and any(self.calls.kind(inner) == "module" for inner in ir.walk(node.value))
            for node in ir.walk(function)
        )

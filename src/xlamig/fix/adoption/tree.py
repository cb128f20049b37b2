"""Look up what holds a node of a file: its parent, statement and function."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xlamig import ir
from xlamig.fix.names import last_name


class Tree:
    """The nodes of a file, each with its parent."""

    def __init__(self, module: ir.Module) -> None:
        self.module = module
        self.nodes = list(ir.walk(module))
        self._parents = {id(child): node for node in self.nodes for child in ir.children(node)}

    def above(self, node: ir.Node) -> Iterator[ir.Node]:
        """Yield the ancestors of `node`, the innermost first."""
        found = self._parents.get(id(node))
        while found is not None:
            yield found
            found = self._parents.get(id(found))

    def parent(self, node: ir.Node) -> ir.Node | None:
        return self._parents.get(id(node))

    def statement(self, node: ir.Node) -> ir.Stmt | None:
        """Return the statement that a node stands in."""
        return next((n for n in (node, *self.above(node)) if isinstance(n, ir.Stmt)), None)

    def before(self, node: ir.Node) -> ir.Block:
        """Return the statements above a node's own, in the same block."""
        statement = self.statement(node)
        around = self.parent(statement) if statement is not None else None
        for block in ir.blocks_of(around) if around is not None else ():
            if any(one is statement for one in block):
                return tuple(one for one in block if one.end <= node.start)
        return ()

    def function(self, node: ir.Node) -> ir.FunctionDef | None:
        """Return the function that a node runs in."""
        return next((n for n in self.above(node) if isinstance(n, ir.FunctionDef)), None)

    def owner(self, node: ir.Node) -> ir.FunctionDef | ir.Module:
        """Return the function that a node runs in, or the module."""
        return self.function(node) or self.module

    def chain(self, call: ir.Expr, follows: Callable[[str], bool]) -> ir.Expr:
        """Return the outermost of the method calls on `call`, as long as their names hold: `f(x).view(2)`."""
        while (outer := self.method_on(call)) is not None and follows(last_name(outer.func)):
            call = outer
        return call

    def method_on(self, node: ir.Expr) -> ir.Call | None:
        """Return the call of a method of `node`, if that is what the node is used for."""
        parent = self.parent(node)
        outer = self.parent(parent) if isinstance(parent, ir.Attribute) else None
        return outer if isinstance(outer, ir.Call) and outer.func is parent else None

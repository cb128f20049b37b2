"""Scopes and bindings of a module: which name is bound where, to what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from xlamig import ir
from xlamig.flow.model.absolute_imports import absolute
from xlamig.flow.model.free_methods import free_methods

BindingKind = Literal["import", "value", "param", "function", "class", "opaque"]
Test = tuple[ir.Expr, bool]  # of a branch, and whether it holds there
Block = tuple[int, ...]
"""The path of blocks from the scope's body down: one block dominates another that extends it."""


@dataclass(slots=True)
class Binding:
    """One place where a name gets a value. `start:end` is the statement."""

    kind: BindingKind
    scope: Scope
    start: int
    end: int
    block: Block
    dotted: str = ""  # of an import
    value: ir.Expr | None = None  # assigned expression, or a parameter's default
    node: ir.FunctionDef | ir.ClassDef | None = None
    annotation: ir.Expr | None = None  # of a parameter
    optional: bool = False  # an import that may fail quietly
    inner: Scope | None = None  # of a function or class


@dataclass(slots=True, eq=False)
class Scope:
    """`attributes` of a class scope are those assigned through `self` in its methods, and in the functions
    outside of it that they call as `f(self)`, its `free_methods`; `owner` is the class of such a function."""

    kind: Literal["module", "function", "class", "expression"]
    name: str
    parent: Scope | None
    node: ir.FunctionDef | ir.ClassDef | None = None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    attributes: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    outer_names: dict[str, str] = field(default_factory=dict)  # declared "global" or "nonlocal"
    owner: Scope | None = None
    free_methods: dict[str, ir.FunctionDef] = field(default_factory=dict)
    tests: dict[int, Test] = field(default_factory=dict)  # by the last number of a branch's block

    def lookup(self, name: str) -> list[Binding]:
        """The bindings a use of `name` in this scope sees, by Python's scoping rules."""
        scope: Scope | None = self
        while scope is not None:
            if scope.outer_names.get(name) == "global":
                return self.module.bindings.get(name, [])
            visible = scope is self or scope.kind != "class"
            if visible and name not in scope.outer_names and (found := scope.bindings.get(name)):
                return found
            scope = scope.parent
        return []

    def find(self, path: str) -> list[Binding]:
        """Return the bindings of "x", "args.cuda" or "self.device" as this scope sees them."""
        first, _, rest = path.partition(".")
        owner = self.class_scope
        if first == "self" and rest and owner is not None:
            return owner.attributes.get(rest) or owner.bindings.get(rest, [])
        return self.lookup(path)

    def home(self, name: str) -> Scope:
        """The scope that an assignment to `name` in this one binds it in."""
        declared = self.outer_names.get(name)
        if declared is None:
            return self
        around: list[Scope] = []
        scope = self.parent
        while declared == "nonlocal" and scope is not None:
            if scope.kind == "function":
                around.append(scope)
            scope = scope.parent
        bound = [s for s in around if name in s.bindings]
        return (bound or around or [self.module])[0]

    @property
    def class_scope(self) -> Scope | None:
        """The class whose method this scope is, or is nested in."""
        scope: Scope | None = self
        while scope is not None and scope.kind != "class":
            scope = scope.owner or scope.parent
        return scope

    @property
    def module(self) -> Scope:
        """Return the scope of the module."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


def path_of(node: ir.Expr) -> str:
    """ "args.cuda" for a chain of names and attributes, "" for anything else."""
    # Written out: it is asked of nearly every expression.
    if type(node) is ir.Name:
        return node.id
    path = ""
    while type(node) is ir.Attribute:
        path = f".{node.attr}{path}"
        node = node.value
    return node.id + path if type(node) is ir.Name else ""


_IMPORT_FAILURES = frozenset(
    {"ImportError", "ModuleNotFoundError", "Exception", "BaseException", "RuntimeError", "OSError"}
)


def catches_import_errors(node: ir.Try) -> bool:
    """Return whether a `try` handles failed imports."""

    def names(expr: ir.Expr | None) -> Iterable[str]:
        if expr is None:
            return ("ImportError",)
        if isinstance(expr, ir.Sequence):
            return [path_of(e).rpartition(".")[2] for e in expr.elements]
        return [path_of(expr).rpartition(".")[2]]

    return any(name in _IMPORT_FAILURES for handler in node.handlers for name in names(handler.type))


def _attach(function: Scope, owner: Scope) -> None:
    """Let what a function assigns to `self` be attributes of a class."""
    function.owner = owner
    for path in [path for path in function.bindings if path.startswith("self.")]:
        owner.attributes.setdefault(path.removeprefix("self."), []).extend(function.bindings.pop(path))


class ScopeTable:
    """All scopes of a module: `of(node)` gives the scope a function or class opens."""

    def __init__(self, module: ir.Module, text: str, name: str, is_package: bool) -> None:
        self.module_name = name
        self.text = text
        self.is_package = is_package
        self.module = Scope("module", "", None)
        self.modules: set[str] = set()  # imported by their whole names: `import a.b` binds only `a`
        self._by_node: dict[int, Scope] = {}
        self._optional = False
        self._has_walrus = ":=" in text
        self._next_block = 0
        self._block(module.body, self.module, ())
        for function, owner in free_methods(module):
            self.of(owner).free_methods[function.name] = function
            _attach(self.of(function), self.of(owner))

    def of(self, node: ir.FunctionDef | ir.ClassDef) -> Scope:
        """Return the scope that a function or class opens."""
        return self._by_node[id(node)]

    @property
    def methods(self) -> frozenset[str]:
        """The names of all methods of the module's classes."""
        return frozenset(
            scope.node.name
            for scope in self._by_node.values()
            if scope.kind == "function" and scope.node and scope.parent and scope.parent.kind == "class"
        )

    def functions(self) -> Iterable[Scope]:
        """Return the scopes of all functions and classes."""
        return self._by_node.values()

    def _block(self, body: ir.Block, scope: Scope, block: Block) -> None:
        for statement in body:
            self._statement(statement, scope, block)

    def _nested(self, body: ir.Block, scope: Scope, block: Block, test: Test | None = None) -> None:
        if body:
            self._next_block += 1
            if test is not None:
                scope.tests[self._next_block] = test
            self._block(body, scope, (*block, self._next_block))

    def _statement(self, node: ir.Stmt, scope: Scope, block: Block) -> None:
        if self._has_walrus:
            self._walruses(node, scope, block)
        match node:
            case ir.Assign():
                for target in node.targets:
                    self._bind(target, node.value, scope, node, block)
            case ir.AnnAssign(value=ir.Expr() as value):
                self._bind(node.target, value, scope, node, block)
            case ir.AugAssign():
                self._bind(node.target, None, scope, node, block)
            case ir.Import() | ir.ImportFrom():
                self._import(node, scope, block)
            case ir.FunctionDef() | ir.ClassDef():
                self._definition(node, scope, block)
            case ir.Scoping():
                scope.outer_names.update(dict.fromkeys(node.names, node.kind))
            case ir.If() | ir.While():
                self._nested(node.body, scope, block, (node.test, True))
                self._nested(node.orelse, scope, block, (node.test, False))
            case ir.For():
                self._bind(node.target, None, scope, node, block)
                self._nested(node.body, scope, block)
                self._nested(node.orelse, scope, block)
            case ir.With():
                for item in node.items:
                    if item.target is not None:
                        self._bind(item.target, item.value, scope, node, block)
                self._block(node.body, scope, block)
            case ir.Try():
                self._try(node, scope, block)
            case ir.Match():
                for case in node.cases:
                    for name in case.captures:
                        self._add(scope.bindings, name, Binding("opaque", scope, node.start, node.end, block))
                    self._nested(case.body, scope, block)

    def _walruses(self, node: ir.Stmt, scope: Scope, block: Block) -> None:
        for child in ir.children(node):
            for inner in ir.walk(child) if isinstance(child, ir.Expr) else ():
                if isinstance(inner, ir.Walrus):
                    self._bind(inner.target, None, scope, node, block)

    def _try(self, node: ir.Try, scope: Scope, block: Block) -> None:
        before = self._optional
        self._optional = before or catches_import_errors(node)
        self._nested(node.body, scope, block)
        self._optional = before
        for handler in node.handlers:
            if handler.name:
                self._add(scope.bindings, handler.name, Binding("opaque", scope, node.start, node.end, block))
            self._nested(handler.body, scope, block)
        self._nested(node.orelse, scope, block)
        self._block(node.final, scope, block)

    def _bind(
        self, target: ir.Expr, value: ir.Expr | None, scope: Scope, node: ir.Stmt, block: Block
    ) -> None:
        if isinstance(target, ir.Sequence):
            values = value.elements if isinstance(value, ir.Sequence) else ()
            paired = len(values) == len(target.elements)
            for i, element in enumerate(target.elements):
                self._bind(element, values[i] if paired else None, scope, node, block)
            return
        if isinstance(target, ir.Starred):
            target, value = target.value, None
        path = path_of(target)
        if not path:
            return
        kind: BindingKind = "opaque" if value is None else "value"
        binding = Binding(kind, scope, node.start, node.end, block, value=value)
        first, _, rest = path.partition(".")
        owner = scope.class_scope
        if rest and owner is not None and owner is not scope and first == "self":
            self._add(owner.attributes, rest, binding)
        else:
            self._add(scope.home(path).bindings, path, binding)

    def _import(self, node: ir.Import | ir.ImportFrom, scope: Scope, block: Block) -> None:
        base = "" if isinstance(node, ir.Import) else absolute(self.module_name, self.is_package, node)
        for alias in node.names:
            if alias.name == "*":
                scope.module.stars.append(base)
                continue
            if isinstance(node, ir.Import):
                self.modules.add(alias.name)
                name = alias.asname or alias.name.partition(".")[0]
                dotted = alias.name if alias.asname else name
            else:
                name = alias.asname or alias.name
                dotted = f"{base}.{alias.name}" if base else alias.name
            binding = Binding(
                "import", scope, node.start, node.end, block, dotted=dotted, optional=self._optional
            )
            self._add(scope.home(name).bindings, name, binding)

    def _definition(self, node: ir.FunctionDef | ir.ClassDef, scope: Scope, block: Block) -> None:
        kind: Literal["function", "class"] = "function" if isinstance(node, ir.FunctionDef) else "class"
        name = f"{scope.name}.{node.name}" if scope.name else node.name
        inner = Scope(kind, name, scope, node)
        defined = Binding(kind, scope, node.start, node.end, block, node=node, inner=inner)
        self._add(scope.home(node.name).bindings, node.name, defined)
        self._by_node[id(node)] = inner
        if isinstance(node, ir.FunctionDef):
            for param in node.params:
                what: BindingKind = "opaque" if param.kind in ("*", "**") else "param"
                binding = Binding(what, scope, param.start, param.end, (), value=param.default)
                binding.annotation = param.annotation if what == "param" else None
                self._add(inner.bindings, param.name, binding)
        self._block(node.body, inner, ())

    @staticmethod
    def _add(table: dict[str, list[Binding]], name: str, binding: Binding) -> None:
        table.setdefault(name, []).append(binding)

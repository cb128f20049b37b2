"""One walk over a module's IR: keeps the surroundings and asks each detector at its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from xlamig import ir
from xlamig.facts import Fact, Guard, Why
from xlamig.flow.apis import Apis, Via
from xlamig.flow.branches import Branches
from xlamig.flow.devices import Devices
from xlamig.flow.guards import Guards
from xlamig.flow.inner import scope_inside
from xlamig.flow.occasions import Occasions
from xlamig.flow.regions import WORKER, Regions, handed_to_workers
from xlamig.flow.scopes import ScopeTable, absolute, catches_import_errors, path_of
from xlamig.flow.selection import Selections
from xlamig.flow.site import Analysis, Place
from xlamig.flow.surroundings import Backends, Packages, Variables
from xlamig.flow.values import short

_NVIDIA_ONLY = frozenset({"tensorrt", "torch_tensorrt", "pycuda", "cupy", "pynvml", "cuda"})
_NO_GRAD = frozenset({"torch.no_grad", "torch.inference_mode"})
_NOT_INSIDE = frozenset({"loop", "try"})  # of a function that is defined there


class Walk:
    def __init__(
        self, module: ir.Module, scopes: ScopeTable, analysis: Analysis, context: frozenset[str]
    ) -> None:
        self.module = module
        self.scopes = scopes
        self.analysis = analysis
        self.guards = Guards(analysis.values, analysis.text)
        self.occasions = Occasions(analysis.text)
        self.regions = Regions(analysis)
        self.apis = Apis(analysis, scopes.methods)
        self.devices = Devices(analysis, self.guards)
        self.selections = Selections(analysis, self.guards, self.devices)
        self.branches = Branches(analysis)
        self.backends = Backends(analysis)
        self.packages = Packages(analysis)
        self.variables = Variables(analysis)
        self.facts: list[Fact] = []
        self.sites = 0
        self._chosen: set[int] = set()
        self._next_block = 0
        self.place = Place(scopes.module, (0, 0), (), context=context)

    def run(self) -> list[Fact]:
        self._block(self.module.body, self.place)
        return [f for f in self.facts if f.kind != "launch" or f.span not in self.apis.consumed]

    def _add(self, facts: Iterable[Fact]) -> None:
        self.facts.extend(facts)

    # ------------------------------------------------------------------ blocks

    def _block(self, body: ir.Block, place: Place) -> None:
        """The statements of a block in turn; an early exit guards what comes after it."""
        for i, statement in enumerate(body):
            inside = place.at(statement)
            before = body[i - 1] if i else None
            after = body[i + 1] if i + 1 < len(body) else None
            self._statement(statement, inside, before, after)
            if isinstance(statement, ir.If) and self._leaves_quietly(statement.body) and not statement.orelse:
                place = self._where(statement.test, place, False)
            if place.scope.kind == "function" and isinstance(statement, ir.Import | ir.Try):
                place = replace(place, guards=_merge(place.guards, self._imported(statement)))

    @staticmethod
    def _imported(node: ir.Import | ir.Try) -> tuple[Guard, ...]:
        """What follows `import tensorrt` in a function is for machines that have it."""
        statements = node.body if isinstance(node, ir.Try) else (node,)
        return tuple(
            Guard("package", f"import {alias.name}", (statement.start, statement.end))
            for statement in statements
            if isinstance(statement, ir.Import)
            for alias in statement.names
            if alias.name.partition(".")[0] in _NVIDIA_ONLY
        )

    @staticmethod
    def _leaves_quietly(body: ir.Block) -> bool:
        """Whether a block ends in return, continue or a skipped test. `raise` demands CUDA, it does
        not avoid it."""
        last = body[-1] if body else None
        if isinstance(last, ir.ExprStmt) and isinstance(last.value, ir.Call):
            return path_of(last.value.func).rpartition(".")[2] in ("skip", "skipTest")
        return isinstance(last, ir.Return) or (isinstance(last, ir.Jump) and last.kind != "pass")

    def _nested(self, body: ir.Block, place: Place, guards: tuple[Guard, ...] = ()) -> None:
        if not body:
            return
        # Numbered as in ScopeTable, which walks the blocks in the same order.
        self._next_block += 1
        block = (*place.block, self._next_block)
        guards = _merge(place.guards, guards)
        inside = Place(
            place.scope, place.statement, block, guards, place.context, place.frequency, place.reasons
        )
        self._block(body, inside)

    def _where(self, test: ir.Expr, place: Place, holds: bool) -> Place:
        """The place narrowed to where a test holds, or to where it does not."""
        guards = self.guards.of(test, place.scope, holds)
        if guards:
            place = replace(place, guards=_merge(place.guards, guards))
        if place.frequency == "step" and self.occasions.seldom(test, place.scope, holds):
            place = replace(place, frequency="interval")
        first = self.occasions.first_rank(test, place.scope, holds)
        return self._on_first_rank(place, first)

    @staticmethod
    def _on_first_rank(place: Place, reasons: tuple[Why, ...]) -> Place:
        if not reasons or "rank-guarded" in place.context:
            return place
        return replace(place.within("rank-guarded"), reasons=(*place.reasons, *reasons))

    # ------------------------------------------------------------------ statements

    def _statement(self, node: ir.Stmt, place: Place, before: ir.Stmt | None, after: ir.Stmt | None) -> None:
        match node:
            case ir.Assign() | ir.AnnAssign():
                self._assignment(node, place)
            case ir.AugAssign() | ir.Delete():
                self._add(self.variables.changed(node, place))
                for child in ir.children(node):
                    self._visit(child, place)
            case ir.Import() | ir.ImportFrom():
                self._import(node, place)
            case ir.FunctionDef():
                self._function(node, place)
            case ir.ClassDef():
                self._class(node, place)
            case ir.If():
                self._if(node, place, before, after)
            case ir.For():
                self._visit(node.iter, place)
                self._nested(node.body, self._looped(node, place), self._rounds(node, place))
                self._nested(node.orelse, place)
            case ir.While():
                self._visit(node.test, place.within("condition"))
                guards = self.guards.of(node.test, place.scope, True)
                self._nested(node.body, self._looped(node, place), guards)
                self._nested(node.orelse, place)
            case ir.With():
                self._with(node, place)
            case ir.Try():
                self._try(node, place)
            case ir.Match():
                self._visit(node.subject, place)
                for case in node.cases:
                    if case.guard is not None:
                        self._visit(case.guard, place.within("condition"))
                    self._nested(case.body, place)
            case ir.Assert():
                self._add(self.branches.demand(node, place))
                self._visit(node.test, place.within("comparison", "condition"))
                if node.message is not None:
                    self._visit(node.message, place.within("message"))
            case ir.Raise():
                raised = place.within("message")
                for child in ir.children(node):
                    self._visit(child, raised)
            case _:
                for child in ir.children(node):
                    self._visit(child, place)

    def _looped(self, node: ir.For | ir.While, place: Place) -> Place:
        words = self.regions.of_loop(node.body, place.scope)
        inside = place.within("loop", *words)
        return replace(inside, frequency="step") if words else inside

    def _rounds(self, node: ir.For, place: Place) -> tuple[Guard, ...]:
        """A loop over CUDA devices has no round where there are none."""
        calls = [n for n in ir.walk(node.iter) if isinstance(n, ir.Call)]
        if any(self.analysis.names.dotted(c.func, place.scope) == "torch.cuda.device_count" for c in calls):
            text = short(self.analysis.source(node.iter))
            return (Guard("cuda", f"for ... in {text}", (node.iter.start, node.iter.end)),)
        return ()

    def _assignment(self, node: ir.Assign | ir.AnnAssign, place: Place) -> None:
        targets = node.targets if isinstance(node, ir.Assign) else (node.target,)
        value = node.value
        if value is not None:
            self._select(value, None, place)
        for target in targets:
            if value is not None:
                self._add(self.devices.in_assignment(target, value, place))
                self._add(self.backends.in_assignment(target, value, place))
            self._add(self.variables.assigned(target, value, place))
            if value is not None and isinstance(target, ir.Subscript):
                self._add(self.apis.entry(target.index[0], value, place))
            if isinstance(target, ir.Attribute):
                self._add(self.apis.reference(target, place, "assignment"))
            elif not isinstance(target, ir.Name):
                self._visit(target, place)
        if value is not None:
            self._visit(value, place)

    def _import(self, node: ir.Import | ir.ImportFrom, place: Place) -> None:
        base = ""
        if isinstance(node, ir.ImportFrom):
            base = absolute(self.scopes.module_name, self.scopes.is_package, node)
        for alias in node.names:
            dotted = f"{base}.{alias.name}" if base else alias.name
            if alias.name != "*":
                self._add(self.apis.imported(dotted, alias, place))
        if isinstance(node, ir.Import) or not node.level:
            names = [base if a.name == "*" else f"{base}.{a.name}" if base else a.name for a in node.names]
            self._add(self.packages.imported(names, node, place))

    def _function(self, node: ir.FunctionDef, place: Place) -> None:
        inner = self.scopes.of(node)
        context = place.context - _NOT_INSIDE | self.regions.of_function(node, place.scope)
        guards = place.guards
        first: tuple[Why, ...] = ()
        for decorator in node.decorators:
            self._decorator(decorator, place)
            guards = _merge(guards, self.guards.of_decorator(decorator, place.scope))
            first = first or self.occasions.of_decorator(decorator)
            called = decorator.func if isinstance(decorator, ir.Call) else decorator
            if self.analysis.names.dotted(called, place.scope) in _NO_GRAD:
                context |= {"no-grad"}
        defaults = replace(place, scope=inner, context=place.context | {"default-argument"})
        self._defaults(node.params, defaults, place)
        often = (
            "unknown" if "hot" not in context else "step" if place.frequency == "unknown" else place.frequency
        )
        body = Place(inner, place.statement, (), guards, context, often, place.reasons)
        self._block(node.body, self._on_first_rank(body, first))

    def _defaults(self, params: tuple[ir.Param, ...], inside: Place, outside: Place) -> None:
        evaluated = replace(outside, context=inside.context)
        for param in params:
            if param.default is not None:
                self._select(param.default, None, evaluated)
        self._add(self.devices.in_defaults(params, inside))
        self._add(self.backends.in_defaults(params, inside))
        for param in params:
            if param.default is not None:
                self._visit(param.default, evaluated)

    def _class(self, node: ir.ClassDef, place: Place) -> None:
        for decorator in node.decorators:
            self._decorator(decorator, place)
        for arg in node.args:
            self._visit(arg.value, place)
        self._block(node.body, replace(place, scope=self.scopes.of(node), block=()))

    def _decorator(self, node: ir.Expr, place: Place) -> None:
        if isinstance(node, ir.Call):
            self._call(node, place, "decorator")
        else:
            self._add(self.apis.reference(node, place, "decorator"))

    def _if(self, node: ir.If, place: Place, before: ir.Stmt | None, after: ir.Stmt | None) -> None:
        self._add(self.selections.statement(node, before, after, place))
        self._add(self.branches.statement(node, after, place))
        self._visit(node.test, place.within("condition"))
        self._nested(node.body, self._where(node.test, place, True))
        self._nested(node.orelse, self._where(node.test, place, False))

    def _with(self, node: ir.With, place: Place) -> None:
        context = place.context
        for item in node.items:
            if isinstance(item.value, ir.Call):
                self._call(item.value, place, "with")
                if self.analysis.names.dotted(item.value.func, place.scope) in _NO_GRAD:
                    context |= {"no-grad"}
            else:
                self._visit(item.value, place)
        self._block(node.body, replace(place, context=context))

    def _try(self, node: ir.Try, place: Place) -> None:
        optional: tuple[Guard, ...] = ()
        if catches_import_errors(node) and any(isinstance(s, ir.Import | ir.ImportFrom) for s in node.body):
            optional = (Guard("optional-import", "try: import", (node.start, node.start + 3)),)
        self._nested(node.body, place.within("try") if _catches_more(node) else place, optional)
        for handler in node.handlers:
            for caught in handler.type.elements if isinstance(handler.type, ir.Sequence) else [handler.type]:
                if caught is not None:
                    self._add(self.apis.reference(caught, place, "except"))
            self._nested(handler.body, place, _old_api(handler))
        self._nested(node.orelse, place, optional)
        self._block(node.final, place)

    # ------------------------------------------------------------------ expressions

    def _select(self, node: ir.Expr, parent: ir.Call | None, place: Place, takes_index: bool = False) -> None:
        if isinstance(node, ir.IfExp) and id(node) not in self._chosen:
            self._chosen.add(id(node))
            self._add(self.selections.ternary(node, parent, place, takes_index))
            self._add(self.branches.ternary(node, place))
        elif isinstance(node, ir.Bool) and id(node) not in self._chosen:
            self._chosen.add(id(node))
            self._add(self.selections.short_circuit(node, place))
        else:
            return
        for operand, where in self._operands(node, place):
            self._select(operand, None, where, takes_index)

    def _call(self, node: ir.Call, place: Place, via: Via = "call") -> None:
        dotted = self.analysis.names.dotted(node.func, place.scope)
        is_device = dotted == "torch.device"
        if dotted is not None and dotted.startswith("torch."):
            self.sites += 1
        for arg in node.args:
            if isinstance(arg.value, ir.IfExp | ir.Bool):
                takes_index = is_device or arg.keyword == "device"
                self._select(arg.value, node if is_device else None, place, takes_index)
        self._add(self.apis.call(node, dotted, place, via))
        if node.args:
            self._add(self.devices.in_call(node, dotted, place))
            self._add(self.backends.in_call(node, dotted, place))
            self._add(self.variables.in_call(node, dotted, place))
        if dotted is not None:
            self._add(self.selections.accelerator(node, dotted, place))
        if isinstance(node.func, ir.Attribute):
            self._callee(node.func, place)
        elif not isinstance(node.func, ir.Name):
            self._visit(node.func, place)
        for i, arg in enumerate(node.args):
            self._visit(arg.value, self._given(node, i, place))

    @staticmethod
    def _given(node: ir.Call, index: int, place: Place) -> Place:
        """Where an argument of a call is used."""
        if index == 1 and path_of(node.func) in ("isinstance", "issubclass"):
            return place.within("isinstance")
        arg = node.args[index]
        if isinstance(arg.value, ir.Lambda) and handed_to_workers(arg):
            return place.within(*WORKER)
        return place

    def _callee(self, node: ir.Attribute, place: Place) -> None:
        """Below the called name itself, which the call has dealt with."""
        inner: ir.Expr = node.value
        while isinstance(inner, ir.Attribute):
            inner = inner.value
        if not isinstance(inner, ir.Name):
            self._visit(inner, place)

    def _visit(self, node: ir.Node, place: Place) -> None:
        match node:
            case ir.Const() | ir.Name():
                if isinstance(node, ir.Name):
                    self._add(self.apis.reference(node, place))
            case ir.Call():
                self._call(node, place)
            case ir.Attribute():
                self._add(self.apis.reference(node, place))
                if node.attr == "type":  # torch.device("cuda").type is compared, not used
                    self.devices.cover(node.value)
                self._callee(node, place)
            case ir.Dict():
                for key, value in zip(node.keys, node.values, strict=True):
                    self._add(self.apis.entry(key, value, place))
                for child in ir.children(node):
                    self._visit(child, place)
            case ir.IfExp() | ir.Bool():
                self._select(node, None, place)
                if isinstance(node, ir.IfExp):
                    self._visit(node.test, place.within("condition"))
                for operand, where in self._operands(node, place):
                    self._visit(operand, where)
            case ir.Unary(op="not", operand=operand):
                self._visit(operand, place.within("condition"))
            case ir.Lambda():
                self._defaults(node.params, place, place)
                self._visit(node.body, replace(place, scope=scope_inside(node, place.scope)))
            case ir.Comprehension():
                self._comprehension(node, place)
            case ir.Compare():
                compared = place.within("comparison")
                for child in ir.children(node):
                    self._visit(child, compared)
            case ir.BigLiteral():
                return
            case _:
                for child in ir.children(node):
                    self._visit(child, place)

    def _comprehension(self, node: ir.Comprehension, place: Place) -> None:
        first, *later = node.generators
        self._visit(first.iter, place)
        own = replace(place, scope=scope_inside(node, place.scope))
        for test in (test for generator in node.generators for test in generator.ifs):
            self._visit(test, own.within("condition"))
        for part in (*(g.iter for g in later), node.element, node.value):
            if part is not None:
                self._visit(part, own)

    def _operands(self, node: ir.IfExp | ir.Bool, place: Place) -> Iterator[tuple[ir.Expr, Place]]:
        """The arms of a ternary, or the values of `and`, `or`, under what held before each."""
        if isinstance(node, ir.IfExp):
            for arm, holds in ((node.body, True), (node.orelse, False)):
                yield arm, self._where(node.test, place, holds)
            return
        *tested, last = node.values
        for value in tested:
            yield value, place.within("condition")
            place = self._where(value, place, node.op == "and")
        yield last, place


def _merge(old: tuple[Guard, ...], new: tuple[Guard, ...]) -> tuple[Guard, ...]:
    return (*old, *(g for g in new if g not in old))


def _catches_more(node: ir.Try) -> bool:
    """Whether a handler is for more than imports that fail."""
    for handler in node.handlers:
        caught = handler.type.elements if isinstance(handler.type, ir.Sequence) else (handler.type,)
        names = {path_of(c) if c is not None else "" for c in caught}
        if not names <= {"ImportError", "ModuleNotFoundError"}:
            return True
    return False


def _old_api(handler: ir.Handler) -> tuple[Guard, ...]:
    """`except (AttributeError, TypeError)`: what a torch did that lacked the API tried before."""
    caught = handler.type.elements if isinstance(handler.type, ir.Sequence) else (handler.type,)
    names = {path_of(c) for c in caught if c is not None}
    if names and names <= {"AttributeError", "TypeError"}:
        text = f"except {', '.join(sorted(names))}"
        return (Guard("version", text, (handler.start, handler.start + len("except"))),)
    return ()

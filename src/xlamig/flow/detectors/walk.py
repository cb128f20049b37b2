"""One walk over a module's IR: keeps the surroundings and asks each detector at its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from xlamig import ir
from xlamig.facts import ApiUse, ChangingPath, ContextTags, Fact, Guard, Launch, Package
from xlamig.flow.detectors.call_sites import CallSites
from xlamig.flow.detectors.event_facts import facts_of_events, without_steps
from xlamig.flow.detectors.expressions import Expressions, divisor
from xlamig.flow.detectors.handover import Handovers
from xlamig.flow.detectors.modes import over
from xlamig.flow.detectors.moves_after_optimizers import MovesAfterOptimizers
from xlamig.flow.detectors.narrowing import Narrowing, catches_more, guarded, of_old_api, of_optional_import
from xlamig.flow.detectors.off_imports import OffImports
from xlamig.flow.detectors.parts import RawPart, parts_of
from xlamig.flow.detectors.unpickled import LoadedFiles
from xlamig.flow.interp.interpret import NOTHING_RUN, interpret
from xlamig.flow.interp.module_text import ModuleText
from xlamig.flow.interp.step_parts import WITHOUT_GRADIENTS
from xlamig.flow.interp.visits import NO_VISIT, Visit
from xlamig.flow.model.absolute_imports import absolute
from xlamig.flow.model.callers import Callers
from xlamig.flow.model.regions import CALLED, NO_CONTEXT, Regions
from xlamig.flow.model.scopes import ScopeTable
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.flow.model.sole_callers import SoleCallers

_PROVED = frozenset({"api-use", "device-choice"})
_NOT_INSIDE = frozenset({"loop", "try"})  # of a function that is defined there


class Walk:
    def __init__(
        self,
        module: ir.Module,
        scopes: ScopeTable,
        analysis: Analysis,
        context: ContextTags,
        callers: Callers,
        texts: Mapping[str, ModuleText] = MappingProxyType({}),
        visit: Visit | None = None,
    ) -> None:
        self.module = module
        self.scopes = scopes
        self.analysis = analysis
        self.narrowing = Narrowing(analysis)
        self.call_sites = CallSites(self.narrowing, callers)
        self.regions = Regions(analysis, callers)
        self.interpretation = NOTHING_RUN
        self.visit = visit or NO_VISIT
        if analysis.has_torch or visit is not None:
            self.interpretation = interpret(analysis, scopes, self.regions, texts, self.visit)
        recorder = self.interpretation.recorder
        self.detectors = Expressions(analysis, self.narrowing, scopes.methods, recorder.device_methods)
        self.off_imports = OffImports(module, analysis.text)
        self.loaded_files = LoadedFiles(scopes, analysis, recorder.proofs, self.regions.called_elsewhere)
        self.moves = MovesAfterOptimizers(recorder, analysis.text)
        self._next_block = 0
        # Of each statement around: its block, and the place of what comes next there.
        self._following: list[tuple[ir.Block, int]] = []
        self._loops: list[CodeContext] = []  # the places of the loops around, in the same function
        self.handovers = Handovers(analysis.text)
        self.place = CodeContext(scopes.module, (0, 0), (), context=context)

    def run(self) -> list[Fact]:
        """Return all facts of the module."""
        self._block(self.module.body, self.place)
        self.detectors.add(self.detectors.no_device.absence(self.interpretation.trains, self.visit))
        self.detectors.add(self.detectors.no_device.on_cpu(self.interpretation.trains))
        consumed = self.detectors.apis.consumed
        kept = (f for f in self.detectors.facts if not self.detectors.devices.is_covered(f))
        found = [f for f in kept if not isinstance(f, Launch) or f.via == "choice" or f.span not in consumed]
        sole = SoleCallers(self.scopes.functions(), self.analysis.text, self.regions.called_elsewhere)
        return [self._placed(fact, sole) for fact in found]

    def _placed(self, fact: Fact, sole: SoleCallers) -> Fact:
        """Return a fact with the only callers of its function, and what is proven of a call's operands."""
        fact = self.moves.told(self.call_sites.narrowed(fact, sole))
        told: Mapping[str, str] | None = None
        if isinstance(fact, Package) or (isinstance(fact, ApiUse) and fact.via == "import"):
            told = self.off_imports.proof(fact)
        elif fact.kind in _PROVED:
            told = {**self.interpretation.recorder.proofs.get(fact.span, {}), **self.loaded_files.proof(fact)}
        return replace(fact, proofs={**fact.proofs, **told}) if told else fact

    @property
    def sites(self) -> int:
        """Return how many calls of torch the module makes."""
        return self.detectors.sites

    @property
    def unfollowed(self) -> tuple[str, ...]:
        """Return the functions that calls were not followed into."""
        return tuple(sorted(self.interpretation.unfollowed))

    @property
    def parts(self) -> tuple[RawPart, ...]:
        """Return what the module is made of."""
        return parts_of(self.module, self.scopes.module, self.analysis.names, self.detectors.calls)

    # ------------------------------------------------------------------ blocks

    def _block(self, body: ir.Block, place: CodeContext) -> None:
        """The statements of a block in turn; an early exit guards what comes after it."""
        for i, statement in enumerate(body):
            inside = self.handovers.without(statement, place.at(statement))
            self.call_sites.note(statement, inside)
            after = body[i + 1] if i + 1 < len(body) else None
            self._following.append((body, i + 1))
            recorder, names = self.interpretation.recorder, self.analysis.names
            facts = facts_of_events(recorder, names, inside, statement, self._following)
            self.detectors.add(self._in_test(facts, statement, inside))
            self._statement(statement, inside, after)
            self._following.pop()
            place = self.narrowing.after(statement, place)

    def _in_test(self, facts: Iterable[Fact], node: ir.Stmt, place: CodeContext) -> Iterator[Fact]:
        """Yield the facts of a statement, those inside of `and`, `or` or a ternary under what held before; a
        branch that never runs is no choice, and a loop over parts of a sample has no steps."""
        for fact in facts if not self.regions.is_for_samples(place.scope) else without_steps(facts):
            before = self.narrowing.before(node, fact.span, place)
            if isinstance(node, ir.If) and isinstance(fact, ChangingPath):
                before = (*before, *self.narrowing.guards.of(node.test, place.scope, True))
            new = tuple(guard for guard in before if guard not in fact.guards)
            yield replace(fact, guards=(*fact.guards, *new)) if new else fact

    def _nested(self, body: ir.Block, place: CodeContext, guards: tuple[Guard, ...] = ()) -> None:
        if not body:
            return
        # Numbered as in ScopeTable, which walks the blocks in the same order.
        self._next_block += 1
        self._block(body, guarded(place, guards).below((*place.block, self._next_block)))

    # ------------------------------------------------------------------ statements

    def _statement(self, node: ir.Stmt, place: CodeContext, after: ir.Stmt | None) -> None:
        match node:
            case ir.Assign() | ir.AnnAssign():
                self._assignment(node, place)
            case ir.AugAssign() | ir.Delete():
                self.detectors.add(self.detectors.variables.changed(node, place))
                divides = isinstance(node, ir.AugAssign) and node.op in ("/=", "//=", "%=", "/", "//", "%")
                for child in ir.children(node):
                    self.detectors.visit(child, divisor(child, place) if divides else place)
            case ir.Import() | ir.ImportFrom():
                self._import(node, place)
            case ir.FunctionDef():
                self._function(node, place)
            case ir.ClassDef():
                self._class(node, place)
            case ir.If():
                self._if(node, place, after)
            case ir.For():
                self.handovers.note(node.body)
                self.detectors.visit(node.iter, place)
                self._loop(node, place, self.narrowing.rounds(node, place))
            case ir.While():
                self.detectors.visit(node.test, place.within("condition"))
                self._loop(node, place, self.narrowing.guards.of(node.test, place.scope, True))
            case ir.With():
                self._with(node, place)
            case ir.Try():
                self._try(node, place)
            case ir.Match():
                self.detectors.visit(node.subject, place)
                for case in node.cases:
                    if case.guard is not None:
                        self.detectors.visit(case.guard, place.within("condition"))
                    self._nested(case.body, place)
            case ir.Assert():
                self.detectors.add(self.detectors.branches.demand(node, place))
                self.detectors.add(self.detectors.cuda_required.asserted(node, place))
                self.detectors.visit(node.test, place.within("comparison", "condition"))
                if node.message is not None:
                    self.detectors.visit(node.message, place.within("message"))
            case ir.Raise():
                raised = place.within("message")
                for child in ir.children(node):
                    self.detectors.visit(child, raised)
            case _:
                for child in ir.children(node):
                    self.detectors.visit(child, place)

    def _loop(self, node: ir.For | ir.While, place: CodeContext, guards: tuple[Guard, ...]) -> None:
        words = self.regions.of_loop(node.body, place.scope) | self._every_step(node)
        inside = replace(place.within("loop", *words), frequency="step" if words else place.frequency)
        self._loops.append(place)
        self._nested(node.body, inside, guards)
        self._loops.pop()
        self._nested(node.orelse, place)

    def _every_step(self, node: ir.FunctionDef | ir.For | ir.While) -> ContextTags:
        return CALLED if node.start in self.interpretation.per_step else NO_CONTEXT

    def _assignment(self, node: ir.Assign | ir.AnnAssign, place: CodeContext) -> None:
        targets = node.targets if isinstance(node, ir.Assign) else (node.target,)
        value = node.value
        if value is not None:
            self.detectors.select(value, None, place)
        for target in targets:
            if value is not None:
                self.detectors.add(self.detectors.devices.in_assignment(target, value, place))
                self.detectors.add(self.detectors.flags.in_assignment(target, value, place))
                self.detectors.add(self.detectors.backends.in_assignment(target, value, place))
            self.detectors.add(self.detectors.variables.assigned(target, value, place))
            if value is not None and isinstance(target, ir.Subscript):
                self.detectors.add(self.detectors.apis.entry(target.index[0], value, place))
            if isinstance(target, ir.Attribute):
                self.detectors.add(self.detectors.apis.reference(target, place, "assignment"))
            elif not isinstance(target, ir.Name):
                self.detectors.visit(target, place)
        if value is not None:
            self.detectors.add(self.detectors.apis.default(node, place))
            self.detectors.visit(value, place.within("assigned"))

    def _import(self, node: ir.Import | ir.ImportFrom, place: CodeContext) -> None:
        base = ""
        if isinstance(node, ir.ImportFrom):
            base = absolute(self.scopes.module_name, self.scopes.is_package, node)
        for alias in node.names:
            dotted = f"{base}.{alias.name}" if base else alias.name
            if alias.name != "*":
                self.detectors.add(self.detectors.apis.imported(dotted, alias, place))
        if isinstance(node, ir.Import) or not node.level:
            names = [base if a.name == "*" else f"{base}.{a.name}" if base else a.name for a in node.names]
            self.detectors.add(self.detectors.packages.imported(names, node, place))

    def _function(self, node: ir.FunctionDef, place: CodeContext) -> None:
        inner, under = self.scopes.of(node), place
        for decorator in node.decorators:
            self.detectors.decorator(
                decorator, over(decorator, node.body, place, self.scopes.of(node), self.analysis.names)
            )
            under = self.narrowing.decorated(decorator, under)
            called = decorator.func if isinstance(decorator, ir.Call) else decorator
            if self.analysis.names.dotted(called, place.scope) in WITHOUT_GRADIENTS:
                under = under.within("no-grad")
        defaults = replace(place, scope=inner, context=place.context | {"default-argument"})
        self.detectors.defaults(node.params, defaults, place)
        context = under.context - _NOT_INSIDE | self.regions.of_function(node, place.scope)
        context |= self._every_step(node)
        if self.handovers.enter(node):
            context |= {"handover"}
        inside = CodeContext(inner, place.statement, (), under.guards, context, "unknown", under.reasons)
        if "per-step" in context:
            inside = replace(inside, frequency=under.frequency if "per-step" in under.context else "step")
        around, self._following, self._loops = (self._following, self._loops), [], []
        self._block(node.body, inside)
        self._following, self._loops = around
        self.handovers.leave()

    def _class(self, node: ir.ClassDef, place: CodeContext) -> None:
        for decorator in node.decorators:
            self.detectors.decorator(decorator, place)
        for arg in node.args:
            self.detectors.visit(arg.value, place)
        self._block(node.body, replace(place, scope=self.scopes.of(node), block=()))

    def _if(self, node: ir.If, place: CodeContext, after: ir.Stmt | None) -> None:
        self.detectors.add(self.detectors.selections.statement(node, place))
        self.detectors.add(self.detectors.flags.in_branches(node, place))
        self.detectors.add(self.detectors.branches.statement(node, after, place))
        self.detectors.add(self.detectors.branches.choice(node, place))
        self.detectors.add(self.detectors.gpu_counts.statement(node, place))
        self.detectors.add(self.detectors.half.statement(node, place))
        self.detectors.add(self.detectors.cuda_required.statement(node, after, place))
        self.detectors.visit(node.test, self.narrowing.test(node, place))
        for body, holds in ((node.body, True), (node.orelse, False)):
            inside = self.narrowing.leaving(body, self.narrowing.branch(node, place, holds), self._loops)
            self.off_imports.note(inside.guards, body)
            self._nested(body, inside)

    def _with(self, node: ir.With, place: CodeContext) -> None:
        context = place.context
        for item in node.items:
            if isinstance(item.value, ir.Call):
                inside = over(item.value, node.body, place, place.scope, self.analysis.names)
                self.detectors.call(item.value, inside, "with")
                if self.analysis.names.dotted(item.value.func, place.scope) in WITHOUT_GRADIENTS:
                    context |= {"no-grad"}
            else:
                self.detectors.visit(item.value, place)
        self._block(node.body, replace(place, context=context))

    def _try(self, node: ir.Try, place: CodeContext) -> None:
        optional = of_optional_import(node)
        self._nested(node.body, place.within("try") if catches_more(node) else place, optional)
        for handler in node.handlers:
            for caught in handler.type.elements if isinstance(handler.type, ir.Sequence) else [handler.type]:
                if caught is not None:
                    self.detectors.add(self.detectors.apis.reference(caught, place, "except"))
            self._nested(handler.body, place, of_old_api(handler))
        self._nested(node.orelse, place, optional)
        self._block(node.final, place)

"""Statements: what running each kind of them does."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.call_contexts import CallContexts
from xlamig.flow.interp.correlated import remember
from xlamig.flow.interp.decisions import are_ends_alike, is_copy_to_host
from xlamig.flow.interp.definitions import Definitions
from xlamig.flow.interp.domain import FOREIGN, NONE, NUMBER, TOP, Mark, join_branches
from xlamig.flow.interp.evaluate import Evaluator
from xlamig.flow.interp.frames import Env, copy_env, join_env
from xlamig.flow.interp.growth import record_returned_growth
from xlamig.flow.interp.keywords import delete
from xlamig.flow.interp.lengths import greater_by_test, rounds_up
from xlamig.flow.interp.let_through import appended
from xlamig.flow.interp.loops import Loops
from xlamig.flow.interp.missing_methods import without_method
from xlamig.flow.interp.offloading import offloads
from xlamig.flow.interp.one_rank import called_by_both
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.semantics import Leaves
from xlamig.flow.interp.setting import Setting
from xlamig.flow.interp.state import State
from xlamig.flow.interp.updates_by_hand import note_descent
from xlamig.flow.model.effects import Effect, Effects
from xlamig.flow.model.exits import ends_program
from xlamig.flow.model.guards import NAMES_XLA, Guards
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.seldom_branches import is_seldom, skips_update, warns
from xlamig.knowledge import values as table


class Statements:
    def __init__(
        self,
        state: State,
        evaluator: Evaluator,
        definitions: Definitions,
        loops: Loops,
        entry: CallContexts,
        reads: Reads,
    ) -> None:
        self.m = state
        self.evaluator, self.definitions, self.loops = evaluator, definitions, loops
        self.call_contexts, self.reads = entry, reads
        self.guards = Guards(state.analysis)
        self._for_xla: dict[int, bool] = {}  # by the identity of the test

    def run(self, node: ir.Stmt) -> Leaves:
        """Runs a statement; whether what follows it in its block is not reached."""
        match node:
            case ir.If():
                return self._if(node)
            case ir.For():
                self.loops.run_for(node)
            case ir.While():
                self.loops.run_while(node)
            case ir.With():
                return self._with(node)
            case ir.Try():
                return self._try(node)
            case ir.Match():
                return self._match(node)
            case ir.FunctionDef():
                self.definitions.function_of(node)
            case ir.ClassDef():
                self.definitions.class_of(node)
            case _:
                return self._simple(node)
        return False

    def _simple(self, node: ir.Stmt) -> Leaves:
        note_descent(self.m, node)
        match node:
            case ir.ExprStmt(value=value):
                self.m.semantics.evaluate(value)
            case ir.Assign(targets=targets, value=value):
                thing = self.m.semantics.evaluate(value)
                for target in targets:
                    self.m.semantics.assign(target, thing, value)
            case ir.AugAssign():
                self.evaluator.operators.augmented(node)
            case ir.AnnAssign(target=target, annotation=annotation, value=value):
                if value is not None:
                    thing = self.m.semantics.evaluate(value)
                    if thing.kind == "unknown" and not thing.place:
                        name = path_of(target).rpartition(".")[2]
                        thing = self.call_contexts.promised(name, annotation) or thing
                        if thing.kind == "module" and _makes(value):  # and nothing moved it yet
                            thing = thing.replace(place="either")
                    self.m.semantics.assign(target, thing, value)
                elif isinstance(target, ir.Name):
                    self.m.env.setdefault(target.id, self.call_contexts.annotated(annotation) or TOP)
            case ir.Return(value=value):
                thing = self.m.semantics.evaluate(value) if value is not None else NONE
                record_returned_growth(self.m, thing)
                before = self.m.frame.returned
                self.m.frame.returned = thing if before is None else join_branches(before, thing)
                return True
            case ir.Raise(value=value):
                if value is not None:
                    with self.m.once(message=True):
                        self.m.semantics.evaluate(value)
                return True
            case ir.Assert(test=test, message=message):
                self.m.semantics.test(test, "assert")
                if message is not None:
                    with self.m.branch() as way, self.m.once(message=True):
                        self.m.semantics.evaluate(message)
                    self.m.join_effects(way, Effects())
                return isinstance(test, ir.Const) and not test.value
            case ir.Jump(kind=kind) if kind != "pass":
                if self.m.loops:
                    ended = self.m.loops[-1].left if kind == "break" else self.m.loops[-1].again
                    ended.append(copy_env(self.m.env))
                return True
            case ir.Import(names=names) | ir.ImportFrom(names=names):
                self.definitions.imported(names)
            case ir.Delete(targets=targets):
                delete(self.m, targets)
        return False

    def _if(self, node: ir.If) -> Leaves:
        holds = self.evaluator.tests.outcome(node)
        waits, loop = self.m.wait_count, self.m.loops[-1].node if self.m.loops else None
        tested = self.m.semantics.test(node.test, "if")
        if holds is not None:
            return self.m.semantics.block(node.body if holds else node.orelse)
        before = self.m.env  # each branch gets a copy
        waited, ways, ends = self.m.wait_count > waits, list[Effects](), list[Env | None]()
        for body, taken in ((node.body, True), (node.orelse, False)):
            self.m.frame.env = copy_env(before)
            kept = self.evaluator.tests.narrow(node.test, taken)
            often = self.m.once() if self._ends(body) else self.m.lowers_frequency(node.test, taken)
            skips = waited and skips_update(node, body, loop)
            reports = taken and tested.kind == "tensor" and warns(node)
            if skips or reports or is_seldom(node, body, self.m.frame.scope):
                often = self.m.sometimes()
            arms, self.m.taken_branches = self.m.taken_branches, {**self.m.taken_branches, node.start: taken}
            rank = self.m.on_one_rank(node.test, taken)
            shared = called_by_both(node) if rank.value else self.m.on_all_ranks
            off, ranks = self.evaluator.tests.off(node.test, taken), Setting(self.m, "on_all_ranks", shared)
            with self.m.branch() as way, often, self.m.leaving(body), rank, kept, off, ranks:
                ends.append(None if self.m.semantics.block(body) else self.m.env)
            self.m.taken_branches = arms
            ways.append(way)
        copied = self._copied_from_gpu(node, ends)
        if copied or self._asks_for_xla(node.test):
            self.m.effects.update(ways[0])  # where it matters the branch is taken
        self.m.statement = node
        if tested.cause == "random":
            acts = any(map(_works, ways)) or any(end is not None and _picks(end, before) for end in ends)
            if acts or None in ends:
                self.reads.branched(node.test, tested, leaves=not acts, alike=are_ends_alike(node, ends))
        self._join_ways(node, ways)
        self.m.frame.env = before
        if ends == [None, None]:
            return True
        here, there = self.evaluator.tests.reached(node.test, *ends)
        if here is not None and there is not None:
            self.evaluator.tests.defaulted(node.test, here, there)
        self.m.frame.env = {**join_env(here, there), **copied, **self._lengths(node, ends)}
        self.m.frame.env |= appended(self.m, node, tested, before, ends, self.m.env)
        if here is not None and there is not None:
            remember(self.m, node, before, (here, there))
        return False

    def _copied_from_gpu(self, node: ir.If, ends: list[Env | None]) -> Env:
        """Return what is on the host after `if args.use_gpu: y = y.cpu()`: without a device it always was."""
        taken, other = ends
        if node.orelse or taken is None or other is None or not self.evaluator.tests.is_gpu_flag(node.test):
            return {}
        return {
            name: value
            for name, value in taken.items()
            if name in other and is_copy_to_host(value, other[name])
        }

    def _lengths(self, node: ir.If, ends: list[Env | None]) -> Env:
        """Return the length that `if len(s) > n: n = len(s)` leaves, and the multiple it is rounded to."""
        taken = ends[0] or {}
        rounded = rounds_up(node)
        if rounded in taken and not taken[rounded].cause:
            return {rounded: taken[rounded]}
        greater = greater_by_test(node)
        if greater is None or greater[0] not in taken:
            return {}
        name, value = greater
        longest = self.loops.sizes.running([taken[name], NUMBER], value)
        return {name: longest} if longest is not None else {}

    def _join_ways(self, node: ir.If, ways: list[Effects]) -> None:
        """Add the effects of both branches; what happens where the program does not end happens always."""
        ends = [self._ends(body) for body in (node.body, node.orelse)]
        lives = [way for way, over in zip(ways, ends, strict=True) if not over]
        self.m.join_effects(*(lives or ways))
        for way, over in zip(ways, ends, strict=True):
            if over and lives:
                self.m.join_effects(way, Effects())

    def _ends(self, block: ir.Block) -> bool:
        return ends_program(block, scope=self.m.frame.scope)

    def _asks_for_xla(self, test: ir.Expr) -> bool:
        known = self._for_xla.get(id(test))
        if known is None:
            named = isinstance(test, ir.Name | ir.Attribute | ir.Call) and NAMES_XLA.search(
                self.m.source(test)
            )
            guards = () if named else self.guards.of(test, self.m.frame.scope, True)
            known = bool(named) or any(guard.kind == "xla" for guard in guards)
            self._for_xla[id(test)] = known
        return known

    def _match(self, node: ir.Match) -> Leaves:
        self.m.semantics.evaluate(node.subject)
        before, ends, ways = copy_env(self.m.env), [copy_env(self.m.env)], [Effects()]
        for case in node.cases:
            self.m.frame.env = copy_env(before)
            self.m.env.update(dict.fromkeys(case.captures, TOP))
            if case.guard is not None:
                self.m.semantics.test(case.guard, "if")
            with self.m.branch() as way:
                if not self.m.semantics.block(case.body):
                    ends.append(self.m.env)
            ways.append(way)
        self.m.join_effects(*ways)
        env = ends[0]
        for end in ends[1:]:
            env = join_env(env, end)
        self.m.frame.env = env
        return False

    def _with(self, node: ir.With) -> Leaves:
        ends_step = False
        place, offload = self.m.default_place, self.m.offloads
        for item in node.items:
            thing = self.m.semantics.evaluate(item.value)
            offload = offload or offloads(self.m, item.value)
            ends_step = ends_step or thing.trait is Mark.STEP
            if thing.kind == "device" and thing.trait is Mark.MADE:
                self.m.default_place = "host" if thing.place == "host" else "device"
            if item.target is not None:
                self.m.semantics.assign(item.target, thing, item.value)
        with Setting(self.m, "offloads", offload):
            leaves = self.m.semantics.block(node.body)
        self.m.default_place = place
        if ends_step:
            self.m.effects.add(Effect.SYNC)
            self.m.synced = True
        return leaves

    def _try(self, node: ir.Try) -> Leaves:
        before = copy_env(self.m.env)
        leaves = self.m.semantics.block(node.body)
        after = None if leaves else self.m.env
        if after is not None and node.orelse:
            leaves = self.m.semantics.block(node.orelse)
            after = None if leaves else self.m.env
        ends, ways = [after], [Effects()]
        for handler in node.handlers:
            self.m.frame.env = copy_env(join_env(before, after))
            if handler.name:
                self.m.env[handler.name] = TOP
            lacking = without_method(node, handler)
            held = self.m.env.get(lacking)
            if held is not None:
                self.m.env[lacking] = FOREIGN
            with self.m.branch() as way, self.m.sometimes():
                ends.append(None if self.m.semantics.block(handler.body) else self.m.env)
            if held is not None and self.m.env.get(lacking) is FOREIGN:
                self.m.env[lacking] = held
            ways.append(way)
        self.m.join_effects(*ways)
        alive = [env for env in ends if env is not None]
        env = alive[0] if alive else before
        for other in alive[1:]:
            env = join_env(env, other)
        self.m.frame.env = env
        ended = self.m.semantics.block(node.final)
        return ended or not alive


def _makes(value: ir.Expr) -> bool:
    """Return whether a call makes an object by its settings: `instantiate(cfg.model)`."""
    name = path_of(value.func).rpartition(".")[2] if isinstance(value, ir.Call) else ""
    return table.name_like("makes").search(name) is not None


def _works(effects: Effects) -> bool:
    return effects.happens(Effect.WORK)


def _picks(end: Env, before: Env) -> bool:
    """Return whether a branch gives a name another tensor of the device."""
    tensors = ((name, t) for name, t in end.items() if t.kind == "tensor" and t.place != "host")
    return any(before.get(name) is not thing for name, thing in tensors)

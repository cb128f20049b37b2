"""Loops: run twice, classified by the work of their iterations."""

from __future__ import annotations

from collections.abc import Callable

from xlamig import ir
from xlamig.facts import ChangingPath, DynamicShape, Why
from xlamig.flow.interp.carried_names import names_in
from xlamig.flow.interp.correlated import carried
from xlamig.flow.interp.domain import (
    LIKELY,
    POSSIBLE,
    TOP,
    AbstractValue,
    Mark,
    batch_of,
    over,
)
from xlamig.flow.interp.frames import STEPS, Env, Loop, copy_env, join_env
from xlamig.flow.interp.generators import end_steps
from xlamig.flow.interp.last_batches import record_last_batches
from xlamig.flow.interp.last_slices import note_last_slice, record_last_slice
from xlamig.flow.interp.loop_kinds import LoopKinds, runs_graph, trains
from xlamig.flow.interp.loop_values import LoopValues
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.named_attributes import names_of
from xlamig.flow.interp.offloading import replaced_values
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.setting import Setting
from xlamig.flow.interp.sizes import Sizes
from xlamig.flow.interp.state import State
from xlamig.flow.interp.step_boundaries import ABSORBED, record_boundary
from xlamig.flow.interp.step_parts import note_part_of_training
from xlamig.flow.model.effects import Effect, Effects


class Loops:
    def __init__(self, state: State, reads: Reads, sizes: Sizes, moves: Moves) -> None:
        self.m = state
        self.reads, self.sizes, self.moves = reads, sizes, moves
        self.kinds, self.values = LoopKinds(state), LoopValues(state)

    def run_for(self, node: ir.For) -> None:
        """Run a `for` loop."""
        iterable = self.m.semantics.evaluate(node.iter)
        if names := names_of(node, iterable):
            for name in names:
                self.m.semantics.assign(node.target, name, None)
                self.m.semantics.block(node.body)
            self.m.semantics.block(node.orelse)
            return

        def bind(loop: Loop) -> None:
            self.m.semantics.assign(node.target, self._element(node, iterable, loop), None)

        self._loop(node, iterable, bind)
        if isinstance(node.target, ir.Sequence) and id(node) in self.values.cut:
            self.reads.rows(node.iter, iterable)

    def run_while(self, node: ir.While) -> None:
        """Run a `while` loop."""

        def test(loop: Loop) -> None:
            loop.test = self.m.semantics.test(node.test, "while")

        self._loop(node, TOP, test)

    def _element(self, node: ir.For, iterable: AbstractValue, loop: Loop) -> AbstractValue:
        """Return the value of the loop's target in an iteration; a counter changes as often as the graph
        runs."""
        element = self.m.semantics.iterate(iterable)
        if loop.kind in ("training", "evaluation"):
            element = batch_of(element)
        return self.values.counted(element, loop)

    def _loop(self, node: ir.For | ir.While, iterable: AbstractValue, start: Callable[[Loop], None]) -> None:
        m = self.m
        before = copy_env(m.env)
        brief, m.first_pass = m.first_pass, True
        loads = iterable.kind in ("loader", "dataset")
        whole = over(iterable, whole=True)
        loop = Loop(node, over=whole, loads=loads, taken=[iterable], base=m.base, outside=m.frequency)
        loop.follows = bool(m.loops) and Effect.MODEL_CALL in m.effects.must
        with m.branch() as effects:
            first = self._iteration(loop, start)
        m.first_pass = brief
        loop.kind = self.kinds.of(node, iterable, effects, before, first)
        loop.rolls = self.kinds.rolls(loop, iterable, effects)
        loop.works = effects.happens(Effect.WORK)
        loop.moves = effects.happens(Effect.TRANSFER)
        if runs_graph(effects):
            self.values.cut.add(id(node))
        if not brief:
            loop.left.clear()
            loop.again.clear()
            loop.skips = None
            m.frame.env = self.values.entry(before, first, loop)
            heads = copy_env(m.env)
            statement, frequency, seldom = m.statement, m.frequency, m.seldom
            m.frequency, m.seldom = self.kinds.frequency(loop), m.seldom and loop.kind not in STEPS
            if m.frequency == "step" and (loop.kind != "training" or trains(effects)):
                m.step_loops |= {node.start}
            m.loops.append(loop)
            with m.branch() as effects, carried(m, loop, before, first):
                m.statement = node
                last = self._iteration(loop, start, inside=True)
                growing = self.values.growing(heads, last, loop)
                if growing and self.values.runs_graph(loop):  # what is computed from its length changes too
                    m.frame.env = {**heads, **growing}
                    m.statement = node
                    with m.branch():  # what it does was seen in the round before
                        last = self._iteration(loop, start, inside=True)
            m.loops.pop()
            m.statement = node
            end_steps(m, loop, effects)
            note_part_of_training(m, loop, effects)
            if loop.kind in STEPS or self.kinds.is_inner_step(loop, iterable, effects):
                record_boundary(m, loop, effects, iterable)
            record_last_batches(m, loop)
            if loop.kind in ("training", "evaluation"):
                record_last_slice(m, loop)
            note_last_slice(m, loop)
            if trains(effects):
                self.moves.departures.end(loop)
            if trains(effects) or loop.kind == "epoch":
                m.waiting = False  # next to many steps, what the last one has queued takes no time
            m.statement, m.frequency, m.seldom = statement, frequency, seldom
            first = last
        m.frame.env = {**join_env(before, first), **replaced_values(loop, first)}
        for env in loop.left:
            m.frame.env = join_env(m.env, env)
        if loop.kind in ("plain", "graph-breaking", "decoding"):
            m.frame.env.update(self.sizes.collected(loop, iterable, before))
        self._merge_effects(effects, loop, iterable)
        m.semantics.block(node.orelse)

    def _iteration(self, loop: Loop, start: Callable[[Loop], None], inside: bool = False) -> Env:
        m = self.m
        if not inside:
            m.loops.append(loop)
        m.iteration_sources.append(loop.over)
        m.batches += m.frame.yields
        loop.works_before = m.device_op_count
        start(loop)
        with Setting(m.frame, "choices", dict(m.frame.choices)):  # each iteration makes its own
            leaves = m.semantics.block(loop.node.body)
            loop.choices = m.frame.choices
        m.batches -= m.frame.yields
        m.iteration_sources.pop()
        if not inside:
            m.loops.pop()
        ends = [*loop.again, *([] if leaves else [m.env])]
        env = ends[0] if ends else copy_env(m.env)
        for end in ends[1:]:
            env = join_env(env, end)
        return env

    # ------------------------------------------------------------------ kinds

    def _merge_effects(self, effects: Effects, loop: Loop, iterable: AbstractValue) -> None:
        """Add the loop's effects to those around it; its own steps do not make that a step."""
        if loop.kind in STEPS:
            self.m.effects.update(effects.without(ABSORBED))
            self.m.effects.add(Effect.STEP_LOOP)
        else:
            # A sync in every iteration of a loop inside a step is one boundary of the step, by choice.
            if loop.kind != "epoch" and Effect.SYNC in effects.must:
                effects.remove(Effect.SYNC)
                effects.add(Effect.SYNC_INSIDE)
            self.m.effects.update(effects)
            if (
                effects.happens(Effect.SELECT)
                and loop.kind in ("graph-breaking", "plain")
                and self._calls_experts(loop, iterable, effects)
            ):
                self._experts(loop)
            if isinstance(loop.node, ir.For) and effects.happens(Effect.WORK):
                self._record_iterations(loop.node, iterable)

    # ------------------------------------------------------------------ experts

    def _calls_experts(self, loop: Loop, iterable: AbstractValue, effects: Effects) -> bool:
        if isinstance(loop.node, ir.While) or iterable.kind not in ("sequence", "module"):
            return False  # over batches, files, tokens
        if iterable.trait is Mark.RANGE and not _picks_expert(loop.node, self.m.source(loop.node)):
            return False  # over the positions of a sequence
        return effects.happens(Effect.MODEL_CALL) or Effect.ADD_ROWS in effects.must

    def _experts(self, loop: Loop) -> None:
        """A loop over experts, each of which gets the rows that a mask picks."""
        node = loop.node
        head = self.m.analysis.text[node.start : node.iter.end] if isinstance(node, ir.For) else ""
        sure = LIKELY if "expert" in head.lower() else POSSIBLE
        self.m.record(DynamicShape, node, sure, (), at=node, via="experts", operation="for")

    # ------------------------------------------------------------------ iterations

    def _record_iterations(self, node: ir.For, iterable: AbstractValue) -> None:
        """How often the loop runs may differ between steps."""
        active = not iterable.loop or any(loop.id == iterable.loop for loop in self.m.loops)
        if iterable.kind != "sequence" or not iterable.cause or not active or self.m.frequency != "step":
            return
        why = Why("this sets the number of iterations", (node.iter.start, node.iter.end))
        self.m.record(
            ChangingPath,
            node.iter,
            min(iterable.sure, LIKELY),
            (*iterable.why, why),
            at=node,
            via="rounds",
            cause=iterable.cause,
        )


def _picks_expert(loop: ir.For, text: str) -> bool:
    """Return whether a loop over numbers is about experts by its words, or calls the module of each number:
    `self.layers[i](x[chosen == i])`."""
    calls = (node.func for node in ir.walk(loop) if isinstance(node, ir.Call))
    picked = (func.index for func in calls if isinstance(func, ir.Subscript))
    return "expert" in text.lower() or any(names_in(loop.target) & names_in(i[0]) for i in picked)

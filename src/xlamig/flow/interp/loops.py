"""Loops: run twice, classified by the work of their iterations."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xlamig import ir
from xlamig.facts import ChangingPath, DynamicShape, StepBoundary, Why
from xlamig.findings import Frequency
from xlamig.flow.interp.domain import (
    LIKELY,
    MISSING,
    POSSIBLE,
    TOP,
    AbstractValue,
    Carried,
    Cause,
    Grown,
    Mark,
    Trait,
    batch_of,
    element_of,
    join,
    join_all,
    over,
    tensors_in,
)
from xlamig.flow.interp.events import FREQUENCIES
from xlamig.flow.interp.frames import STEPS, Env, Loop, LoopKind, copy_env, join_env
from xlamig.flow.interp.growth import record_growth
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.sizes import Sizes
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect, Effects

_CAUSES: Mapping[str, Cause] = {
    "training": "step-counter",
    "evaluation": "step-counter",
    "decoding": "position",
}
_FEW = 4
_ABSORBED = frozenset(
    {Effect.BACKWARD, Effect.OPTIMIZER_STEP, Effect.XLA_OPTIMIZER_STEP, Effect.ZERO_GRAD, Effect.BATCH}
    | {Effect.MODEL_CALL, Effect.SYNC, Effect.READ, Effect.POSSIBLE_READ}
)
"""The effects of a step that a loop of steps does not pass on to what is around it."""
_OPTIMIZER_STEPS = (Effect.OPTIMIZER_STEP, Effect.XLA_OPTIMIZER_STEP)
_TRAINS = (Effect.BACKWARD, Effect.MODEL_CALL, Effect.ZERO_GRAD, Effect.BATCH)


def runs_graph(effects: Effects) -> bool:
    """Return whether XLA runs a graph on every path: for a host read, or at the end of a step."""
    return not effects.must.isdisjoint((Effect.READ, Effect.SYNC))


class Loops:
    def __init__(self, state: State, reads: Reads, sizes: Sizes) -> None:
        self.m = state
        self.reads, self.sizes = reads, sizes
        self._cut: set[int] = set()  # loops that run the graph in every iteration

    def run_for(self, node: ir.For) -> None:
        iterable = self.m.semantics.evaluate(node.iter)

        def bind(loop: Loop) -> None:
            self.m.semantics.assign(node.target, self._element(node, iterable, loop), None)

        self._loop(node, iterable, bind)
        if isinstance(node.target, ir.Sequence) and id(node) in self._cut:
            self.reads.rows(node.iter, iterable)

    def run_while(self, node: ir.While) -> None:
        def test(loop: Loop) -> None:
            loop.test = self.m.semantics.test(node.test, "while")

        self._loop(node, TOP, test)

    def _element(self, node: ir.For, iterable: AbstractValue, loop: Loop) -> AbstractValue:
        """Return the value of the loop's target in an iteration; a counter changes as often as the graph
        runs."""
        element = self.m.semantics.iterate(iterable)
        if loop.kind in ("training", "evaluation"):
            element = batch_of(element)
        return self._counted(element, loop)

    def _counted(self, thing: AbstractValue, loop: Loop) -> AbstractValue:
        if thing.kind == "sequence" and thing.items:
            return thing.replace(items=tuple(self._counted(item, loop) for item in thing.items))
        if thing.trait is not Mark.COUNTER:
            return thing
        if self.m.first_pass:  # the loop's kind is not known yet
            return thing.replace(loop=loop.id)
        cause = _CAUSES.get(loop.kind, "")
        if cause and not self._runs_graph(loop):
            return thing.replace(cause=cause, loop=loop.id, trait=None, sure=POSSIBLE)
        return thing.replace(cause=cause or thing.cause, loop=loop.id if cause else thing.loop, trait=None)

    def _runs_graph(self, loop: Loop) -> bool:
        """Return whether something runs the graph in every iteration: a step, or a host read."""
        return loop.kind == "training" or id(loop.node) in self._cut

    def _loop(self, node: ir.For | ir.While, iterable: AbstractValue, start: Callable[[Loop], None]) -> None:
        m = self.m
        before = copy_env(m.env)
        brief, m.first_pass = m.first_pass, True
        loop = Loop(node, over=over(iterable, whole=True), base=m.base)
        with m.branch() as effects:
            first = self._round(loop, start)
        m.first_pass = brief
        loop.kind = self._kind(node, iterable, effects, before, first)
        if runs_graph(effects):
            self._cut.add(id(node))
        if not brief:
            loop.left.clear()
            loop.again.clear()
            m.frame.env = self._loop_entry_env(before, first, loop)
            heads = copy_env(m.env)
            statement, frequency = m.statement, m.frequency
            m.frequency = self._frequency(loop)
            m.loops.append(loop)
            with m.branch() as effects:
                m.statement = node
                last = self._round(loop, start, inside=True)
                growing = self._growing_values(heads, last, loop)
                if growing and self._runs_graph(loop):  # what is computed from its length changes too
                    m.frame.env = {**heads, **growing}
                    m.statement = node
                    with m.branch():  # what it does was seen in the round before
                        last = self._round(loop, start, inside=True)
            m.loops.pop()
            m.statement = node
            if loop.kind in STEPS:
                self._boundary(loop, effects, iterable)
            m.statement, m.frequency = statement, frequency
            first = last
        m.frame.env = join_env(before, first)
        for env in loop.left:
            m.frame.env = join_env(m.env, env)
        if loop.kind in ("plain", "graph-breaking", "decoding"):
            m.frame.env.update(self.sizes.collected(loop, iterable, before))
        self._merge_effects(effects, loop, iterable)
        m.semantics.block(node.orelse)

    def _round(self, loop: Loop, start: Callable[[Loop], None], inside: bool = False) -> Env:
        m = self.m
        if not inside:
            m.loops.append(loop)
        m.iteration_sources.append(loop.over)
        m.batches += m.frame.yields
        start(loop)
        leaves = m.semantics.block(loop.node.body)
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

    def _kind(
        self, node: ir.For | ir.While, iterable: AbstractValue, effects: Effects, before: Env, after: Env
    ) -> LoopKind:
        per_step = self.m.frequency in ("step", "interval")
        if self._few_rounds(node):
            return "graph-breaking" if runs_graph(effects) else "plain"
        if effects.happens(*_OPTIMIZER_STEPS) and effects.happens(*_TRAINS):
            return "training"
        if effects.happens(Effect.BACKWARD):
            return "accumulation" if per_step or self.m.loops else "training"
        if effects.happens(Effect.STEP_LOOP):
            return "epoch"
        if (
            Effect.MODEL_CALL in effects.must
            and self.m.frequency != "step"
            and not self.m.forwards
            and not self._over_modules(iterable)
        ):
            return self._kind_of_inference(iterable, effects, before, after)
        return "graph-breaking" if runs_graph(effects) else "plain"

    def _kind_of_inference(
        self, iterable: AbstractValue, effects: Effects, before: Env, after: Env
    ) -> LoopKind:
        if iterable.kind in ("loader", "dataset") or Effect.BATCH in effects.must:
            return "evaluation"
        carried = any(
            thing.kind == "tensor" and name in before and before[name].key() != thing.key()
            for name, thing in after.items()
        )
        fed_back = any(
            thing.kind == "tensor" and name in before and thing is not before[name]
            for name, thing in after.items()
        )
        return "decoding" if carried or fed_back else "evaluation"

    def _over_modules(self, iterable: AbstractValue) -> bool:
        element = self.m.semantics.iterate(iterable)
        parts = element.items if element.kind == "sequence" and element.items else (element,)
        return any(part.kind == "module" for part in parts)

    def _frequency(self, loop: Loop) -> Frequency:
        now = self.m.frequency
        if loop.kind in STEPS or loop.kind == "accumulation":
            return "step" if now != "interval" else now
        if loop.kind == "epoch" and FREQUENCIES.index(now) < FREQUENCIES.index("epoch"):
            return "epoch"
        return now

    def _merge_effects(self, effects: Effects, loop: Loop, iterable: AbstractValue) -> None:
        """Add the loop's effects to those around it; its own steps do not make that a step."""
        if loop.kind in STEPS:
            self.m.effects.update(effects.without(_ABSORBED))
            self.m.effects.add(Effect.STEP_LOOP)
        else:
            # A sync in every iteration of a loop inside a step is one boundary of the step, by choice.
            if loop.kind != "epoch" and Effect.SYNC in effects.must:
                effects.must.remove(Effect.SYNC)
                effects.repeated.discard(Effect.SYNC)
                effects.add(Effect.SYNC_INSIDE)
            self.m.effects.update(effects)
            if (
                effects.happens(Effect.SELECT)
                and loop.kind in ("graph-breaking", "plain")
                and self._calls_experts(loop, iterable, effects)
            ):
                self._experts(loop)
            if isinstance(loop.node, ir.For) and effects.happens(Effect.WORK):
                self._rounds(loop.node, iterable)

    # ------------------------------------------------------------------ heads

    def _loop_entry_env(self, before: Env, after: Env, loop: Loop) -> Env:
        """Return the environment at the start of any iteration."""
        heads = copy_env(before)
        for name, thing in after.items():
            old = before.get(name)
            if old is None or old is thing:
                continue
            heads[name] = self._carried(name, old, thing, loop)
        return heads

    def _carried(self, name: str, old: AbstractValue, new: AbstractValue, loop: Loop) -> AbstractValue:
        both = join(old, new)
        if both.kind == "tensor":
            return _marked(both, Carried(name), loop.id)
        if both.kind == "number" and old.kind == "number":
            if new.loop == loop.id:  # `previous = step`
                new = self._counted(new, loop)
                both = join(old, new)
            counts = (
                isinstance(old.const, int | float) and new.const is not MISSING and old.const != new.const
            )
            cause = new.cause or (_CAUSES.get(loop.kind, "") if counts else "")
            if loop.kind == "epoch":
                cause = new.cause
            return both.replace(cause=cause, loop=loop.id if cause else 0, const=MISSING)
        if both.kind == "sequence" and new.trait is Mark.APPENDED and _is_same_list(old, new, loop):
            return AbstractValue(
                "sequence",
                element=join_all((element_of(old), element_of(new)))
                if old.items or old.element
                else element_of(new),
                trait=Mark.GROWS,
                loop=loop.id,
                ref=new.ref,
            )
        return _marked(both, Carried(name), loop.id) if both.kind == "sequence" else both

    def _growing_values(self, heads: Env, after: Env, loop: Loop) -> Env:
        """`x = torch.cat([x, y])`: what has a different shape every iteration."""
        found: Env = {}
        for name, thing in after.items():
            if name in heads:
                for part in tensors_in(thing):
                    grown = part.loop == loop.id and part.trait == Grown(name) and part.ref
                    if grown and self.grew(part, loop):
                        found[name] = _marked(heads[name], Carried(name), loop.id, grows=True)
        return found

    def grew(self, thing: AbstractValue, loop: Loop) -> bool:
        if loop.kind not in STEPS:
            return False
        sure = thing.sure if self._runs_graph(loop) else POSSIBLE
        span = (loop.node.start, self._header(loop).end)
        record_growth(self.m, thing, sure, (Why("in every iteration of this loop", span),), "")
        return True

    # ------------------------------------------------------------------ experts

    @staticmethod
    def _calls_experts(loop: Loop, iterable: AbstractValue, effects: Effects) -> bool:
        if isinstance(loop.node, ir.While) or iterable.kind not in ("sequence", "module"):
            return False  # over batches, files, tokens
        return effects.happens(Effect.MODEL_CALL) or Effect.ADD_ROWS in effects.must

    def _experts(self, loop: Loop) -> None:
        """A loop over experts, each of which gets the rows that a mask picks."""
        node = loop.node
        head = self.m.analysis.text[node.start : node.iter.end] if isinstance(node, ir.For) else ""
        sure = LIKELY if "expert" in head.lower() else POSSIBLE
        self.m.record(DynamicShape, node, sure, (), at=node, via="experts", operation="for")

    @staticmethod
    def _header(loop: Loop) -> ir.Name:
        node = loop.node
        return ir.Name(node.start, node.iter.end if isinstance(node, ir.For) else node.test.end, "")

    # ------------------------------------------------------------------ iterations and boundaries

    def _rounds(self, node: ir.For, iterable: AbstractValue) -> None:
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

    @staticmethod
    def _few_rounds(node: ir.For | ir.While) -> bool:
        """A graph of three steps harms nobody."""
        if not isinstance(node, ir.For):
            return False
        match node.iter:
            case ir.Sequence(elements=elements):
                return len(elements) <= _FEW
            case ir.Call(func=ir.Name(id="range"), args=(ir.Arg(value=ir.Const(value=int(count))),)):
                return count <= _FEW
        return False

    def _boundary(self, loop: Loop, effects: Effects, iterable: AbstractValue) -> None:
        if not effects.happens(Effect.WORK) or self._few_rounds(loop.node):
            return
        m, must = self.m, effects.must
        updates = Effect.OPTIMIZER_STEP in must
        accumulates = not updates and Effect.OPTIMIZER_STEP in effects.may
        boundary = "none"
        if Effect.FRAMEWORK in must:
            boundary = "framework"
        elif iterable.trait is Mark.DEVICE_LOADER:
            boundary = "several" if Effect.SYNC in must else "loader"
        elif Effect.SYNC in must:
            boundary = "several" if Effect.SYNC in effects.repeated else "sync"
        elif Effect.SYNC_INSIDE in must or (Effect.SYNC in effects.may and not updates):
            boundary = "sync"
        elif Effect.READ in must or (Effect.POSSIBLE_READ in must and loop.kind != "training"):
            boundary = "read"
        optimizer = "none"
        if Effect.XLA_OPTIMIZER_STEP in must:
            optimizer = "xm"
        elif updates or accumulates:
            optimizer = "several" if Effect.OPTIMIZER_STEP in effects.repeated else "plain"
        node = loop.node
        header = self._header(loop)
        if m.callers_known or iterable.kind in ("loader", "dataset") or Effect.BATCH in must:
            m.prove(header, inference=True)
        ends = loop.kind == "training" and boundary in ("none", "read")
        at = loop.update if ends and loop.update is not None else header
        in_loop = Why("each iteration of this loop is a step", (header.start, header.end))
        m.record(
            StepBoundary,
            at,
            LIKELY,
            () if at is header else (in_loop,),
            loop=loop.kind,
            boundary=boundary,
            optimizer=optimizer,
            accumulates=accumulates,
            parts={"body": (node.body[0].start, node.body[-1].end)},
        )


def _is_same_list(old: AbstractValue, new: AbstractValue, loop: Loop) -> bool:
    """Return whether a list lives on from round to round; `ref` is where it was made."""
    made_inside = isinstance(new.ref, int) and loop.node.start <= new.ref < loop.node.end
    return old.kind == "sequence" and old.ref == new.ref and not made_inside


def _marked(
    thing: AbstractValue, trait: Trait, loop: int, depth: int = 3, grows: bool = False
) -> AbstractValue:
    """The thing, or the tensors in it, with a trait."""
    if thing.kind == "tensor":
        return thing.replace(trait=trait, loop=loop, cause="growing" if grows else thing.cause)
    if thing.kind != "sequence" or not depth:
        return thing
    items = thing.items and tuple(_marked(item, trait, loop, depth - 1, grows) for item in thing.items)
    element = thing.element and _marked(thing.element, trait, loop, depth - 1, grows)
    return thing.replace(items=items, element=element)

"""Kinds of loops, by the work of their iterations: training, evaluation, decoding, epochs."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping

from xlamig import ir
from xlamig.findings import Frequency
from xlamig.flow.interp.carried_names import changed_tensors
from xlamig.flow.interp.domain import AbstractValue
from xlamig.flow.interp.events import FREQUENCIES
from xlamig.flow.interp.frames import STEPS, Env, Loop, LoopKind
from xlamig.flow.interp.generators import repeats_steps
from xlamig.flow.interp.short_loops import FEW, is_short
from xlamig.flow.interp.state import State
from xlamig.flow.interp.step_parts import is_part_of_step, is_without_gradients
from xlamig.flow.interp.updates_by_hand import descends
from xlamig.flow.model.effects import Effect, Effects
from xlamig.flow.model.option_codes import codes_of
from xlamig.flow.model.outcomes import most_of
from xlamig.flow.model.scopes import path_of

_ONCE_OR_TWICE = 2
_BUILTINS = frozenset(dir(builtins))
_OPTIMIZER_STEPS = (Effect.OPTIMIZER_STEP, Effect.XLA_OPTIMIZER_STEP)
_GRADIENTS = (Effect.BACKWARD, Effect.GRADIENT, Effect.ZERO_GRAD)
_TRAINS = (Effect.BACKWARD, Effect.MODEL_CALL, Effect.ZERO_GRAD, Effect.BATCH)


def trains(effects: Effects) -> bool:
    """Return whether a loop, or one in it, updates parameters."""
    return effects.happens(Effect.STEP_LOOP, *_OPTIMIZER_STEPS)


def runs_graph(effects: Effects) -> bool:
    """Return whether XLA runs a graph on every path: for a host read, or at the end of a step."""
    return not effects.must.isdisjoint((Effect.READ, Effect.SYNC))


def may_work(m: State, loop: Loop) -> bool:
    """Return whether an iteration does work on the device, or calls something of which nothing is known: a
    layer, maybe."""
    if loop.works:
        return True
    calls = (part for part in ir.walk(loop.node) if isinstance(part, ir.Call) and path_of(part.func))
    unknown = (call.func for call in calls if m.names.dotted(call.func, m.frame.scope) is None)
    return any(path_of(func) not in _BUILTINS for func in unknown)


def _uses_gradients(node: ir.For | ir.While) -> bool:
    return any(isinstance(inner, ir.Attribute) and inner.attr == "grad" for inner in ir.walk(node))


def _called(node: ir.Node) -> Iterator[str]:
    """Yield the names of what a statement or function calls of `self`."""
    for part in ir.walk(node):
        if isinstance(part, ir.Call) and path_of(part.func).startswith("self."):
            yield path_of(part.func).removeprefix("self.")


def _calls_part(method: ir.FunctionDef, methods: Mapping[str, ir.FunctionDef]) -> bool:
    """Return whether a method, or one that it calls, calls a part of its module."""
    met, waiting = {id(method)}, [method]
    while waiting:
        for name in _called(waiting.pop()):
            inner = methods.get(name)
            if inner is None and "." not in name:
                return True
            if inner is not None and id(inner) not in met:
                met.add(id(inner))
                waiting.append(inner)
    return False


def _calls_by_counter(loop: ir.For) -> bool:
    """Return whether each iteration calls something else: `self.heads[i](x)`, `getattr(self, f"head{i}")(x)`
    or a name that stands for it."""
    targets = {node.id for node in ir.walk(loop.target) if isinstance(node, ir.Name)}
    nodes = [node for statement in loop.body for node in ir.walk(statement)]
    called = [node.func for node in nodes if isinstance(node, ir.Call)]
    names = {func.id for func in called if isinstance(func, ir.Name)}
    for node in nodes:
        match node:
            case ir.Assign(targets=(ir.Name(id=name),), value=value) if name in names:
                called.append(value)
    return any(_is_chosen_by(func, targets) for func in called)


def _is_chosen_by(node: ir.Expr, targets: set[str]) -> bool:
    """Return whether one of these names is the index of an expression, or part of an attribute's name."""
    match node:
        case ir.Subscript(index=(ir.Name(id=name),)):
            return name in targets
        case ir.Subscript(index=(ir.Binary(op="+" | "-", left=ir.Name(id=name), right=ir.Const()),)):
            return name in targets
        case ir.Call(func=ir.Name(id="getattr"), args=(_, ir.Arg(value=attribute), *_)):
            return any(isinstance(part, ir.Name) and part.id in targets for part in ir.walk(attribute))
    return False


def _uses(node: ir.Node, attribute: str) -> bool:
    return any(isinstance(part, ir.Attribute) and part.attr == attribute for part in ir.walk(node))


def _holds_module(element: AbstractValue) -> bool:
    """Return whether an element of what a loop runs over is a module, or a tuple with one."""
    parts = element.items if element.kind == "sequence" else ()
    return any(map(_holds_module, parts)) if parts else element.kind == "module"


class LoopKinds:
    def __init__(self, state: State) -> None:
        self.m = state

    def of(
        self, node: ir.For | ir.While, iterable: AbstractValue, effects: Effects, before: Env, after: Env
    ) -> LoopKind:
        """Return the kind of a loop by what its body does and changes."""
        per_step = self.m.frequency in ("step", "interval")
        owner = self.m.frame.owner
        if owner is not None and self.m.regions.is_for_samples(owner.scope):
            return "plain"
        few = self._has_few_iterations(node) and not self._updates_alone(effects)
        if few or is_short(node) or (self.m.loops and self._runs_seldom(node)):
            return "graph-breaking" if runs_graph(effects) else "plain"
        updates = effects.happens(*_OPTIMIZER_STEPS) and effects.happens(*_TRAINS)
        updates = updates or (not per_step and descends(effects))
        if updates and not self._runs_trainings(node, iterable, effects):
            return "training"
        if Effect.STEP_LOOP in effects.must and iterable.kind not in ("loader", "dataset"):
            return "epoch"
        if effects.happens(Effect.BACKWARD):
            around = any(not self._has_few_iterations(loop.node) for loop in self.m.loops)
            inside = per_step or (around and not self._drops_gradients(node))
            return "accumulation" if inside else "training"
        if effects.happens(Effect.STEP_LOOP):
            return "epoch"
        if self._denoises(node, effects):
            kind = self._kind_of_inference(node, iterable, effects, before, after)
            if kind == "decoding":
                return kind
        if (
            (Effect.MODEL_CALL in effects.must or self._may_sample(node, effects))
            and self.m.frequency != "step"
            and not self.m.forwards
            and not self._over_modules(node, iterable, effects)
            and not self._runs_once(node)
        ):
            kind = self._kind_of_inference(node, iterable, effects, before, after)
            if kind != "decoding" and Effect.MODEL_CALL not in effects.must:
                return "graph-breaking" if runs_graph(effects) else "plain"
            if (
                kind == "decoding"
                or iterable.kind != "sequence"
                or not is_part_of_step(self.m, node, iterable)
            ):
                return kind
        return "graph-breaking" if runs_graph(effects) else "plain"

    def rolls(self, loop: Loop, iterable: AbstractValue, effects: Effects) -> bool:
        """Return whether a step holds the loop, and each iteration calls the model and reads its result, as a
        rollout does that asks a policy for the next action."""
        asks = loop.kind == "graph-breaking" and Effect.MODEL_CALL in effects.must
        inside = self.m.frequency in ("step", "interval") and not self.m.forwards and not is_short(loop.node)
        return asks and inside and not self._over_modules(loop.node, iterable, effects)

    def is_inner_step(self, loop: Loop, iterable: AbstractValue, effects: Effects) -> bool:
        """Return whether a step holds the loop, and each iteration uses the gradients of a model call, as an
        adversarial attack does; micro-batches only sum them up."""
        return (
            self.m.frequency in ("step", "interval")
            and Effect.MODEL_CALL in effects.must
            and (effects.happens(Effect.GRADIENT) or _uses_gradients(loop.node))
            and not self.m.forwards
            and not self._over_modules(loop.node, iterable, effects)
        )

    def _runs_trainings(self, node: ir.For | ir.While, iterable: AbstractValue, effects: Effects) -> bool:
        """Return whether each iteration calls a function with training loops of its own, as a loop over folds
        does; outside of these, no update has a gradient: it only sets a scheduler forward."""
        if not effects.happens(Effect.STEP_LOOP) or effects.happens(*_GRADIENTS):
            return False
        return not _uses(node, "step") and iterable.kind not in ("loader", "dataset")

    def _drops_gradients(self, node: ir.For | ir.While) -> bool:
        """Return whether each iteration has gradients of its own, and no loop around takes batches or updates
        with them: a loop over epochs, in which they are only looked at."""
        return _uses(node, "zero_grad") and not any(
            loop.loads or _uses(loop.node, "step") for loop in self.m.loops
        )

    def _kind_of_inference(
        self, node: ir.For | ir.While, iterable: AbstractValue, effects: Effects, before: Env, after: Env
    ) -> LoopKind:
        if iterable.kind in ("loader", "dataset") or Effect.BATCH in effects.must:
            return "evaluation"
        return "decoding" if changed_tensors(node, before, after) else "evaluation"

    def _may_sample(self, node: ir.For | ir.While, effects: Effects) -> bool:
        """Return whether a method without gradients calls one part of its module again and again, as the
        sampling loop of a diffusion model does, and not its layers one after another; or a model, unless its
        caller has the result already."""
        owner, function = self.m.frame.owner, self.m.frame.scope.node
        calls_model = Effect.PART_CALL in effects.must or Effect.MODEL_CALL in effects.may
        if not calls_model or owner is None or not owner.is_module:
            return False
        if not isinstance(function, ir.FunctionDef):
            return False
        asks = isinstance(node, ir.While) and Effect.READ in effects.must  # whether it is done
        if not asks and not is_without_gradients(self.m, function, node):
            return False
        calls = (part for statement in node.body for part in ir.walk(statement) if isinstance(part, ir.Call))
        return not any(
            isinstance(call.func, ir.Subscript) or path_of(call.func) == "getattr" for call in calls
        )

    def _denoises(self, node: ir.For | ir.While, effects: Effects) -> bool:
        """Return whether each iteration calls a method of the same module that computes no gradients, and a
        part of the module in it: no pass of training does, so this one samples."""
        owner = self.m.frame.owner
        calls_model = not effects.must.isdisjoint((Effect.PART_CALL, Effect.MODEL_CALL))
        if not calls_model or owner is None or not owner.is_module:
            return False
        methods = {name: method for cls in reversed(owner.lineage()) for name, method in cls.methods.items()}
        called = (methods[name] for name in _called(node) if name in methods)
        return any(
            is_without_gradients(self.m, method, method) and _calls_part(method, methods) for method in called
        )

    def _has_few_iterations(self, node: ir.For | ir.While) -> bool:
        """Return whether a loop runs once or twice by the default of an option of the command line:
        `range(args.iterative_steps)`. What trains for that many epochs has a loop of steps in it."""
        match node:
            case ir.For(iter=ir.Call(func=ir.Name(id="range"), args=(ir.Arg(value=count),))):
                option = isinstance(count, ir.Attribute) and not path_of(count).startswith("self.")
                return option and "epoch" not in path_of(count) and self._is_at_most(count, _ONCE_OR_TWICE)
        return False

    def _updates_alone(self, effects: Effects) -> bool:
        """Return whether the iterations of a loop that stands in no other update parameters: nobody trains
        for one or two updates, whatever an option's default is."""
        return not self.m.loops and effects.happens(*_OPTIMIZER_STEPS) and effects.happens(Effect.BACKWARD)

    def _runs_seldom(self, node: ir.For | ir.While) -> bool:
        """Return whether a loop has few iterations, each time as many, by the default of an option or a
        parameter: `range(args.votes)`."""
        match node:
            case ir.For(iter=ir.Call(func=ir.Name(id="range"), args=(ir.Arg(value=count),))):
                return self._is_at_most(count, FEW)
        return False

    def _is_at_most(self, count: ir.Expr, most: int) -> bool:
        values, scope = self.m.analysis.values, self.m.frame.scope
        known = values.of(count, scope).value
        if known.kind == "constant" or not isinstance(count, ir.Attribute):
            return isinstance(known.value, int) and known.value <= most
        largest = most_of(codes_of(count, scope), values.switches)
        return largest is not None and largest <= most

    def _runs_once(self, node: ir.For | ir.While) -> bool:
        """Return whether the caller asks for a single iteration: `range(steps)` with `steps=1`."""
        match node:
            case ir.For(iter=ir.Call(func=ir.Name(id="range"), args=(ir.Arg(value=ir.Name(id=name)),))):
                return name in self.m.env and self.m.env[name].const == 1
        return False

    def _over_modules(self, node: ir.For | ir.While, iterable: AbstractValue, effects: Effects) -> bool:
        """Return whether the iterations take turns with modules, as a loop over layers does."""
        loads = iterable.kind in ("loader", "dataset") or Effect.BATCH in effects.must
        if isinstance(node, ir.For) and not loads and _calls_by_counter(node):
            return True
        return _holds_module(self.m.semantics.iterate(iterable))

    def frequency(self, loop: Loop) -> Frequency:
        """Return how often the body of a loop runs; the batches of an evaluation are many, however seldom
        that is."""
        now = self.m.frequency
        if loop.kind == "evaluation":
            return "step"
        if loop.kind in STEPS or loop.kind == "accumulation" or repeats_steps(self.m, loop):
            return "step" if now != "interval" else now
        if loop.kind == "epoch" and FREQUENCIES.index(now) < FREQUENCIES.index("epoch"):
            return "epoch"
        return now

"""Running functions: with the arguments of their callers, or as roots with what their parameters say."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.interp.arguments import Args, computes_number
from xlamig.flow.interp.carried_names import OPAQUE, read_in_call, read_names
from xlamig.flow.interp.conventions import keeps_results, runs_on_host
from xlamig.flow.interp.crossing import call_tells
from xlamig.flow.interp.domain import BOTTOM, NONE, TOP, AbstractValue, join, join_all
from xlamig.flow.interp.filled import filled, hand_back
from xlamig.flow.interp.frames import ClassInfo, Frame, Function
from xlamig.flow.interp.generators import generator_of
from xlamig.flow.interp.left_out import record_defaults
from xlamig.flow.interp.parameters import Parameters
from xlamig.flow.interp.portable import placed, places_of
from xlamig.flow.interp.setting import Setting
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect, Effects
from xlamig.flow.model.scopes import path_of

_NUMBERS = frozenset({"int", "float"})
_MAX_DEPTH = 24
_MAX_RECURSION = 2  # `to_device(x)` calls itself for what is in `x`
_MAX_CONTEXTS = 16  # of one function; then what the others gave is taken
_MAX_GUESSED = 4  # where nothing calls what calls it: there the arguments are guessed as well


Result = tuple[AbstractValue, Effects, dict[str, AbstractValue]]
"""The value, the effects and the filled parameters of a call."""


@dataclass(slots=True)
class Ran:
    """The results of calls of a function, by their arguments; `start` is the offset of its definition."""

    start: int
    results: dict[tuple[object, ...], Result] = field(default_factory=dict)
    frequencies: set[str] = field(default_factory=set)
    given: dict[str, AbstractValue] = field(default_factory=dict)  # in the last call
    joined: tuple[int, Result] | None = None  # the join of so many results
    queued: dict[tuple[object, ...], tuple[int, int, bool]] = field(default_factory=dict)
    """How much device work each of the calls queues, how often it waits, and whether work is left in the
    end."""


class CallContexts:
    def __init__(self, state: State) -> None:
        self.m = state
        self.parameters = Parameters(state)
        self.ran: dict[int, Ran] = {}
        self._running = state.program.running
        self._keys = state.program.keys
        self.definitions: dict[int, tuple[ir.FunctionDef, Frame, ClassInfo | None]] = {}

    def annotated(self, annotation: ir.Expr) -> AbstractValue | None:
        """Return what an annotation says of a value."""
        return self.parameters.annotations.annotated(annotation)

    def promised(self, name: str, annotation: ir.Expr) -> AbstractValue | None:
        """Return what the annotation of a name or attribute says of it."""
        return self.parameters.annotations.promised(name, annotation)

    def found(self, node: ir.FunctionDef, frame: Frame, owner: ClassInfo | None = None) -> None:
        """A definition that is to be run in the end if nothing calls it."""
        self.definitions.setdefault(id(node), (node, frame, owner))

    # ------------------------------------------------------------------ calls

    @property
    def per_step(self) -> frozenset[int]:
        """Where the functions and loops start whose bodies run every step."""
        functions = (ran.start for ran in self.ran.values() if "step" in ran.frequencies)
        return self.m.step_loops.union(functions)

    def reached(self) -> dict[int, frozenset[str]]:
        """Return how often the functions run that have run so far, by where they start."""
        return {ran.start: frozenset(ran.frequencies) for ran in self.ran.values() if ran.frequencies}

    def call(self, function: Function, args: Args, node: ir.Call | None) -> AbstractValue:
        """Return the value of a call of a function of the module."""
        m = self.m
        moved = node is not None and m.until_moved.makes_moved(node, args)
        with Setting(m, "result_moved", moved or (node is None and m.result_moved)):
            return self._call(function, args, node)

    def _call(self, function: Function, args: Args, node: ir.Call | None) -> AbstractValue:
        m = self.m
        if function.preset is not None:
            return self.call(replace(function, preset=None), args.after(function.preset), node)
        record_defaults(m, function, args)
        if m.frequency != "once" and keeps_results(function.node) and not args.tensors():
            with m.branch() as effects, m.once():  # the same arguments give what was kept
                result = self.call(function, args, node)
            m.join_effects(effects, Effects())
            return result
        if function.frame.home != m.names.module:
            decides = call_tells(function, args)
            if node is not None and m.frequency == "unknown" and not decides:
                m.program.note_guessed(function)
                return m.semantics.call_summarized(function, args, node)
            result, effects = m.program.run(m.names.module, function, args, node)
            self._happens(function, effects, node)
            hand_back(m, function, args)
            return result
        if isinstance(function.node, ir.Lambda):
            return self._lambda(function, args)
        given = self._bound(function, args)
        numbers = _numbers(function, args, m.frame)
        ran = self.ran.setdefault(id(function.node), Ran(function.node.start))
        version = function.owner.version if function.owner is not None else 0
        ended = m.synced, m.settled
        how = (m.frequency, m.first_pass, ended, m.repeating, m.batching, m.collating, m.result_moved)
        state = (*how, m.kept_off, version)
        key = (*state, numbers, tuple(thing.key() for thing in given.values()))
        known = ran.results.get(key)
        if known is None:
            if (
                self._running.count(id(function.node)) > _MAX_RECURSION
                or (id(function.node), key) in self._keys
            ):
                return BOTTOM
            if len(self._running) > _MAX_DEPTH or m.exhausted:
                m.unfollowed.add(function.node.name)
                return TOP
            most = _MAX_GUESSED if m.frequency == "unknown" else _MAX_CONTEXTS
            if len(ran.results) >= most:
                known = self._any(ran)
            else:
                self._keys.append((id(function.node), key))
                works, waits = m.device_op_count, m.wait_count
                known = ran.results[key] = self.run(function, given, numbers)
                ran.queued[key] = m.device_op_count - works, m.wait_count - waits, m.waiting
                self._keys.pop()
                ran.frequencies.add(m.frequency)
                ran.given = given
        elif key in ran.queued:
            self._queue(*ran.queued[key])
        result, effects, args.filled = known
        self._happens(function, effects, node)
        hand_back(m, function, args)
        return result

    def _queue(self, works: int, waits: int, waiting: bool) -> None:
        """Queue the device work of a call that has run before, and wait as it does."""
        self.m.device_op_count += works
        self.m.wait_count += waits
        if works or waits:
            self.m.waiting = waiting

    def _any(self, ran: Ran) -> Result:
        """Return the join of the results so far."""
        if ran.joined is None or ran.joined[0] != len(ran.results):
            results = list(ran.results.values())
            effects = Effects()
            for _, one, _ in results:
                effects.update(one)
            result = join_all([thing for thing, _, _ in results]), effects, results[-1][2]
            ran.joined = len(results), result
        return ran.joined[1]

    def _happens(self, function: Function, effects: Effects, node: ir.Call | None) -> None:
        m = self.m
        if effects.read_names:
            effects = effects.of_caller(read_in_call(effects.read_names, function, node))
        for effect in (Effect.OPTIMIZER_STEP, Effect.XLA_OPTIMIZER_STEP):
            if effects.happens(effect) and node is not None:
                m.note_update(node, effect, at_times=effect not in effects.must)
        if Effect.OPTIMIZER_STEP in effects.must and node is not None:
            m.effects.repeat(Effect.OPTIMIZER_STEP)
        m.effects.update(effects)
        if Effect.READ in effects.must and effects.happens(Effect.RESULT_READ):
            m.effects.add(Effect.CALLED_READ)
        if effects.assigned:
            for path in [p for p in m.frame.paths if p.rpartition(".")[2] in effects.assigned]:
                m.env.pop(path, None)
        if Effect.SYNC in effects.must:
            m.synced = True

    def run(
        self, function: Function, given: dict[str, AbstractValue], numbers: frozenset[str] = frozenset()
    ) -> Result:
        """Run the body of a function with these parameters, of which a call computes `numbers`."""
        m = self.m
        assert isinstance(function.node, ir.FunctionDef)
        on_host = runs_on_host(function.node, m.names, function.frame.scope)
        if moves := on_host and places_of(given.values()) != {"host"}:  # there and back
            given = {name: placed(value, "host") for name, value in given.items()}
        m.allow(function.node.body)
        outer, statement, synced = m.frame, m.statement, m.synced
        frame = m.enter(function.scope, function.frame, function.owner)
        frame.returns_moved, m.result_moved = m.result_moved, False
        given = m.until_moved.entered(frame, given)
        frame.env.update(given)
        frame.numbers = numbers
        frame.yields = "yield" in m.source(function.node)
        self._running.append(id(function.node))
        one_rank, m.one_rank = m.one_rank, self._on_one_rank(function.node)
        loops, m.loops = m.loops, list(m.loops)
        # Whoever calls it, and even if the file does not show that its class is a module.
        around = function.scope.parent
        is_part = function.owner is not None or (around is not None and around.kind == "function")
        forward = is_part and function.node.name == "forward"
        m.forwards += forward
        with m.branch() as effects:
            leaves = m.semantics.block(function.node.body)
        if Effect.READ in effects.must and effects.happens(Effect.RESULT_READ):
            effects.read_names = read_names(m, function, effects)
        m.forwards -= forward
        m.loops, m.one_rank = loops, one_rank
        self._running.pop()
        m.frame, m.statement, m.synced = outer, statement, synced
        generator = generator_of(m, frame)
        result = generator or frame.returned
        if result is None:
            result = NONE if not leaves else TOP
        elif generator is None and not leaves and result.kind != "none":
            result = join(result, NONE)
        return placed(result, "device") if moves else result, effects, filled(frame, given)

    def _on_one_rank(self, node: ir.FunctionDef) -> tuple[Why, ...]:
        """Return why only one rank runs a function, if its decorator says so."""
        found = map(self.m.frequency_guards.of_decorator, node.decorators)
        return next((why for why in found if why), ())

    def _lambda(self, function: Function, args: Args) -> AbstractValue:
        m = self.m
        outer = m.frame
        assert isinstance(function.node, ir.Lambda)
        frame = m.enter(function.scope, function.frame, function.owner)
        for i, param in enumerate(function.node.params):
            frame.env[param.name] = args.get(i, param.name) or TOP
        if id(function.node) in self._running or len(self._running) > _MAX_DEPTH:
            m.frame = outer
            return TOP
        self._running.append(id(function.node))
        with m.branch() as effects:
            result = m.semantics.evaluate(function.node.body)
        m.effects.update(effects.of_caller(OPAQUE) if effects.read_names else effects)
        self._running.pop()
        m.frame = outer
        return result

    def _bound(self, function: Function, args: Args) -> dict[str, AbstractValue]:
        """Parameters and what they are given."""
        given: dict[str, AbstractValue] = {}
        positional, keywords = list(args.positional), dict(args.keywords)
        if function.bound is not None:
            positional.insert(0, function.bound)
        assert isinstance(function.node, ir.FunctionDef)
        for param in function.node.params:
            if param.kind == "*":
                given[param.name] = AbstractValue("sequence", items=tuple(positional))
                positional = []
            elif param.kind == "**":
                given[param.name] = AbstractValue("mapping", fields=dict(keywords), loose=args.partial)
            elif param.kind != "keyword-only" and positional:
                given[param.name] = positional.pop(0)
            elif param.name in keywords:
                given[param.name] = keywords.pop(param.name)
            elif args.rest is not None and param.default is None:
                given[param.name] = args.rest
            elif args.others is not None and args.others.kind == "tensor" and param.default is None:
                given[param.name] = args.others
            elif args.starred:
                given[param.name] = self.parameters.guessed(param, function, per_step=False)
            elif param.default is not None:
                given[param.name] = self.parameters.left_out(param)
            else:
                given[param.name] = TOP
            if param.kind == "":
                given[param.name] = self.parameters.received(param, given[param.name], function)
        return given


def _numbers(function: Function, args: Args, caller: Frame) -> frozenset[str]:
    """Return the parameters that a call gives a number for, never None: `f(x, n=x.size(1))`."""
    assert isinstance(function.node, ir.FunctionDef)
    if args.starred or sum(arg.keyword is None for arg, _ in args.pairs) != len(args.positional):
        return frozenset()  # of `*args`, or of functools.partial
    plain = [p for p in function.node.params if p.kind not in ("*", "**")][function.bound is not None :]
    places = ((p.name, -1 if p.kind == "keyword-only" else i) for i, p in enumerate(plain))
    given = ((name, args.node(place, name)) for name, place in places)
    return frozenset(name for name, node in given if computes_number(node) or _is_number(node, caller))


def _is_number(node: ir.Expr | None, caller: Frame) -> bool:
    """Return whether an argument is a parameter of the caller that is given a number, or that its annotation
    and its default say is one."""
    bound = caller.scope.bindings.get(node.id, []) if isinstance(node, ir.Name) else []
    if not isinstance(node, ir.Name) or [binding.kind for binding in bound] != ["param"]:
        return False
    if node.id in caller.numbers:
        return True
    annotation, default = bound[0].annotation, bound[0].value
    may_be_none = isinstance(default, ir.Const) and default.value is None
    return annotation is not None and path_of(annotation) in _NUMBERS and not may_be_none

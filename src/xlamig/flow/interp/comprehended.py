"""Comprehensions and `map` over the batches of a loader: each element is a step, like an iteration."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xlamig import ir
from xlamig.flow.interp.domain import LIKELY, TOP, AbstractValue, Mark, over, sequence
from xlamig.flow.interp.frames import Loop, LoopKind, copy_env
from xlamig.flow.interp.generators import end_steps
from xlamig.flow.interp.lengths import LASTING
from xlamig.flow.interp.let_through import filtered
from xlamig.flow.interp.setting import Setting
from xlamig.flow.interp.state import State
from xlamig.flow.interp.step_boundaries import ABSORBED, record_boundary
from xlamig.flow.model.effects import Effect, Effects

_FEW = 8  # elements of which a comprehension makes one each


def comprehended(m: State, node: ir.Comprehension) -> AbstractValue:
    """Return the value of a comprehension."""
    outer = copy_env(m.env)
    with m.branch() as effects:
        first = m.semantics.evaluate(node.generators[0].iter)
    m.effects.update(effects)
    loads = first.kind == "loader" or effects.happens(Effect.BATCH)  # `enumerate(loader)`
    made = run_elements(m, node, (first, loads), partial(_made, m, node, first))
    m.frame.env = outer
    return made


def _made(m: State, node: ir.Comprehension, first: AbstractValue) -> AbstractValue:
    """Return what a comprehension makes that goes through `first`."""
    lead: AbstractValue | None = None
    elements: tuple[AbstractValue, ...] = ()
    tests: list[AbstractValue] = []
    outer_over = m.iteration_sources
    for generator in node.generators:
        iterable = first if generator is node.generators[0] else m.semantics.evaluate(generator.iter)
        m.iteration_sources = [*m.iteration_sources, over(iterable)]
        lead = lead or (iterable if iterable.kind == "sequence" and iterable.cause else None)
        elements = _elements(node, iterable)
        _bind(m, generator.target, m.semantics.iterate(iterable))
        tests += [m.semantics.test(test, "if") for test in generator.ifs]
    m.comprehension_depth += 1
    each = []
    for element in elements:
        _bind(m, node.generators[0].target, element)
        each.append(m.semantics.evaluate(node.element))
    made = sequence(each) if each else AbstractValue("sequence", element=_element(m, node.element))
    value = m.semantics.evaluate(node.value) if node.value is not None else None
    m.comprehension_depth -= 1
    m.iteration_sources = outer_over
    if node.kind == "dict":
        return AbstractValue("mapping", element=value)
    if lead is None:
        return filtered(m, node, made, tests)
    trait = lead.trait if lead.trait in LASTING else None
    return made.replace(cause=lead.cause, trait=trait, why=lead.why)


def _element(m: State, node: ir.Expr) -> AbstractValue:
    """Return an element; the lengths of what a batch lists on the host differ between batches."""
    made = m.semantics.evaluate(node)
    if made.trait is not Mark.LENGTH or made.cause or m.frequency != "step":
        return made
    match node:
        case ir.Call(func=ir.Name(id="len"), args=(ir.Arg(value=ir.Name(id=name)),)):
            sample = m.env.get(name, TOP)
            if sample.loose and sample.place == "host":
                return made.replace(cause="batch", sure=LIKELY)
    return made


def _elements(node: ir.Comprehension, iterable: AbstractValue) -> tuple[AbstractValue, ...]:
    """Return what a comprehension runs over where it is written out: it makes one of each."""
    known = iterable.items if iterable.kind == "sequence" and node.kind in ("list", "generator") else None
    if known is None or len(node.generators) > 1 or node.generators[0].ifs or len(known) > _FEW:
        return ()
    return known


def _bind(m: State, target: ir.Expr, element: AbstractValue) -> None:
    counted = element.trait is Mark.COUNTER
    m.semantics.assign(target, element.replace(trait=None) if counted else element, None)


def run_elements(
    m: State, node: ir.Expr, source: tuple[AbstractValue, bool], run: Callable[[], AbstractValue]
) -> AbstractValue:
    """Return what `run` makes of the elements of `node`, which come from `source`, with whether it loads
    batches; then each element is a step, if it trains or calls a model."""
    iterable, loads = source
    takes_steps = iterable.trait is Mark.STEPS
    if not (loads or takes_steps) or m.frequency in ("step", "interval") or m.forwards:
        return run()
    loop = _loop_of(m, node, iterable, loads)
    before, loops = copy_env(m.env), Setting(m, "loops", [*m.loops, loop])
    with Setting(m, "first_pass", True), loops, m.branch() as effects:
        value = run()
    loop.kind = _kind(effects)
    if loop.kind == "plain" and not takes_steps:
        m.effects.update(effects)
        return value
    if not m.first_pass:
        m.frame.env = before
        with Setting(m, "frequency", "step"), loops, m.branch() as effects:
            value = run()
        end_steps(m, loop, effects)
        if loop.kind != "plain":
            record_boundary(m, loop, effects, iterable)
    m.effects.update(effects.without(ABSORBED))
    m.effects.add(Effect.STEP_LOOP)
    return value


def _loop_of(m: State, node: ir.Expr, iterable: AbstractValue, loads: bool) -> Loop:
    """Return the loop that yields what a comprehension, or a call of `map`, makes of each batch."""
    made = node.element if isinstance(node, ir.Comprehension) else node
    yields = ir.ExprStmt(made.start, made.end, ir.Yield(made.start, made.end, made, False))
    head = ir.Name(node.start, node.end, "")
    written = ir.For(node.start, node.end, head, head, (yields,), (), False)
    return Loop(written, comprehends=True, loads=loads, taken=[iterable], base=m.base, outside=m.frequency)


def _kind(effects: Effects) -> LoopKind:
    if effects.happens(Effect.OPTIMIZER_STEP, Effect.XLA_OPTIMIZER_STEP):
        return "training"
    return "evaluation" if Effect.MODEL_CALL in effects.must else "plain"

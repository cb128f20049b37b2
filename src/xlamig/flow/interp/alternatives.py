"""Values that stand for one of several functions or classes, such as the two branches of an `if` give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import POSSIBLE, AbstractValue, Alternatives, join_all
from xlamig.flow.interp.frames import GUESSED, ClassInfo, Function, modules_of
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect, Effects

_T = TypeVar("_T")


def several(value: AbstractValue) -> list[AbstractValue]:
    """Return the values, of one class each, that a class or an object of one of several classes stands for,
    or the modules that one of several modules may be; none where it is one, or not known. A class that a
    caller passes stands for the parameter as well, which was guessed without callers."""
    if not isinstance(value.ref, Alternatives):  # as nearly always
        return []
    if value.kind == "api":
        return [value.replace(ref=ref) for ref in modules_of(value.ref)]
    refs = modules_of(value.ref) if value.kind in ("class", "instance", "module") else []
    classes = [ref for ref in refs if isinstance(ref, ClassInfo)]
    guessed = [ref for ref in refs if isinstance(ref, str) and ref.endswith(GUESSED)]
    known = bool(classes) and 1 < len(refs) == len(classes) + len(guessed)
    return [value.replace(ref=info) for info in classes] if known else []


def fitting(functions: Sequence[Function], args: Args) -> Sequence[Function]:
    """Return those of several functions that take the arguments of a call, all where none does: which one
    it is, the program decides as it decides how to call it."""
    if len(functions) < 2 or args.starred or args.partial:
        return functions
    return [one for one in functions if one.preset is not None or _takes(one, args)] or functions


def _takes(function: Function, args: Args) -> bool:
    """Return whether a function has a parameter for each argument, an argument for each parameter without a
    default, and no flag that would be a tensor."""
    params = function.node.params
    plain = [p for p in params if p.kind not in ("*", "**", "keyword-only")][function.bound is not None :]
    given, left = plain[: len(args.positional)], plain[len(args.positional) :]
    kinds, named = {p.kind for p in params}, {p.name for p in params}
    if len(args.positional) > len(plain) and "*" not in kinds:
        return False
    if not args.keywords.keys() <= named and "**" not in kinds:
        return False
    if any(p.default is None and p.name not in args.keywords for p in left):
        return False
    pairs = zip(given, args.positional, strict=False)
    return not any(_is_flag(p) and value.kind == "tensor" for p, value in pairs)


def _is_flag(param: ir.Param) -> bool:
    return isinstance(param.default, ir.Const) and isinstance(param.default.value, bool)


def either(state: State, ways: Sequence[_T], run: Callable[[_T], AbstractValue]) -> AbstractValue:
    """Return the join of what each way gives, where one of them is taken."""
    results: list[AbstractValue] = []
    effects: list[Effects] = []
    run_of = state.left, len(state.ways)
    for number, way in enumerate(ways):
        state.ways[run_of] = number
        with state.branch() as effect:
            results.append(run(way))
        effects.append(effect)
    del state.ways[run_of]
    if not all(effect.happens(Effect.STEP_LOOP) for effect in effects):
        # Which class it is says little about the loop around: it stays a loop of steps, not of epochs.
        effects = [effect.without((Effect.STEP_LOOP,)) for effect in effects]
    state.join_effects(*effects)
    if _run_models(results, effects):
        state.effects.add(Effect.MODEL_CALL)
    told = [result for result in results if result.kind != "unknown"] or results
    both = join_all(told)
    return both if _agree(told, both) else both.replace(sure=POSSIBLE)


def with_identity(result: AbstractValue, node: ir.Call) -> AbstractValue:
    """Return what a call gives: a module whose class is not known is the one that this call makes."""
    return (
        result.replace(ref=f"module#{node.start}") if result.kind == "module" and not result.ref else result
    )


def _run_models(results: Sequence[AbstractValue], effects: Sequence[Effects]) -> bool:
    """Return whether some way runs a model, and the others do or compute something unknown: what stands for
    a model is one, whichever was chosen."""
    runs = [Effect.MODEL_CALL in effect.must for effect in effects]
    return any(runs) and all(
        ran or result.kind == "unknown" for ran, result in zip(runs, results, strict=True)
    )


def _agree(results: Sequence[AbstractValue], both: AbstractValue) -> bool:
    """Return whether all results are tensors or none is, and all change between steps or none does: which
    class an object is of is a guess, unlike which branches run."""
    known = [result for result in results if result.kind not in ("none", "nothing")]
    return len({result.kind == "tensor" for result in known}) < 2 and (
        not both.cause or all(result.cause for result in known)
    )

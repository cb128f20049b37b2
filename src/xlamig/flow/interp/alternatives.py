"""Values that stand for one of several functions or classes, such as the two branches of an `if` give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from xlamig.flow.interp.domain import POSSIBLE, AbstractValue, join_all
from xlamig.flow.interp.frames import ClassInfo, modules_of
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effects

_T = TypeVar("_T")


def several(value: AbstractValue) -> list[AbstractValue]:
    """Return the values, of one class each, that a class or an object of one of several classes stands for;
    none where the class is one, or not known."""
    refs = modules_of(value.ref) if value.kind in ("class", "instance", "module") else []
    classes = [ref for ref in refs if isinstance(ref, ClassInfo)]
    return [value.replace(ref=info) for info in classes] if 1 < len(classes) == len(refs) else []


def either(state: State, ways: Sequence[_T], run: Callable[[_T], AbstractValue]) -> AbstractValue:
    """Return the join of what each way gives, where one of them is taken."""
    results: list[AbstractValue] = []
    effects: list[Effects] = []
    for way in ways:
        with state.branch() as effect:
            results.append(run(way))
        effects.append(effect)
    state.join_effects(*effects)
    both = join_all(results)
    return both if _agree(results, both) else both.replace(sure=POSSIBLE)


def _agree(results: Sequence[AbstractValue], both: AbstractValue) -> bool:
    """Return whether all results are tensors or none is, and all change between steps or none does: which
    class an object is of is a guess, unlike which branches run."""
    known = [result for result in results if result.kind not in ("none", "nothing")]
    return len({result.kind == "tensor" for result in known}) < 2 and (
        not both.cause or all(result.cause for result in known)
    )

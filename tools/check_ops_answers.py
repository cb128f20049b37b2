"""Test the conditions that `xlamig ops` states for a call."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from case_search import fits
from xla_rows import WITH_DIM, has_dim
from xla_verify import CASES, bound

from xlamig.knowledge.operators import Case, Operator

ANY = ("any",)  # which operators fall back is not told
_TENSOR = re.compile(r"when `(\w+)` is a tensor")
_DIMENSIONS = re.compile(r"for an input of (\d) dimension")
_TYPE = re.compile(r"for (\w+) tensors$")


@dataclass(frozen=True)
class Said:
    """`sure`: what a reader must expect of the call; `perhaps`: also told, but by an example or in words
    that do not tell when."""

    sure: frozenset[tuple[str, tuple[str, ...]]]  # status, aten
    perhaps: frozenset[tuple[str, tuple[str, ...]]]


def said(operator: Operator, record: Mapping[str, Any], backward: bool = False) -> Said | None:
    """None for the gradient of a call that a case is about: the table does not say."""
    name = operator.same_as or operator.name
    values = bound(name, record.get("args", ()), record.get("kwargs", {}))
    verdicts = [(case, _holds(case, name, values, record)) for case in operator.cases]
    if backward and any(holds for case, holds in verdicts if not case.backward):
        return None
    mine = [(case, holds) for case, holds in verdicts if case.backward == backward]
    sure: set[tuple[str, tuple[str, ...]]] = {(case.status, case.aten) for case, holds in mine if holds}
    perhaps = {(case.status, case.aten) for case, holds in mine if holds is None}
    usual = "native" if operator.status == "conditional" else operator.status
    base: tuple[str, tuple[str, ...]] = (usual, operator.aten)
    if backward:
        base = (operator.backward or usual, operator.backward_aten or ANY)
    return Said(frozenset(sure or {base}), frozenset(perhaps))


def _holds(case: Case, name: str, values: Mapping[str, Any], record: Mapping[str, Any]) -> bool | None:
    """None where that cannot be told."""
    if case.when:
        return fits(case.when, values)
    apis = (name, name.removesuffix("_"))
    written: Mapping[str, Any] = next(
        (c for c in CASES["case"] if c["api"] in apis and c.get("text") == case.text), {}
    )
    if "holds" in written:
        return _evaluated(written["holds"], values, record)
    if found := _TENSOR.fullmatch(case.text):
        value = values.get(found[1])
        return isinstance(value, dict) and "shape" in value
    if numbers := _DIMENSIONS.findall(case.text):
        return str(record.get("dimensions")) in numbers
    if case.text in ("in training", "in evaluation"):
        return record.get("training") is (case.text == "in training")
    if case.text == "for empty tensors":
        return bool(record.get("empty"))
    if case.text == "for tensors without dimensions":
        return record.get("dimensions") == 0
    if case.text == f"for tensors without dimensions{WITH_DIM}":
        return record.get("dimensions") == 0 and has_dim(values)
    if found := _TYPE.fullmatch(case.text):
        return bool(found[1] == record.get("dtype"))
    return None if _may_hold(case.text, record) else False


def _may_hold(text: str, record: Mapping[str, Any]) -> bool:
    """False where the words of an example are plainly about other calls."""
    if found := re.fullmatch(r"for some (\w+) tensors", text):
        return record.get("empty", False) if found[1] == "empty" else found[1] == record.get("dtype")
    if text == "for some tensors without dimensions":
        return record.get("dimensions") == 0
    if text.startswith("for example") and text.endswith((" in training", " in evaluation")):
        return bool(record.get("training")) == text.endswith(" in training")
    return True


def _evaluated(expression: str, values: Mapping[str, Any], record: Mapping[str, Any]) -> bool | None:
    scope = {
        "a": values.get,
        "shape": lambda tensor: tensor["shape"],
        "dims": lambda tensor: len(tensor["shape"]),
        "kind": lambda tensor: tensor["dtype"] if isinstance(tensor, dict) and "dtype" in tensor else "",
        "many": lambda value: value if isinstance(value, list) else [value],
        "uneven": _uneven,
        "given": record.get("given", ()),
        "training": record.get("training"),
    }
    try:
        return bool(eval(expression, scope))
    except (TypeError, KeyError, IndexError):
        return None


def _uneven(shape: Sequence[int], wanted: Any, dimensions: int) -> bool:
    """Return whether an output size does not divide the last dimensions."""
    sizes = wanted if isinstance(wanted, list) else [wanted] * dimensions
    return any(size and have % size for have, size in zip(shape[-dimensions:], sizes, strict=True))

"""Shape rules of products: the shape of the result by those of two tensors, or by an equation."""

from __future__ import annotations

from xlamig.flow.interp.domain.shapes import UNKNOWN, Shape, broadcast
from xlamig.flow.interp.operands import Operands
from xlamig.flow.interp.shape_table import RULES, rule


@rule("matmul")
def _matmul(given: Operands) -> Shape:
    one, other = given.pair or ((), ())
    if not one or not other:
        return None
    if len(other) == 1:
        return one[:-1]
    if len(one) == 1:
        return (*other[:-2], other[-1])
    batch = broadcast((one[:-2], other[:-2]))
    return None if batch is None else (*batch, one[-2], other[-1])


@rule("linear")
def _linear(given: Operands) -> Shape:
    if len(given.tensors) < 2 or not given.tensors[0] or not given.tensors[1]:
        return None
    x, weight = given.tensors[0], given.tensors[1]
    return (*x[:-1], *weight[:-1])


@rule("outer")
def _outer(given: Operands) -> Shape:
    return None if given.pair is None else (*given.pair[0], *given.pair[1])


@rule("einsum")
def _einsum(given: Operands) -> Shape:
    """Return as many dimensions as the right side of an equation has letters, as "bij,pij->bp"."""
    equation = given.number("equation") or given.unnamed(0)
    if not isinstance(equation, str) or "->" not in equation or "." in equation:
        return None
    return (UNKNOWN,) * len(equation.partition("->")[2].replace(" ", ""))


PRODUCTS = frozenset(RULES)
"""The rules of this file."""

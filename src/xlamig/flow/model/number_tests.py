"""Comparisons of a name that holds a number with a number."""

from __future__ import annotations

from xlamig import ir


def positive_where_true(node: ir.Expr) -> ir.Expr | None:
    """Return the name or attribute that is above 0 where a comparison holds, `n` of `n > 0` and `n == 9`;
    None for other expressions."""
    match node:
        case ir.Compare(
            left=ir.Name() | ir.Attribute() as left,
            ops=(">" | ">=" | "==" as op,),
            comparators=(ir.Const(value=int() | float() as value),),
        ) if value > 0 or (value == 0 and op == ">"):
            return left
    return None

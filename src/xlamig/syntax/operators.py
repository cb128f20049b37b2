"""LibCST operator node -> the operator as it is written."""

from __future__ import annotations

from typing import TypeVar

import libcst as cst

from xlamig import ir

UNARY: dict[type, str] = {cst.Plus: "+", cst.Minus: "-", cst.BitInvert: "~", cst.Not: "not"}

KEYWORD_CONSTANTS = {"True": True, "False": False, "None": None}

BINARY: dict[type, str] = {
    cst.Add: "+",
    cst.Subtract: "-",
    cst.Multiply: "*",
    cst.Divide: "/",
    cst.FloorDivide: "//",
    cst.Modulo: "%",
    cst.Power: "**",
    cst.LeftShift: "<<",
    cst.RightShift: ">>",
    cst.BitOr: "|",
    cst.BitAnd: "&",
    cst.BitXor: "^",
    cst.MatrixMultiply: "@",
}

AUGMENTED: dict[type, str] = {
    cst.AddAssign: "+",
    cst.SubtractAssign: "-",
    cst.MultiplyAssign: "*",
    cst.DivideAssign: "/",
    cst.FloorDivideAssign: "//",
    cst.ModuloAssign: "%",
    cst.PowerAssign: "**",
    cst.LeftShiftAssign: "<<",
    cst.RightShiftAssign: ">>",
    cst.BitOrAssign: "|",
    cst.BitAndAssign: "&",
    cst.BitXorAssign: "^",
    cst.MatrixMultiplyAssign: "@",
}

COMPARISON: dict[type, str] = {
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.In: "in",
    cst.NotIn: "not in",
    cst.Is: "is",
    cst.IsNot: "is not",
}

Branch = TypeVar("Branch")


def chosen_first(body: Branch, test: ir.Expr, orelse: Branch) -> tuple[Branch, ir.Expr, Branch]:
    """Return a choice with the branch first that its test chooses: `b`, `x`, `a` of `a if not x else b`."""
    while isinstance(test, ir.Unary) and test.op == "not":
        body, test, orelse = orelse, test.operand, body
    return body, test, orelse

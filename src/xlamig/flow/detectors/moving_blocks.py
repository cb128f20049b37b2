"""Blocks that do nothing but move values to a device."""

from __future__ import annotations

import re

from xlamig import ir
from xlamig.flow.detectors.blocks import acts, function_called
from xlamig.flow.model.scopes import Scope

_DEVICE = re.compile(r"cuda|device")


def only_moves(block: ir.Block, scope: Scope, text: str) -> bool:
    """Return whether a block only moves values to a device, `x, y = x.cuda(), y.cuda()`, itself or by a
    function that does nothing else."""
    if not all(isinstance(statement, ir.Assign | ir.ExprStmt) for statement in block):
        return False
    done = [part for statement in block for part in acts(statement)]
    return all(is_move(part, text) or _calls_move(part, scope, text) for part in done)


def is_move(node: ir.Expr, text: str) -> bool:
    """Return whether an expression is a call that moves a value: `x.cuda()`, `x.to(device)`."""
    match node:
        case ir.Call(func=ir.Attribute(attr="cuda")):
            return True
        case ir.Call(func=ir.Attribute(attr="to"), args=(first, *_)):
            return _DEVICE.search(text, first.start, first.end) is not None
    return False


def _calls_move(node: ir.Expr, scope: Scope, text: str) -> bool:
    """Return whether a call runs a function that moves values, and returns them."""
    function = function_called(node, scope) if isinstance(node, ir.Call) else None
    match function.body if function is not None else ():
        case (*body, ir.Return(value=ir.Expr() as value)):
            given = value.elements if isinstance(value, ir.Sequence) else (value,)
            moved = [part for part in given if not isinstance(part, ir.Name)]
            some = bool(body or moved)
            return some and only_moves(tuple(body), scope, text) and all(is_move(p, text) for p in moved)
    return False

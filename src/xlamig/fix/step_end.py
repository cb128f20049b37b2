"""Where a step ends: below what still belongs to it, such as averages of the parameters."""

from __future__ import annotations

import re

from xlamig import ir
from xlamig.fix.context import FixContext
from xlamig.fix.deferral import deferral_of
from xlamig.fix.loops import OWN_BODIES, Loop, has_event, is_setting
from xlamig.fix.names import names_bound
from xlamig.fix.scopes import block_of, dotted_name, path_to

_WAIT = re.compile(r"(?:\w+\.)*cuda\.synchronize\(")
_BELONGS = re.compile(
    r"(?:\w+\.)*\w*(?:ema|swa|sched|scaler|warmup|averag|teacher|target|momentum|polyak|soft_update|lr)\w*(?:\.\w+)*\.?"
    r"(?:step|update|update_parameters|soft_update|momentum_update|__call__)?\(",
    re.IGNORECASE,
)
_ZEROES = re.compile(r"\.zero_grad\(")
_IN_PLACE = re.compile(r"\.(?:mul|add|copy|lerp|sub|div)_\(|\.data\b|\.grad\b")
_READS = re.compile(
    r"\.(?:item|tolist|cpu|numpy|set_postfix|set_description|save|synchronize)\(|\bprint\b|\btime\b|perf_counter"
    r"|\b(?:logg(?:er|ing)|wandb|\w*writer)\b|(?:(?<![\w.])|\bself\.)log(?:_\w+)?\("
    r"|\b(?:float|int|bool|str)\(|torch\.save"
)


def end_of_step(context: FixContext, update: ir.Stmt) -> ir.Stmt:
    """The last statement after `update` that still works on the step's tensors; `update` itself if none
    does before something reads a value or leaves."""
    block = block_of(context.module, update) or (update,)
    changing = _changing(context.module, update)
    index = next(i for i, s in enumerate(block) if s is update)
    end = update
    for statement in block[index + 1 :]:
        if reads_value(context, statement) or not _is_straight(statement, changing):
            break
        if isinstance(statement, ir.If) and has_event(context.module, statement):
            break
        if _belongs(statement, context):
            end = statement
    return end


def _changing(module: ir.Module, update: ir.Stmt) -> set[str]:
    """Return the names, and paths such as `self.loss`, that the loop around `update` assigns."""
    path = path_to(module, update.start, update.end)
    around = next((node for node in reversed(path) if isinstance(node, (*OWN_BODIES, Loop))), module)
    nodes = list(ir.walk(around))
    targets = (t for node in nodes if isinstance(node, ir.Assign) for t in node.targets)
    names = {name for node in nodes for name in names_bound(node)}
    return names | {dotted_name(t) for t in targets if isinstance(t, ir.Attribute)}


def reads_value(context: FixContext, statement: ir.Stmt) -> bool:
    """Return whether a statement looks as if it needs a value on the host, now and not below the update."""
    if deferral_of(context.module, statement):
        return False
    return _READS.search(context.text_of(statement)) is not None


def waits(context: FixContext, loop: Loop) -> bool:
    """Each iteration of the loop waits for CUDA: once that knows XLA it ends the step."""
    return any(isinstance(s, ir.ExprStmt) and _WAIT.match(context.text_of(s)) is not None for s in loop.body)


def _is_straight(statement: ir.Stmt, changing: set[str]) -> bool:
    """Return whether a statement surely goes on to the next one, and no branch waits for a tensor."""
    if isinstance(statement, ir.If):
        branches = (*statement.body, *statement.orelse)
        return _is_host_test(statement.test, changing) and all(_is_straight(s, changing) for s in branches)
    simple = isinstance(statement, ir.ExprStmt | ir.Assign | ir.AugAssign | ir.AnnAssign)
    return simple or isinstance(statement, ir.With | ir.For)


def _is_host_test(test: ir.Expr, changing: set[str]) -> bool:
    """Return whether a test asks for no tensor's value: a setting, `loss is not None`, `i % 10 == 0`."""
    match test:
        case ir.Unary(op="not", operand=operand):
            return _is_host_test(operand, changing)
        case ir.Bool(values=values):
            return all(_is_host_test(value, changing) for value in values)
        case ir.Compare(ops=("is" | "is not",)):
            return True
        case ir.Compare(left=ir.Binary(op="%"), comparators=(ir.Const(),)):
            return True
        case ir.Attribute(value=ir.Name(id="self")):
            return dotted_name(test) not in changing
    return is_setting(test, changing)


def _belongs(statement: ir.Stmt, context: FixContext) -> bool:
    text = context.text_of(statement)
    match statement:
        case ir.If():
            return any(_belongs(s, context) for s in (*statement.body, *statement.orelse))
        case ir.ExprStmt():
            return bool(_BELONGS.match(text) or _ZEROES.search(text) or _IN_PLACE.search(text))
        case ir.With() | ir.For():
            return bool(_IN_PLACE.search(text) or _BELONGS.search(text))
        case ir.Assign(value=value) | ir.AugAssign(value=value):
            calls = (node for node in ir.walk(value) if isinstance(node, ir.Call))
            return any(isinstance(call.func, ir.Attribute) for call in calls)
    return False

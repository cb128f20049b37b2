"""Tests that hold in some iterations of a loop only: `step % 100 == 0`, `should_log`, `random() < 0.01`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial

from xlamig import ir
from xlamig.flow.model.by_kind import branch_of_test
from xlamig.flow.model.counter_tests import counts_iterations, seldom_by_counter
from xlamig.flow.model.flag_tests import is_false, tests_of_flag, tests_of_return
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.knowledge import values as table

_SELDOM = re.compile(
    r"^_?(?:should|do|must|time_to|is_time_to)_?(?:log|print|save|eval|report|sync|flush)"
    r"|^_?(?:is_)?divisible(?:_by)?$"
)
_COUNTER = re.compile(r"(?:^|_)(?:steps?|iter|iteration|it|batch_(?:idx|index|nb|id|i))$", re.IGNORECASE)
_DRAWS = frozenset({"random", "rand", "uniform"})
_NAN_CHECKS = table.names("torch", "nan-checks")
_FINITE_CHECKS = table.names("torch", "finite-checks")
_MAY_BE_SELDOM = re.compile(
    r"%|[<>]|[!=]=|is not|log|print|save|eval|report|sync|flush|divisible"
    rf"|{'|'.join(sorted(_NAN_CHECKS))}"
)
_FEW = 0.25  # of all iterations: a draw that holds in more of them runs often
_DEEP = 2  # names are followed once, and functions that they are results of
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


class IntervalTests:
    """Tells tests of the step by what they compare; a name that is set once stands for what it is set to.

    `is_rank` says whether an expression is the number of a process: `i % world_size == rank` shares work.
    """

    def __init__(self, module: ir.Module, text: str, is_rank: Callable[[ir.Expr, Scope], bool]) -> None:
        self._module, self._text, self._is_rank = module, text, is_rank
        self._flags: dict[tuple[Scope, str], bool] = {}  # whether they are seldom true
        self._counts_steps = partial(counts_iterations, module)

    def hold_seldom(self, test: ir.Expr, scope: Scope, holds: bool) -> bool:
        """Return whether a test has this outcome in some iterations only."""
        if not _asks_name(test) and not _MAY_BE_SELDOM.search(self._text, test.start, test.end):
            return False
        return self._is_seldom(test, scope) is holds

    def _is_seldom(self, test: ir.Expr, scope: Scope, depth: int = 0) -> bool | None:
        """Return True if few iterations fulfil a test, False if most do; None if that is not known."""
        match test:
            case ir.Unary(op="not", operand=operand):
                seldom = self._is_seldom(operand, scope, depth)
                return None if seldom is None else not seldom
            case ir.Bool(op=op, values=values):
                each = [self._is_seldom(value, scope, depth) for value in values]
                mostly = op == "or" and False in each  # `not self.on or step % 100 != 0`
                return True if True in each else False if mostly else None
            case ir.Binary(op="|" | "&", left=left, right=right):  # `x.isnan().any() | x.isinf().any()`
                return True if any(self._is_seldom(v, scope, depth) for v in (left, right)) else None
            case ir.Binary(op="%", left=left) if not isinstance(left, ir.Const | ir.FString):
                return False
            case ir.IfExp(test=asked, body=ir.Const(value=True), orelse=ir.Const(value=False)):
                return self._is_seldom(asked, scope, depth)
            case ir.Compare(
                left=ir.Name(id=name), ops=("is" | "is not" as op,), comparators=(ir.Const(value=None),)
            ):
                return op == "is not" if not depth and self._is_seldom_flag(name, scope) else None
            case ir.Compare(left=left, ops=(op,), comparators=(right,)):
                return self._is_seldom_compared(test, left, op, right, scope)
            case ir.Call(func=ir.Name(id="bool" | "int"), args=(ir.Arg(value=inner),)):
                return self._is_seldom(inner, scope, depth)
            case ir.Call(func=ir.Attribute(value=ir.Call() as inner)):  # `torch.isnan(loss).any()`
                return self._is_seldom(inner, scope, depth)
            case ir.Name() | ir.Attribute() | ir.Call():
                return self._is_seldom_named(test, scope, depth)
        return None

    def _is_seldom_named(
        self, test: ir.Name | ir.Attribute | ir.Call, scope: Scope, depth: int
    ) -> bool | None:
        func = test.func if isinstance(test, ir.Call) else test
        name = path_of(func).rpartition(".")[2]
        if name in _NAN_CHECKS:
            return name not in _FINITE_CHECKS
        if _SELDOM.search(name):
            return None if _is_mode(test, scope) else True
        if isinstance(test, ir.Call) and depth <= 1:
            bound = scope.find(path_of(func)) if path_of(func) else []
            made = bound[0].node if len(bound) == 1 else None
            tests = tests_of_return(made) if isinstance(made, ir.FunctionDef) else []
            return self._are_seldom(tests, scope) or None
        if depth or isinstance(test, ir.Call):
            return None
        if isinstance(test, ir.Attribute):
            return self._is_seldom_attribute(path_of(test), scope) or None
        if seldom_by_counter(test, self._counts_steps) is False:
            return False
        found = scope.lookup(test.id)
        if len(found) == 1 and found[0].kind == "value" and found[0].value is not None:
            return self._is_seldom(found[0].value, scope, 1)
        return self._is_seldom_flag(test.id, scope) or None

    def _is_seldom_flag(self, name: str, scope: Scope) -> bool:
        key = scope, name
        if key not in self._flags:
            self._flags[key] = False  # as far as it depends on itself
            found = tests_of_flag(self._module, scope.bindings.get(name, []))
            self._flags[key] = bool(found) and all(
                any(self._is_seldom(one, scope, 1) for one in tests) for tests in found
            )
        return self._flags[key]

    def _is_seldom_attribute(self, path: str, scope: Scope) -> bool:
        """Return whether methods set an attribute to tests of the step, or to False: `self.log = i % n == 0`.
        A test in `__init__` has one outcome for each object: `self.shifts = layer % 2 == 0`."""
        found = scope.find(path) if path.startswith("self.") else []
        tests = [one for one in found if not is_false(one.value)]
        return bool(tests) and all(
            one.kind == "value"
            and one.value is not None
            and not one.scope.name.endswith(".__init__")
            and self._is_seldom(one.value, one.scope, 1)
            for one in tests
        )

    def _are_seldom(self, tests: Iterable[ir.Expr], scope: Scope) -> bool:
        found = [self._is_seldom(one, scope, _DEEP) for one in tests]
        return bool(found) and all(found)

    def _is_seldom_compared(
        self, test: ir.Compare, left: ir.Expr, op: str, right: ir.Expr, scope: Scope
    ) -> bool | None:
        if isinstance(left, ir.Binary) and left.op == "%":
            if op in ("==", "!="):
                return None if self._is_rank(right, scope) else op == "=="  # `i % world_size == rank`
            return True if op in ("<", "<=") and _is_below(right, left.right) else None
        counts = _COUNTER.search(path_of(left).rpartition(".")[2]) is not None
        if counts and op in ("==", "!=") and isinstance(right, ir.Const) and isinstance(right.value, int):
            return op == "=="
        if op in _MIRRORED:
            drawn = _outcome_of_draw(left, op, right)
            drawn = drawn if drawn is not None else _outcome_of_draw(right, _MIRRORED[op], left)
            if drawn is not None:
                return drawn
        of_counter = seldom_by_counter(test, self._counts_steps)
        if of_counter is not None:
            return of_counter
        waits = op in (">", ">=", "==") and not (isinstance(right, ir.Const) and right.value in (0, 1))
        return True if waits and self._starts_again(test, left) else None

    def _starts_again(self, test: ir.Compare, left: ir.Expr) -> bool:
        """Return whether a test asks how many steps or seconds have passed, and its branch counts from zero
        again: `if step - last >= n: last = step`, `if count == n: count = 0`."""
        since = path_of(left.right) if isinstance(left, ir.Binary) and left.op == "-" else ""
        count = path_of(left)
        if not since and not count:
            return False
        branch = branch_of_test(self._module, test)
        for statement in branch.body if branch else ():
            for node in ir.walk(statement):
                match node:
                    case ir.Assign(targets=(target,), value=value) if path := path_of(target):
                        if path == since or (path == count and _is_zero(value)):
                            return True
        return False


def _asks_name(test: ir.Expr) -> bool:
    """Return whether a test, or a part of it, is a name or a call, which may stand for a test of the step."""
    match test:
        case ir.Bool(values=values):
            return any(map(_asks_name, values))
        case ir.Unary(op="not", operand=operand):
            return _asks_name(operand)
        case ir.Call(func=func):
            return bool(path_of(func))
    return isinstance(test, ir.Name | ir.Attribute)


def _is_zero(node: ir.Expr) -> bool:
    return isinstance(node, ir.Const) and type(node.value) is int and node.value == 0


def _is_below(bound: ir.Expr, divisor: ir.Expr) -> bool:
    """Return whether few remainders are below a bound: of `step % 1000 < 8`, not of `step % 4 < 3`."""
    match bound, divisor:
        case ir.Const(value=int() as few), ir.Const(value=int() as all_of_them):
            return few <= _FEW * all_of_them
        case ir.Const(value=int() as few), _:
            return few <= 1
    return False


def _outcome_of_draw(draw: ir.Expr, op: str, chance: ir.Expr) -> bool | None:
    """Return whether a random number between 0 and 1 that compares so does it seldom, or mostly."""
    drawn = isinstance(draw, ir.Call) and not draw.args and path_of(draw.func).rpartition(".")[2] in _DRAWS
    if not drawn or not isinstance(chance, ir.Const) or not isinstance(chance.value, float):
        return None
    share = chance.value if op in ("<", "<=") else 1 - chance.value
    return True if share <= _FEW else False if share >= 1 - _FEW else None


def _is_mode(test: ir.Expr, scope: Scope) -> bool:
    """Return whether methods switch an attribute on or off, whatever they are called with, as `train` and
    `eval` do: it does not tell one step from another."""
    found = scope.find(path_of(test)) if isinstance(test, ir.Attribute) else []
    values = [b.value for b in found if not b.block]
    return 0 < len(found) == len([v for v in values if isinstance(v, ir.Const) and isinstance(v.value, bool)])

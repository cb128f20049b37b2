"""Tests that let a place run on one rank only, or in some steps only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.model.by_kind import of_kind
from xlamig.flow.model.interval_tests import IntervalTests
from xlamig.flow.model.known import short
from xlamig.flow.model.process_numbers import ProcessNumbers
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.flow.model.site import Analysis
from xlamig.knowledge import values as table
from xlamig.per_file import per_file

_RANKS = re.compile(r"rank|ordinal|process_index|procid|main|master|primary|zero|chief", re.IGNORECASE)
_RANK = re.compile(r"(?:^|[._])rank(?:_id)?_*$|process_index_*$|_ordinal_*$", re.IGNORECASE)
_IS_FIRST = re.compile(
    r"^_?(?:is|am)_?(?:the_)?(?:\w+_)?(?:main|master|primary|rank_?(?:zero|0)|global_zero|process_zero|chief)"
    r"(?:_process|_rank|_node|_ordinal|_worker)?$"
    r"|^(?:main|master)_(?:process|rank)$",
    re.IGNORECASE,
)
_ON_FIRST = re.compile(
    r"^(?:\w+_)?rank_?(?:zero|0)_only$|^(?:run_|only_)?on_(?:local_)?(?:main|master)(?:_process|_rank)?$"
    r"|^(?:main|master)_(?:process|rank|node)(?:_only)?$|^(?:main|master)_only$"
)
_ALONE = re.compile(r"dist|world|initiali[sz]ed|multi|gpu", re.IGNORECASE)  # `not distributed or rank == 0`
_MAX_NAMES = 3  # followed from one to the next
_FIRST = (0, -1)  # -1 stands for a run without ranks
_VARIABLE = re.compile(r"RANK$|^SLURM_PROCID$")
_NO_RANK = re.compile(r"-\s*1\b")
_RANK_0 = re.compile(r"(?<![\w.])0\b")


class FrequencyGuards:
    """Reads tests by the names in them; a name that is set once stands for what it is set to."""

    def __init__(self, analysis: Analysis) -> None:
        self.text = analysis.text
        self._module = analysis.module
        self._numbers = ProcessNumbers(analysis)
        self._intervals = IntervalTests(analysis.module, analysis.text, self._is_rank)
        self._ask_for_rank: dict[tuple[int, int], bool] = {}  # by the identities of a test and its scope

    def first_rank(self, test: ir.Expr, scope: Scope, holds: bool) -> tuple[Why, ...]:
        """The reason if only rank 0 gets here where `test` is true, or where it is not."""
        if not self._may_ask_for_rank(test, scope):
            return ()
        if self._is_first(test, scope) is not holds:
            return ()
        said = short(self.text[test.start : test.end])
        where = f"{'' if holds else 'past '}`if {said}`"
        return (Why(f"only {_among_ranks(said)}: {where}", (test.start, test.end)),)

    def of_decorator(self, node: ir.Expr) -> tuple[Why, ...]:
        """`@rank_zero_only`, `@accelerator.on_main_process`"""
        path = path_of(node.func if isinstance(node, ir.Call) else node)
        if not _ON_FIRST.search(path.rpartition(".")[2]):
            return ()
        return (Why(f"only on rank 0: `@{path}`", (node.start, node.end)),)

    def lowers_frequency(self, test: ir.Expr, scope: Scope, holds: bool) -> bool:
        """Return whether most iterations leave a place in a loop out: `step % 100 == 0`, `should_log`."""
        return self._intervals.hold_seldom(test, scope, holds)

    # ------------------------------------------------------------------ ranks

    def _may_ask_for_rank(self, test: ir.Expr, scope: Scope) -> bool:
        key = id(test), id(scope)
        known = self._ask_for_rank.get(key)
        if known is None:
            known = self._ask_for_rank[key] = self._names_rank(test, scope)
        return known

    def _names_rank(self, test: ir.Expr, scope: Scope) -> bool:
        if _RANKS.search(self.text, test.start, test.end) is not None:
            return True
        return any(
            self._stands_for(asked, scope) is not None or self._numbers.holds(asked, scope)
            for asked in _asked(test)
        )

    def _is_first(self, test: ir.Expr, scope: Scope, depth: int = 0) -> bool | None:
        """True if it is rank 0 where the test holds, False if it is where it does not."""
        match test:
            case ir.Unary(op="not", operand=operand):
                inner = self._is_first(operand, scope, depth)
                return (True if self._is_rank(operand, scope) else None) if inner is None else not inner
            case ir.Bool(op=op, values=values):
                found = [self._is_first(value, scope, depth) for value in values]
                alone = [_ALONE.search(self.text, v.start, v.end) is not None for v in values]
                held = op == "and"
                if any(f is held for f in found):  # `a and b` held: both did
                    return held
                each = all(f is not None or a for f, a in zip(found, alone, strict=True))
                return not held if each and (not held) in found else None
            case ir.IfExp(
                test=asked, orelse=ir.Const(value=None)
            ):  # `ema = EMA(model) if rank == 0 else None`
                return True if self._is_first(asked, scope, depth) else None
            case (
                ir.IfExp(body=ir.Const(value=True), orelse=among)
                | ir.IfExp(body=among, orelse=ir.Const(value=True))
            ):  # `rank == 0 if distributed else True`
                return True if self._is_first(among, scope, depth) else None
            case ir.Compare(left=left, ops=("is" | "is not" as op,), comparators=(ir.Const(value=None),)):
                made = self._is_first(left, scope, depth)  # `if ema is not None`
                return op == "is not" if made else None
            case ir.Compare(left=left, ops=(op,), comparators=(right,)):
                if self._is_rank(left, scope):
                    return _compared(op, right)
                value = _set_to(left, scope) if isinstance(left, ir.Name) else None
                if value is not None and self._is_rank(value, scope):
                    return _compared(op, right)
                return _compared(op, left) if op in ("==", "!=") and self._is_rank(right, scope) else None
            case ir.Name() | ir.Attribute() | ir.Call():
                path = path_of(test.func if isinstance(test, ir.Call) else test)
                if _IS_FIRST.search(path.rpartition(".")[2]):
                    return True
                value = self._stands_for(test, scope) if depth < _MAX_NAMES else None
                return None if value is None else self._is_first(value, scope, depth + 1)
        return None

    def _is_rank(self, node: ir.Expr, scope: Scope) -> bool:
        if isinstance(node, ir.Binary) and node.op == "%":  # `rank % gpus_per_node == 0`
            node = node.left
        return _is_rank(node) or self._numbers.holds(node, scope)

    def _stands_for(self, test: ir.Expr, scope: Scope) -> ir.Expr | None:
        """Return what a name or attribute is set to in one place, or what a function with one statement
        returns."""
        match test:
            case ir.Name() | ir.Attribute(value=ir.Name(id="self")):
                found = scope.find(path_of(test))
                return _but_true(b.value if b.kind == "value" else None for b in found)
            case ir.Attribute():
                return _but_true(_settings_in(self._module).get(path_of(test), ()))
            case ir.Call(func=ir.Name(id=name), args=()):
                bindings = scope.lookup(name)
                made = bindings[0].node if len(bindings) == 1 else None
                last = made.body[-1] if isinstance(made, ir.FunctionDef) and len(made.body) == 1 else None
                return last.value if isinstance(last, ir.Return) else None
        return None


@per_file
@cache
def _settings_in(module: ir.Module) -> Mapping[str, Sequence[ir.Expr]]:
    """Return the values that a module gives to options, by their paths: `args.save_logs`."""
    found: dict[str, list[ir.Expr]] = {}
    for node in of_kind(module, ir.Assign):
        for target in node.targets:
            owner, _, _ = path_of(target).rpartition(".")
            if owner and table.name_like("settings").search(owner.rpartition(".")[2]):
                found.setdefault(path_of(target), []).append(node.value)
    return found


def _asked(test: ir.Expr) -> Iterator[ir.Expr]:
    """Yield the names, attributes and calls that a test, or a part of it, asks."""
    match test:
        case ir.Bool(values=values):
            for value in values:
                yield from _asked(value)
        case ir.Unary(op="not", operand=operand):
            yield from _asked(operand)
        case ir.Compare(left=left):
            yield left
        case _:
            yield test


def _among_ranks(test: str) -> str:
    """Return where a test for the first rank holds; -1 stands for a run without ranks."""
    alone = "without distributed training"
    if not _NO_RANK.search(test):
        return "on rank 0"
    return f"on rank 0 or {alone}" if _RANK_0.search(test) else alone


def _set_to(name: ir.Name, scope: Scope) -> ir.Expr | None:
    """Return the expression that a name is set to, if it is set in one place."""
    bindings = scope.lookup(name.id)
    return bindings[0].value if len(bindings) == 1 and bindings[0].kind == "value" else None


def _but_true(values: Iterable[ir.Expr | None]) -> ir.Expr | None:
    """Return the only one of some values, a True where there is no other process left out."""
    found = [value for value in values if not (isinstance(value, ir.Const) and value.value is True)]
    return found[0] if len(found) == 1 else None


def _is_rank(node: ir.Expr) -> bool:
    called = path_of(node.func) if isinstance(node, ir.Call) else ""
    looked_up = isinstance(node, ir.Subscript) and path_of(node.value) == "os.environ"
    if looked_up or called in ("int", "os.environ.get", "os.getenv"):  # `int(os.environ["RANK"])`
        texts = (part.value for part in ir.walk(node) if isinstance(part, ir.Const))
        return any(isinstance(text, str) and _VARIABLE.search(text) for text in texts)
    return _RANK.search(path_of(node.func if isinstance(node, ir.Call) else node)) is not None


def _compared(op: str, right: ir.Expr) -> bool | None:
    """Return whether a rank that compares so with a number is the first, or any but the first."""
    among = right.elements if isinstance(right, ir.Sequence) else (right,)
    first = bool(among) and all(_number(e) in _FIRST for e in among)
    match op:
        case "==" | "in" | "is":
            return True if first else None
        case "!=" | "not in" | "is not":
            return False if first else None
        case ">" | "<=" if _number(right) == 0:
            return op == "<="
        case "<" if _number(right) == 1:
            return True
    return None


def _number(node: ir.Expr) -> object:
    if isinstance(node, ir.Unary) and node.op == "-" and isinstance(node.operand, ir.Const):
        value = node.operand.value
        return -value if isinstance(value, int) else None
    if isinstance(node, ir.Const) and isinstance(node.value, str) and node.value.isdigit():
        return int(node.value)  # of an environment variable
    return node.value if isinstance(node, ir.Const) and type(node.value) is int else None

"""Collect the guards of a place: tests, early exits, loops and handlers around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xlamig import ir
from xlamig.facts import Guard, Span, Why
from xlamig.flow.detectors.gpu_counts import shares_work, wraps_for_gpus
from xlamig.flow.detectors.mirrored import only_logs
from xlamig.flow.interp.events import FREQUENCIES
from xlamig.flow.model.conditions import count_of
from xlamig.flow.model.exits import ends_program, jumps_out, loop_left
from xlamig.flow.model.frequency_guards import FrequencyGuards
from xlamig.flow.model.guards import Guards
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import Scope, catches_import_errors, path_of
from xlamig.flow.model.seldom_branches import is_seldom
from xlamig.flow.model.site import Analysis, CodeContext

_NVIDIA_ONLY = frozenset({"tensorrt", "torch_tensorrt", "pycuda", "cupy", "pynvml", "cuda"})


class Narrowing:
    """Makes narrower places out of wider ones."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.guards = Guards(analysis)
        self.frequency_guards = FrequencyGuards(analysis)

    def where(self, test: ir.Expr, place: CodeContext, holds: bool) -> CodeContext:
        """The place narrowed to where a test holds, or to where it does not."""
        place = guarded(place, self.guards.of(test, place.scope, holds))
        if place.frequency == "step" and self.frequency_guards.lowers_frequency(test, place.scope, holds):
            place = replace(place, frequency="interval")
        first = self.frequency_guards.first_rank(test, place.scope, holds)
        return on_first_rank(place, first)

    def test(self, node: ir.If, place: CodeContext) -> CodeContext:
        """The place of the test of a statement, which may decide no more than what is logged."""
        branches = (*node.body, *node.orelse)
        if shares_work(node.body):
            return place.within("condition", "shared-work")
        others = [part for part in branches if not only_logs(part, place.scope)]
        if others and all(map(wraps_for_gpus, others)):
            return place.within("condition", "data-parallel")
        logs = not others
        logs = logs and any(isinstance(part, ir.ExprStmt) for part in branches)
        return place.within("condition", "log") if logs else place.within("condition")

    def branch(self, node: ir.If, place: CodeContext, holds: bool) -> CodeContext:
        """The place narrowed to a branch of a statement."""
        inside = self.where(node.test, place, holds)
        seldom = inside.frequency == "step" and is_seldom(
            node, node.body if holds else node.orelse, place.scope
        )
        return replace(inside, frequency="interval") if seldom else inside

    def leaving(self, body: ir.Block, place: CodeContext, loops: Sequence[CodeContext]) -> CodeContext:
        """The place of a branch; one that ends in `break` or `return` runs as often as the loop that it
        leaves. `loops` are the places of the loops around it, the outermost first."""
        around = loop_left(body, loops)
        if around is None:
            return place
        context = place.context if "per-step" in around.context else place.context - {"per-step"}
        frequency = min(place.frequency, around.frequency, key=FREQUENCIES.index)
        return replace(place, context=context, frequency=frequency)

    def before(self, node: ir.Node, span: Span, place: CodeContext) -> tuple[Guard, ...]:
        """Return what held when an expression inside of a statement runs: the values before it in `and` and
        `or`, and the tests of ternaries around it."""
        found: list[Guard] = []
        while (inside := _child_around(node, span)) is not None:
            match node:
                case ir.Bool(op=op, values=values):
                    for value in values[: next(i for i, v in enumerate(values) if v is inside)]:
                        found += self.guards.of(value, place.scope, op == "and")
                case ir.IfExp(test=test) if inside is not test:
                    found += self.guards.of(test, place.scope, inside is node.body)
            node = inside
        return tuple(found)

    def after(self, statement: ir.Stmt, place: CodeContext) -> CodeContext:
        """The place of what follows a statement in its block: an early exit guards it."""
        if isinstance(statement, ir.If):
            for body, holds in ((statement.body, False), (statement.orelse, True)):
                if _leaves_quietly(body):
                    place = self.where(statement.test, place, holds)
        if _leaves(statement, place.scope) and (
            place.block or place.scope.kind == "function"
        ):  # cells run one by one
            text = short(self.analysis.source(statement))
            return guarded(place, (Guard("never", text, (statement.start, statement.end)),))
        if place.scope.kind == "function" and isinstance(statement, ir.Import | ir.Try):
            return guarded(place, _imported(statement))
        return place

    def decorated(self, decorator: ir.Expr, place: CodeContext) -> CodeContext:
        """The place of a function's body under a decorator."""
        place = guarded(place, self.guards.of_decorator(decorator, place.scope))
        return on_first_rank(place, self.frequency_guards.of_decorator(decorator))

    def rounds(self, node: ir.For, place: CodeContext) -> tuple[Guard, ...]:
        """Return the guards of the iterations of a loop: one over CUDA devices has none without them, nor has
        `range(n)` where `n` is an option that everything leaves at 0."""
        calls = [n for n in ir.walk(node.iter) if isinstance(n, ir.Call)]
        if any(self.analysis.names.dotted(c.func, place.scope) == "torch.cuda.device_count" for c in calls):
            text = short(self.analysis.source(node.iter))
            return (Guard("cuda", f"for ... in {text}", (node.iter.start, node.iter.end)),)
        count = count_of(node)
        return self.guards.of_option(count, place.scope) if count is not None else ()


def _child_around(node: ir.Node, span: Span) -> ir.Node | None:
    return next((n for n in ir.children(node) if n.start <= span[0] and span[1] <= n.end), None)


def guarded(place: CodeContext, guards: tuple[Guard, ...]) -> CodeContext:
    """The place under more guards."""
    new = tuple(guard for guard in guards if guard not in place.guards)
    return replace(place, guards=(*place.guards, *new)) if new else place


def on_first_rank(place: CodeContext, reasons: tuple[Why, ...]) -> CodeContext:
    """The place where only rank 0 gets to, if there are reasons to think so."""
    if not reasons or "rank-guarded" in place.context:
        return place
    return replace(place.within("rank-guarded"), reasons=(*place.reasons, *reasons))


def of_optional_import(node: ir.Try) -> tuple[Guard, ...]:
    """`try: import ...` with a handler for what may be missing."""
    if catches_import_errors(node) and any(isinstance(s, ir.Import | ir.ImportFrom) for s in node.body):
        return (Guard("optional-import", "try: import", (node.start, node.start + 3)),)
    return ()


def catches_more(node: ir.Try) -> bool:
    """Return whether a handler is for more than imports that fail."""
    for handler in node.handlers:
        caught = handler.type.elements if isinstance(handler.type, ir.Sequence) else (handler.type,)
        names = {path_of(c) if c is not None else "" for c in caught}
        if not names <= {"ImportError", "ModuleNotFoundError"}:
            return True
    return False


def of_old_api(handler: ir.Handler) -> tuple[Guard, ...]:
    """`except (AttributeError, TypeError)`: what a torch did that lacked the API tried before."""
    caught = handler.type.elements if isinstance(handler.type, ir.Sequence) else (handler.type,)
    names = {path_of(c) for c in caught if c is not None}
    if names and names <= {"AttributeError", "TypeError"}:
        text = f"except {', '.join(sorted(names))}"
        return (Guard("version", text, (handler.start, handler.start + len("except"))),)
    return ()


def _imported(node: ir.Import | ir.Try) -> tuple[Guard, ...]:
    """Return the guards after `import tensorrt` in a function: only machines that have it run the rest."""
    statements = node.body if isinstance(node, ir.Try) else (node,)
    return tuple(
        Guard("package", f"import {alias.name}", (statement.start, statement.end))
        for statement in statements
        if isinstance(statement, ir.Import)
        for alias in statement.names
        if alias.name.partition(".")[0] in _NVIDIA_ONLY
    )


def _leaves(statement: ir.Stmt, scope: Scope) -> bool:
    """Return whether nothing that follows a statement in its block runs."""
    match statement:
        case ir.Return() | ir.Assert(test=ir.Const(value=False)):
            return True
        case ir.Jump(kind=kind):
            return kind != "pass"
    return ends_program((statement,), scope=scope)


def _leaves_quietly(body: ir.Block) -> bool:
    """Return whether a block ends in return, continue or a skipped test."""
    last = body[-1] if body else None
    if isinstance(last, ir.ExprStmt) and isinstance(last.value, ir.Call):
        return path_of(last.value.func).rpartition(".")[2] in ("skip", "skipTest")
    return last is not None and jumps_out(last)

"""Branches on the kind of a tensor's device: real work for CUDA, and for a TPU the other branch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from xlamig import ir
from xlamig.facts import DeviceChoice, Span
from xlamig.flow.detectors.blocks import (
    acts,
    adds,
    chooses_gpu,
    follows_tensor,
    function_called,
    is_gpu,
    leaves,
    owner_of,
    replaces,
    tested_devices,
    without_pass,
    words,
)
from xlamig.flow.detectors.moving_blocks import is_move, only_moves
from xlamig.flow.model.device_sets import in_assert, in_choices, in_if, in_subscript
from xlamig.flow.model.guards import NAMES_XLA
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values as table

_XLA = re.compile(rf"{NAMES_XLA.pattern}|(?<![\w.])x[mr]\.", NAMES_XLA.flags)
_ASKS = re.compile(r"cuda|[\"'](?:cpu|nccl)[\"']", re.IGNORECASE)
_ASKS_TYPE = re.compile(r"(?:\.|_)type\b")
_NAMES_DEVICE = re.compile(r"device|\.type$", re.IGNORECASE)
_NAMES_CUDA = re.compile(r"cuda|nccl", re.IGNORECASE)
_NAMES_CPU = re.compile(r"[\"']cpu[\"']|\.cpu\(|(?:\b|_)cpu_|_cpu\b")
# What makes no difference to what is computed: waiting, telling, measuring, pinning, laying out, and filling
# mask rows that only CUDA's attention kernel turns into NaN.
_QUIET = re.compile(
    r"^(?:synchronize|print|debug|info|warn|warning|warning_once|log|log_\w+|write|pin_memory|contiguous"
    r"|empty_cache|ipc_collect|_?unmask_unattended|\w*memory\w*|get_device_\w+|str|int|float|bool|len|round|range|format"
    r"|join|dict|list|tuple|set)$"
)
_HOUSEKEEPING = ("torch.cuda.", "torch.backends.")
_NOT_HOUSEKEEPING = ("torch.cuda.amp.", "torch.cuda.stream", "torch.cuda.graph")

# Asks for the device of one tensor or module.
_OWNER = re.compile(
    r"(?P<asked>[\w.]+)\.(?:is_cuda|device\.type *== *[\"']cuda[\"'])$"
    r"|isinstance\((?P<object>[\w.]+), *torch\.cuda\.\w*Tensor\)$"
)

Result = Literal["move", "string", "unknown"]
Fallback = Literal["none", "raise", "cpu", "other"]
Form = Literal["is-cuda", "type", "text", "backend", "set"]
Asked = tuple[Form, str, bool]
"""How a test asks, for which device, and whether CUDA is in use where it holds."""


class Branches:
    """Makes device-choice facts for tests of a device. Tests of availability are `Selections`'."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis

    def statement(self, node: ir.If, after: ir.Stmt | None, place: CodeContext) -> Iterator[DeviceChoice]:
        """`if x.is_cuda: ... else: ...`; `after` is the statement that follows."""
        asked = self._asked(node.test, place.scope)
        if asked is None or self._has_xla_arm(node):
            return
        last = node
        while len(last.orelse) == 1 and isinstance(last.orelse[0], ir.If):
            last = last.orelse[0]
        body, rest = without_pass(node.body), without_pass(last.orelse)
        if after is not None and not self._has_xla_arm(after):
            if not rest and leaves(body):
                rest = (after,)
            elif not body and leaves(rest):
                body = (after,)
        on_cuda, other = (body, rest) if asked[2] else (rest, body)
        ran = [*on_cuda, *self._called(on_cuda, place.scope)]
        if not self._is_for_cuda(asked, ran) or not self._works(on_cuda, place.scope):
            return
        if replaces(node.test, on_cuda):
            return
        if chooses_gpu(node.test, on_cuda) and self._does(other, place.scope) == "none":
            return
        head = ir.Name(node.start, node.test.end, "if")
        result: Result = "move" if only_moves(on_cuda, place.scope, self.analysis.text) else "unknown"
        if result == "move" and other and only_moves(other, place.scope, self.analysis.text):
            return
        if result == "move" and after is not None and follows_tensor(on_cuda, after):
            return
        yield self._fact(head, node.test, asked, "if", self._does(other, place.scope), place, result)

    def ternary(self, node: ir.IfExp, place: CodeContext) -> Iterator[DeviceChoice]:
        """`"cuda" if "cuda" in device else "cpu"`"""
        asked = self._asked(node.test, place.scope)
        if asked is None or self._has_xla_arm(node):
            return
        on_cuda, other = (node.body, node.orelse) if asked[2] else (node.orelse, node.body)
        if not self._is_for_cuda(asked, (on_cuda,)) or not self._computes(on_cuda, place.scope):
            return
        if path_of(other) in tested_devices(node.test) and is_gpu(on_cuda):
            return
        result = self._chosen(on_cuda, other)
        if result is not None:
            yield self._fact(node, node.test, asked, "ternary", self._gives(other), place, result)

    def _chosen(self, on_cuda: ir.Expr, other: ir.Expr) -> Result | None:
        """Return what a conditional expression chooses; None where both sides move the same."""
        if all(isinstance(side, ir.Const) and isinstance(side.value, str) for side in (on_cuda, other)):
            return "string"
        owners = [owner_of(side) if is_move(side, self.analysis.text) else side for side in (on_cuda, other)]
        if owners[0] is on_cuda or len({self.analysis.source(owner) for owner in owners}) > 1:
            return "unknown"
        return None if owners[1] is not other else "move"

    def demand(self, node: ir.Assert, place: CodeContext) -> Iterator[DeviceChoice]:
        """`assert x.is_cuda`"""
        asked = self._asked(node.test, place.scope)
        if asked is not None and asked[1] != "cpu" and asked[2] and not self._has_xla_arm(node):
            yield self._fact(node.test, node.test, asked, "assert", "raise", place)
        yield from self._closed(in_assert(node, self.analysis.text), "assert", place)

    def choice(self, node: ir.If, place: CodeContext) -> Iterator[DeviceChoice]:
        """`if device not in ("cuda", "cpu"): raise ...`"""
        yield from self._closed(in_if(node, self.analysis.text), "if", place)

    def lookup(self, node: ir.Subscript, place: CodeContext) -> Iterator[DeviceChoice]:
        """`{"cuda": ..., "cpu": ...}[device]`"""
        path = path_of(node.value)
        bound = place.scope.find(path) if path else []
        table = bound[0].value if len(bound) == 1 else None if path else node.value
        if not self._is_asked_for(node, place):
            yield from self._closed(in_subscript(node, table, self.analysis.text), "lookup", place)

    def _is_asked_for(self, node: ir.Subscript, place: CodeContext) -> bool:
        """Return whether a test around a look-up asks first: `if device in sizes: n = sizes[device]`."""
        asked = f"{self.analysis.source(node.index[0])} in {self.analysis.source(node.value)}"
        above = ir.path_down(place.scope.node or self.analysis.module, node)
        tests = (part.test for part in above if isinstance(part, ir.If | ir.IfExp))
        return any(self.analysis.in_one_line(test) == asked for test in tests)

    def option(self, node: ir.Call, place: CodeContext) -> Iterator[DeviceChoice]:
        """`add_argument("--device", choices=["cuda", "cpu"])`"""
        yield from self._closed(in_choices(node), "option", place)

    def _closed(self, found: ir.Expr | None, position: str, place: CodeContext) -> Iterator[DeviceChoice]:
        if found is not None:
            yield self._fact(found, found, ("set", "cuda", True), position, "raise", place)

    # ------------------------------------------------------------------ what is asked

    def _asked(self, test: ir.Expr, scope: Scope) -> Asked | None:
        plain = isinstance(test, ir.Name)
        if not plain and not _ASKS.search(self.analysis.text, test.start, test.end):
            return None
        return self._reading(test, scope)

    def _reading(self, test: ir.Expr, scope: Scope) -> Asked | None:
        match test:
            case ir.Unary(op="not", operand=operand):
                inner = self._reading(operand, scope)
                return None if inner is None else (inner[0], inner[1], not inner[2])
            case ir.Bool(op=op, values=values):
                found = [self._reading(value, scope) for value in values]
                if any(self._asks_availability(value, scope) for value in values):
                    return None
                return next((f for f in found if f is not None and f[2] is (op == "and")), None)
        known = self.analysis.values.of(test, scope)
        if known.value.kind == "cuda-test":
            text = str(known.value.value)
            return None if known.availability else (_form_of(text), "cuda", not known.negated)
        return self._for_cpu(test)

    def _for_cpu(self, test: ir.Expr) -> Asked | None:
        """`device.type != "cpu"`: a TPU takes the branch meant for CUDA."""
        if not isinstance(test, ir.Compare) or test.ops not in (("==",), ("!=",)):
            return None
        right = test.comparators[0]
        text = self.analysis.source(test.left)
        if not isinstance(right, ir.Const) or right.value != "cpu" or not _NAMES_DEVICE.search(text):
            return None
        return ("type" if _ASKS_TYPE.search(text) else "text", "cpu", test.ops == ("!=",))

    def _asks_availability(self, test: ir.Expr, scope: Scope) -> bool:
        known = self.analysis.values.of(test, scope)
        return known.value.kind == "cuda-test" and known.availability

    def _is_for_cuda(self, asked: Asked, arm: Iterable[ir.Node]) -> bool:
        """Return whether a branch is for CUDA: one that is not for the CPU may be for anything, unless it
        hard-codes CUDA."""
        return asked[1] != "cpu" or any(_NAMES_CUDA.search(self.analysis.source(part)) for part in arm)

    def _has_xla_arm(self, node: ir.Node) -> bool:
        """Comments are no branch."""
        if _XLA.search(self.analysis.source(node)) is None:
            return False
        return any(_XLA.search(word) for part in ir.walk(node) for word in words(part))

    # ------------------------------------------------------------------ what the branches do

    def _works(self, block: ir.Block, scope: Scope) -> bool:
        """Return whether a block computes or decides something."""
        if block and isinstance(block[-1], ir.Raise):
            return False
        return any(self._computes(part, scope) for statement in block for part in acts(statement))

    def _computes(self, node: ir.Expr, scope: Scope) -> bool:
        if isinstance(node, ir.Const):
            return isinstance(node.value, str) and node.value.startswith("cuda")
        if isinstance(node, ir.Attribute) and path_of(node):
            return (self.analysis.names.dotted(node, scope) or "").startswith("torch.")
        calls = [n for n in ir.walk(node) if isinstance(n, ir.Call)]
        keeps = any(self._is_housekeeping(n, scope) for n in calls)  # what it asks of CUDA
        return any(not self._is_quiet(n, scope) and not (keeps and adds(n)) for n in calls)

    def _is_quiet(self, node: ir.Call, scope: Scope) -> bool:
        name = node.func.attr if isinstance(node.func, ir.Attribute) else path_of(node.func)
        if _QUIET.search(name):
            return True
        if function := function_called(node, scope):
            return not self._works(function.body, scope)
        dotted = self.analysis.names.dotted(node.func, scope)
        if dotted in table.names("program", "data-parallel"):  # XLA has no use for it
            return True
        if dotted == "torch.device":
            return not any(_NAMES_CUDA.search(self.analysis.source(arg)) for arg in node.args)
        return self._is_housekeeping(node, scope)

    def _is_housekeeping(self, node: ir.Call, scope: Scope) -> bool:
        dotted = self.analysis.names.dotted(node.func, scope) or ""
        return dotted.startswith(_HOUSEKEEPING) and not dotted.startswith(_NOT_HOUSEKEEPING)

    def _called(self, block: ir.Block, scope: Scope) -> Iterator[ir.Stmt]:
        """Yield what the functions of the module do that a block calls."""
        calls = (n for statement in block for n in ir.walk(statement) if isinstance(n, ir.Call))
        for function in filter(None, (function_called(call, scope) for call in calls)):
            yield from function.body

    def _does(self, block: ir.Block, scope: Scope) -> Fallback:
        if block and isinstance(block[-1], ir.Raise):
            return "raise"
        if any(_NAMES_CPU.search(self.analysis.source(statement)) for statement in block):
            return "cpu"
        done = [part for statement in block for part in acts(statement)]
        idle = all(self._gives(part) == "none" or self._is_told(part, scope) for part in done)
        return "none" if idle else "other"

    def _is_told(self, node: ir.Expr, scope: Scope) -> bool:
        return isinstance(node, ir.Call) and self._is_quiet(node, scope)

    def _gives(self, node: ir.Expr) -> Fallback:
        if _NAMES_CPU.search(self.analysis.source(node)):
            return "cpu"
        match node:
            case ir.Const(value=None | False | 0 | "") | ir.Dict(keys=()) | ir.Sequence(elements=()):
                return "none"
            case ir.Call(args=(), func=ir.Name(id="dict" | "list" | "tuple" | "nullcontext")):
                return "none"
        return "other"

    def _fact(
        self,
        shown: ir.Expr,
        test: ir.Expr,
        asked: Asked,
        position: str,
        fallback: Fallback,
        place: CodeContext,
        result: Result = "unknown",
    ) -> DeviceChoice:
        fields = place.fields(shown)
        if owner := _OWNER.match(self.analysis.source(test)):
            fields["proofs"] = {"owner": owner["asked"] or owner["object"]}
        parts: dict[str, Span] = {"test": (test.start, test.end)}
        fields["parts"] = parts
        form, device, on_cuda = asked
        return DeviceChoice(
            **fields,
            via="test",
            device=device,
            position=position,
            form=form,
            fallback=fallback,
            result=result,
            spelled=self.analysis.source(test),
            answer="False" if on_cuda else "True",
        )


def _form_of(test: str) -> Form:
    """Return how the text of a test for CUDA asks."""
    if test.endswith("is_cuda"):
        return "is-cuda"
    if "nccl" in test:
        return "backend"
    return "type" if _ASKS_TYPE.search(test) else "text"

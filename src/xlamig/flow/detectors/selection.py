"""CUDA or CPU: where a program picks its device by asking whether CUDA is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Literal

from xlamig import ir
from xlamig.facts import DeviceChoice, Span, Why
from xlamig.flow.detectors.cuda_moves import CudaMoves
from xlamig.flow.detectors.cuda_tests import CudaTests
from xlamig.flow.detectors.cuda_types import chooses_type, type_in_branch
from xlamig.flow.detectors.device_flow import DeviceFlow
from xlamig.flow.detectors.devices import Devices
from xlamig.flow.detectors.load_locations import locate_loads, locates_load
from xlamig.flow.detectors.mirrored import mirrors, only_logs, placement_in, sets_default_type
from xlamig.flow.detectors.own_moves import moves_own
from xlamig.flow.detectors.ranks import GPU_NUMBERS
from xlamig.flow.model.class_constants import is_member
from xlamig.flow.model.cuda_flags import GPU_FLAG, places_by_flag
from xlamig.flow.model.guards import NAMES_XLA, Guards
from xlamig.flow.model.option_codes import option_of
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext

Result = Literal["device", "string", "unknown"]
_ACCELERATOR = frozenset({"torch.accelerator.current_accelerator", "torch.get_device_module"})


class Selections:
    """Makes device-choice facts for selections; tells `devices` which literals they cover."""

    def __init__(self, analysis: Analysis, guards: Guards, devices: Devices) -> None:
        self.analysis = analysis
        self.tests = CudaTests(analysis, guards)
        self.devices = devices
        self.flow = DeviceFlow(analysis, self.tests.device_text)
        self.moves = CudaMoves(analysis, self.tests)

    # ------------------------------------------------------------------ expressions

    def ternary(
        self, node: ir.IfExp, parent: ir.Call | None, place: CodeContext, takes_index: bool = False
    ) -> Iterator[DeviceChoice]:
        """`"cuda" if torch.cuda.is_available() else "cpu"`; `parent` is a torch.device around it.
        `takes_index`: an integer here is a CUDA device."""
        if self._is_word(node, place):
            tests = {"availability": (node.test.start, node.test.end)}
            yield self._fact(node, "word", "gpu", "cpu", "string", place, tests)
            return
        negated = self.tests.is_negated(node.test, place)
        chosen, other = (node.orelse, node.body) if negated else (node.body, node.orelse)
        if (moved := self.moves.of(chosen, place)) and self._is_left(node.test, moved, other, place):
            yield self._moves(node, moved, place)
            return
        if mirrored := self._mirrored(node.test, (chosen,), (other,), place):
            yield self._moves(node, mirrored, place, "mirrored")
            return
        if self.tests.asks_for_cuda(node.test, place) and chooses_type(chosen, other, self._dotted(place)):
            yield self._moves(node, chosen, place, "type")
            return
        inner = (node.start, node.end) in self.devices.covered or self._tries_xla_before(node, place)
        branches = None if inner else self._chain(node, place, takes_index, parent is not None)
        if branches is None or locates_load(node, place, self.analysis.module):
            return
        shown: ir.Expr = parent if parent is not None else node
        device = next((text for text in branches if text.startswith("cuda")), "cuda")
        result = "device" if parent else self._result(node, place)
        form = "chain" if isinstance(node.orelse, ir.IfExp) else "ternary"
        fallback, tests = "cpu" if "cpu" in branches else "other", self.tests.parts(node, place)
        yield self._fact(shown, form, device, fallback, result, place, tests)

    def _tries_xla_before(self, node: ir.IfExp, place: CodeContext) -> bool:
        """Return whether the function has returned an XLA device before, where there is one."""
        function = place.scope.node
        return isinstance(function, ir.FunctionDef) and any(
            isinstance(s, ir.Return)
            and s.value is not None
            and s.start < node.start
            and NAMES_XLA.search(self.analysis.source(s.value))
            for statement in function.body
            for s in ir.statements(statement)
        )

    def _is_left(self, test: ir.Expr, moved: ir.Call, other: ir.Expr, place: CodeContext) -> bool:
        """`x.cuda() if torch.cuda.is_available() else x`, also of two tensors that one function of torch
        makes, perhaps with other settings."""
        assert isinstance(moved.func, ir.Attribute)
        one = moved.func.value
        alike = self.analysis.source(one) == self.analysis.source(other)
        if not alike and isinstance(one, ir.Call) and isinstance(other, ir.Call):
            names = [self.analysis.names.dotted(call.func, place.scope) or "" for call in (one, other)]
            alike = names[0] == names[1] and names[0].startswith("torch.")
        return alike and self.tests.asks_for_cuda(test, place)

    def _is_word(self, node: ir.IfExp, place: CodeContext) -> bool:
        """`"gpu" if torch.cuda.is_available() else "cpu"`, as some programs call it."""
        branches = [
            branch.value if isinstance(branch, ir.Const) else None for branch in (node.body, node.orelse)
        ]
        return branches == ["gpu", "cpu"] and self.tests.asks_only_for_cuda(node.test, place)

    def lookup(self, node: ir.Subscript, place: CodeContext) -> Iterator[DeviceChoice]:
        """`["cpu", "cuda"][torch.cuda.is_available()]`, also of a dictionary, and by a name."""
        if len(node.index) != 1 or not self.tests.asks_for_cuda(node.index[0], place):
            return
        path = path_of(node.value)
        bound = [binding.value for binding in place.scope.find(path)] if path else [node.value]
        table = bound[0] if len(bound) == 1 else None
        held = table.elements if isinstance(table, ir.Sequence) else ()
        held = table.values if isinstance(table, ir.Dict) else held
        texts = [self.tests.device_text(value, place) for value in held]
        chosen = next((text for text in texts if text and text.startswith("cuda")), None)
        if chosen is not None and "cpu" in texts:
            for value in held:
                self.devices.cover(value)
            yield self._fact(node, "lookup", chosen, "cpu", "string", place)

    def short_circuit(self, node: ir.Bool, place: CodeContext) -> Iterator[DeviceChoice]:
        """`use_cuda and "cuda" or "cpu"`."""
        if node.op != "or" or len(node.values) != 2 or not isinstance(node.values[0], ir.Bool):
            return
        test, chosen = node.values[0].values[0], node.values[0].values[-1]
        first, other = self.tests.device_text(chosen, place), self.tests.device_text(node.values[1], place)
        if self.tests.asks_for_cuda(test, place) and first is not None and other == "cpu":
            self.devices.cover(chosen)
            yield self._fact(node, "and", first, "cpu", "string", place)

    def accelerator(self, node: ir.Call, dotted: str, place: CodeContext) -> Iterator[DeviceChoice]:
        """Yield the fact of `torch.accelerator.current_accelerator()`."""
        if dotted in _ACCELERATOR:
            fields = place.fields(node)
            yield DeviceChoice(**fields, via="accelerator", device="cuda", result="device")

    def _chain(
        self, node: ir.IfExp, place: CodeContext, takes_index: bool, in_device: bool
    ) -> list[str] | None:
        """The devices of a chain of ternaries, if one branch is CUDA by availability and none is XLA. In a
        torch.device a setting (`args.device`) may be CUDA."""
        texts: list[str] = []
        asked = False
        current: ir.Expr = node
        while isinstance(current, ir.IfExp):
            if self._mentions_xla(current):
                return None
            asks = self.tests.asks_for_cuda(current.test, place)
            asked = asked or asks
            text = self.tests.device_text(current.body, place, takes_index)
            if text is None and asks and in_device and option_of(current.body):
                text = "cuda:*"
            if text is None:
                return None
            texts.append(text)
            current = current.orelse
        last = self.tests.device_text(current, place, takes_index)
        if last is None or not asked or not any(t.startswith("cuda") for t in (*texts, last)):
            return None
        if not any(t == "cpu" for t in (*texts, last)):
            return None
        self.devices.cover(node)
        return [*texts, last]

    # ------------------------------------------------------------------ statements
    def statement(self, node: ir.If, place: CodeContext) -> Iterator[DeviceChoice]:
        """if/else that assigns or returns devices, or moves things to CUDA with no other branch."""
        if not self.tests.asks_for_cuda(node.test, place) or self._mentions_xla(node):
            return
        found = self.flow.choice(node, place)
        if found is not None:
            text = None
            if found.chosen is not None:
                self.devices.cover(found.chosen)
                text = self.tests.device_text(found.chosen, place)
            if locate_loads((*node.body, *node.orelse), place):
                return
            result = self._result(found.chosen or found.fallback, place)
            test = ir.Name(node.start, node.test.end, "if")
            form = "if-else" if found.chosen is not None else "override"
            setting = self.tests.setting_in(found.chosen, place) if found.chosen is not None else None
            parts = {} if setting else self._plain_choice(node, place)
            if not parts and found.near and (asked := self.tests.asked_or_denied(node.test, place)):
                parts = {**asked, "fallback": (found.fallback.start, found.fallback.end)}
                if setting is not None:
                    parts["setting"] = (setting.start, setting.end)
            yield self._fact(test, form, text or "cuda", "cpu", result, place, parts)
            return
        negated = self.tests.is_negated(node.test, place)
        chosen, other = (node.orelse, node.body) if negated else (node.body, node.orelse)
        moved = self.moves.in_block(chosen, place)
        resets = moved is not None and self.moves.sets_default(moved, place)
        kept = (s for s in other if not only_logs(s, place.scope) and not (resets and sets_default_type(s)))
        if moved is not None and not any(kept):
            yield self._moves(node, moved, place)
        elif mirrored := self._mirrored(node.test, chosen, other, place):
            yield self._moves(node, mirrored, place, "mirrored")
        elif named := type_in_branch(chosen, other, place.scope, self._dotted(place)):
            yield self._moves(node, named, place, "type")
        elif self._turns_off(node, place):
            test, form = ir.Name(node.start, node.test.end, "if"), "off" if node.orelse else "override"
            asked = self.tests.asked_or_denied(node.test, place)
            yield self._fact(test, form, "cuda", "cpu", "device", place, asked)

    def _mirrored(
        self, test: ir.Expr, chosen: Sequence[ir.Node], other: Sequence[ir.Node], place: CodeContext
    ) -> ir.Call | None:
        """Return a placement of the branch for CUDA, if the other one does the same on the host."""
        if not self.tests.asks_for_cuda(test, place) or not mirrors(
            chosen, other, self.analysis.source, place.scope
        ):
            return None
        return placement_in(chosen, self._dotted(place))

    def _dotted(self, place: CodeContext) -> Callable[[ir.Expr], str | None]:
        return partial(self.analysis.names.dotted, scope=place.scope)

    def _plain_choice(self, node: ir.If, place: CodeContext) -> dict[str, Span]:
        """Parts of an if/else that does nothing but choose: "statement" and "target"."""
        branches = (*node.body, *node.orelse)
        if len(branches) != 2 or not node.orelse or not self.tests.asks_only_for_cuda(node.test, place):
            return {}
        if not all(
            isinstance(branch, ir.Assign) and len(branch.targets) == 1 and path_of(branch.targets[0])
            for branch in branches
        ):
            return {}
        first = branches[0]
        assert isinstance(first, ir.Assign)
        target = first.targets[0]
        whole = self.analysis.text[node.start : node.end].rstrip()
        return {
            "availability": (node.test.start, node.test.end),
            "statement": (node.start, node.start + len(whole)),
            "target": (target.start, target.end),
        }

    def _turns_off(self, node: ir.If, place: CodeContext) -> bool:
        """Return whether the branch without CUDA leaves a list of GPUs empty, or a flag that places False."""
        denied = not node.orelse and self.tests.denies(node.test, place)
        block = node.body if denied else node.orelse if self.tests.asks_for_cuda(node.test, place) else ()
        match [s for s in block if not only_logs(s, place.scope) and not sets_default_type(s)]:
            case [ir.Assign(targets=(target,), value=ir.Sequence(kind="list", elements=()))]:
                return GPU_NUMBERS.search(option_of(target)) is not None
            case [ir.Assign(targets=(target,), value=ir.Const(value=False))]:
                name, project = option_of(target), self.analysis.names.project
                elsewhere = GPU_FLAG.search(name) is not None and name in project.placing_flags
                return elsewhere or places_by_flag(name, self.analysis.module, node)
        return False

    def _moves(
        self, node: ir.If | ir.IfExp, moved: ir.Expr, place: CodeContext, form: str = "move"
    ) -> DeviceChoice:
        is_statement = isinstance(node, ir.If)
        fields = place.fields(ir.Name(node.start, node.test.end, "if") if is_statement else node)
        if is_statement:
            fields["statement"] = (node.start, node.end)
        fields["related"] = (Why("moved to CUDA only under this test", (moved.start, moved.end)),)
        asked = self.tests.asked_or_denied(node.test, place)
        fields["parts"] = {"statement": (node.start, node.end), **asked}
        form = "own" if moves_own(node, place, self.analysis) else form
        form = "default" if form == "move" and self.moves.sets_default(moved, place) else form
        return DeviceChoice(**fields, via="move", device="cuda", form=form, fallback="cpu", result="move")

    def _mentions_xla(self, node: ir.IfExp | ir.If) -> bool:
        """A branch for XLA: the selection knows about TPUs."""
        if isinstance(node, ir.IfExp):
            return bool(NAMES_XLA.search(self.analysis.source(node)))
        current: ir.Stmt = node
        while isinstance(current, ir.If):
            if NAMES_XLA.search(self.analysis.source(current.test)):
                return True
            if len(current.orelse) != 1:
                return False
            current = current.orelse[0]
        return False

    @staticmethod
    def _result(node: ir.Expr, place: CodeContext) -> Result:
        """Return what a selection gives: for members of an enumeration no text stands."""
        if any(is_member(inner, place.scope) for inner in ir.walk(node)):
            return "unknown"
        sides = (node.body, node.orelse) if isinstance(node, ir.IfExp) else (node,)
        return "device" if {type(side) for side in sides} == {ir.Call} else "string"

    def _fact(
        self,
        node: ir.Expr,
        form: str,
        device: str,
        fallback: str,
        result: Result,
        place: CodeContext,
        tests: Mapping[str, Span] = MappingProxyType({}),
    ) -> DeviceChoice:
        fields = place.fields(node)
        fields["parts"] = {"selection": (node.start, node.end), **tests}
        return DeviceChoice(
            **fields, via="selection", device=device, form=form, fallback=fallback, result=result
        )

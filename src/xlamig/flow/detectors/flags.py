"""Names that say whether CUDA is there, and decide more than one placement."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from xlamig import ir
from xlamig.facts import DeviceChoice
from xlamig.flow.detectors.selection import Selections
from xlamig.flow.model.by_kind import of_kind
from xlamig.flow.model.cuda_flags import GPU_FLAG, places, targets_in_branches
from xlamig.flow.model.cuda_questions import names_cuda
from xlamig.flow.model.option_codes import PLACES, kept_key, option_of
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.flow.model.site import Analysis, CodeContext

_PINS = re.compile(r"(?:^|_)(?:pin|pinned|pin_?mem(?:ory)?|non_blocking)$", re.IGNORECASE)


class Flags:
    """Makes device-choice facts for `use_cuda = torch.cuda.is_available() and ...`."""

    def __init__(self, analysis: Analysis, selections: Selections) -> None:
        self.analysis = analysis
        self.selections = selections

    def in_assignment(self, target: ir.Expr, value: ir.Expr, place: CodeContext) -> Iterator[DeviceChoice]:
        """Yield the fact of a flag that is set to whether CUDA is available."""
        path = path_of(target)
        if not path or not self.selections.tests.asks_for_cuda(value, place):
            return
        guarded = [node for node in ir.walk(self.analysis.module) if self._is_guarded(node, path)]
        if _PINS.search(path.rpartition(".")[2]) and not any(map(_moves, guarded)):
            return
        elsewhere = self._decides_elsewhere(target, path) or (
            not guarded and self._decides_in_other_files(target, place.scope)
        )
        if _decide_little(guarded, value) and not elsewhere:
            return
        if call := _asked(value):
            fields = place.fields(call)
            fields["parts"] = {"target": (target.start, target.end)}
            yield DeviceChoice(**fields, via="flag", device="cuda", form="name", fallback="cpu")

    def in_branches(self, node: ir.If, place: CodeContext) -> Iterator[DeviceChoice]:
        """Yield the fact of a flag that is True in one branch of a test for CUDA, and False in the other."""
        asks = self.selections.tests.asks_for_cuda(node.test, place)
        targets = targets_in_branches(node, self.analysis.module) if asks else ()
        if not targets:
            return
        path, call = path_of(targets[0]), _asked(node.test)
        if call is not None and any(self._is_guarded(n, path) for n in ir.walk(self.analysis.module)):
            fields = place.fields(call)
            fields["parts"] = {"target": (targets[0].start, targets[0].end)}
            yield DeviceChoice(**fields, via="flag", device="cuda", form="name", fallback="cpu")

    def in_call(self, node: ir.Call, place: CodeContext) -> Iterator[DeviceChoice]:
        """Yield the fact of an argument that says whether CUDA is available, `use_gpu=...`."""
        for arg in node.args:
            name = arg.keyword or ""
            places = GPU_FLAG.search(name) or name in self.analysis.names.project.placing_flags
            if not places or _PINS.search(name) or isinstance(arg.value, ir.Const):
                continue
            if self.selections.tests.asks_for_cuda(arg.value, place) and (call := _asked(arg.value)):
                fields = place.fields(call)
                yield DeviceChoice(**fields, via="flag", device="cuda", form="argument", fallback="cpu")

    def _decides_elsewhere(self, target: ir.Expr, path: str) -> bool:
        """Return whether the flag is passed on, as an argument or in an object, under a name that placements
        in reach depend on."""
        passed = (arg for arg in of_kind(self.analysis.module, ir.Arg) if path_of(arg.value) == path)
        names = {arg.keyword or option_of(arg.value) for arg in passed}
        if isinstance(target, ir.Attribute) and path_of(target.value) != "self":
            names.add(target.attr)
        return not names.isdisjoint(self.analysis.names.project.placing_flags)

    def _decides_in_other_files(self, target: ir.Expr, scope: Scope) -> bool:
        """Return whether the flag is kept in an object or a module under a name that placements of the
        program depend on, and is false in all of it because CUDA is missing."""
        return PLACES + kept_key(target, scope) in self.analysis.values.switches

    def _is_guarded(self, node: ir.Node, path: str) -> bool:
        if not isinstance(node, ir.If | ir.IfExp):
            return False
        tested = any(path_of(n) == path for n in ir.walk(node.test) if isinstance(n, ir.Name | ir.Attribute))
        return tested and places(node, self.analysis.module)


def _moves(choice: ir.Node) -> bool:
    """Return whether a choice moves something, `x.cuda()`, or names a device for it."""
    parts = [*ir.walk(choice)]
    called = [part.func for part in parts if isinstance(part, ir.Call)]
    moves = any(isinstance(func, ir.Attribute) and func.attr in ("cuda", "to") for func in called)
    return moves or any(isinstance(part, ir.Const) and names_cuda(part) for part in parts)


def _decide_little(guarded: Sequence[ir.Node], value: ir.Expr) -> bool:
    """A single selection is reported where it stands; a statement, if the flag asks only for CUDA."""
    statements = isinstance(value, ir.Bool) and any(isinstance(node, ir.If) for node in guarded)
    return len(guarded) < 2 and not statements


def _asked(value: ir.Expr) -> ir.Call | None:
    """Return the call in an expression that asks whether CUDA is available."""
    calls = (node for node in ir.walk(value) if isinstance(node, ir.Call))
    return next((node for node in calls if path_of(node.func).endswith("is_available")), None)

"""Tensors that nothing has moved to the device, and that a module or a loss gets which computes there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from xlamig import ir
from xlamig.facts import Transfer
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import CERTAIN, LIKELY, AbstractValue, Mark, inside
from xlamig.flow.interp.frames import modules_of
from xlamig.flow.interp.layers import has_parameters
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.setting import Setting
from xlamig.flow.interp.state import State
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


class _Left(NamedTuple):
    """An argument that holds tensors on the host."""

    node: ir.Expr
    value: AbstractValue


class LeftOnHost:
    """Records tensors of the host where they enter a module: at the call that the program makes, if a layer
    inside it computes with them, and not if the module moves them first."""

    def __init__(self, state: State, moves: Moves) -> None:
        self.m = state
        self.moves = moves

    @contextmanager
    def entering(self, module: AbstractValue, args: Args, node: ir.Call) -> Iterator[None]:
        """While a module's own code runs: layers say whether they get tensors of the host."""
        left = [] if self.m.entered_from_host or not self._is_on_device(module) else list(self._left(args))
        if not left:
            yield
            return
        with Setting(self.m, "entered_from_host", True):
            self.m.met_host = False
            yield
        if self.m.met_host:
            self._record(left, node, self._is_scattered(module))

    def in_wrapper(self) -> Setting[bool]:
        """While a module runs whose wrapper has moved what it is given."""
        return Setting(self.m, "entered_from_host", True)

    def in_layer(self, module: AbstractValue, args: Args, node: ir.Call) -> None:
        """A layer of torch with parameters, or a module of which nothing more is known."""
        if self._is_on_device(module) and has_parameters(module):
            self._meets(list(self._left(args)), node, self._is_scattered(module))

    def beside_device(self, name: str, args: Args, node: ir.Call) -> None:
        """A loss, a function or a class of this name, is given tensors of the device, and of the host."""
        if any(tensor.place == "device" and tensor.sure == CERTAIN for tensor in args.tensors()):
            left, copied = list(self._left(args)), name in table.names("reads", "copied")
            if not (copied and self.m.entered_from_host):
                self._meets(left, node, copied=copied)

    def _is_on_device(self, module: AbstractValue) -> bool:
        """Return whether a module was moved, and gets its inputs as they are. An unknown module may move them
        itself, but hardly one whose wrapper does."""
        enough = module.sure == CERTAIN or (bool(module.why) and self._is_scattered(module))
        if module.place != "device" or not enough:
            return False
        return self.moves.wrapped.isdisjoint(modules_of(module.ref))

    def _is_scattered(self, module: AbstractValue) -> bool:
        """Return whether a wrapper of the module moves what it is given where there is CUDA."""
        return not self.moves.scattered.isdisjoint(modules_of(module.ref))

    def _left(self, args: Args) -> Iterator[_Left]:
        """Yield the arguments, as they are written out, that are tensors on the host or hold some."""
        for arg, value in args.pairs:
            given = value if value.place != "either" else self._unless_given(arg.value) or value
            held = inside(given)
            if _is_left(held) and not arg.star and not _moves_along(arg.value, held):
                yield _Left(arg.value, given)

    def _unless_given(self, node: ir.Expr) -> AbstractValue | None:
        """Return what a name holds after `if gpu is not None: x = x.cuda(gpu)` without a `gpu`."""
        name = node.id if isinstance(node, ir.Name) else ""
        for choice in self.m.frame.choices.values():
            if name not in choice.left or self.m.env.get(name) is not choice.left[name][0]:
                continue
            absent = [path for (path, asked), holds in choice.answers[1].items() if holds and asked == "none"]
            if absent and not any(self._gets_value(path) for path in absent):
                return choice.left[name][1][1]
        return None

    def _gets_value(self, path: str) -> bool:
        """Return whether the program assigns something else to a name than a name like it: `args.gpu = 0`."""
        last = path.rpartition(".")[2]
        return any(
            path_of(target).rpartition(".")[2] == last != path_of(node.value).rpartition(".")[2]
            for module in (self.m.analysis.module, *self.m.program.others(self.m.names.module))
            for node in ir.walk(module)
            if isinstance(node, ir.Assign)
            for target in node.targets
        )

    def _meets(self, left: list[_Left], node: ir.Call, scattered: bool = False, copied: bool = False) -> None:
        if left and self.m.entered_from_host:
            self.m.met_host = True
        else:
            self._record(left, node, scattered, copied)

    def _record(self, left: list[_Left], node: ir.Call, scattered: bool, copied: bool = False) -> None:
        function = short(self.m.source(node.func))
        for one in left:
            kind = one.value.kind
            self.m.record(
                Transfer, one.node, LIKELY, one.value.why,
                via="missing", operation=function, tensor=short(self.m.source(one.node)),
                holds=kind if kind != "tensor" else "any" if one.value.loose else "", scattered=scattered,
                copied=copied,
            )  # fmt: skip


def _is_left(held: AbstractValue) -> bool:
    """Return whether a value is a tensor on the host that something computes with: one without elements,
    `torch.empty(0)`, holds the place of an argument that is not used."""
    is_tensor = held.kind == "tensor" and held.place == "host" and held.sure >= LIKELY
    return is_tensor and not held.scalar and 0 not in (held.shape or ())


def _moves_along(node: ir.Expr, held: AbstractValue) -> bool:
    """Return whether a tensor is, or may be, a parameter or buffer that moves with the module it is in."""
    return held.trait in (Mark.PARAMETER, Mark.BUFFER) or path_of(node).startswith("self.")

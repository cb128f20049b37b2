"""Places where a CUDA, XLA or TPU device is written down, or a rank stands for a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from xlamig import ir
from xlamig.facts import DeviceChoice, Fact, Why
from xlamig.findings import Confidence
from xlamig.flow.detectors.asked_options import is_only_asked
from xlamig.flow.detectors.device_defaults import (
    DEFAULTED,
    as_replaced,
    default_of_key,
    is_read,
    option_default,
)
from xlamig.flow.detectors.device_maps import is_gpu_number, whole_model_devices
from xlamig.flow.detectors.empty_modules import holds_nothing
from xlamig.flow.detectors.in_scope import device_in_scope
from xlamig.flow.detectors.ranks import gpu_number
from xlamig.flow.detectors.receivers import receiver_of
from xlamig.flow.model.class_constants import is_member
from xlamig.flow.model.destinations import destination
from xlamig.flow.model.device_keys import DEVICE_KEYS, READS_DEVICE_KEYS
from xlamig.flow.model.guards import Guards
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext

_DEVICE = re.compile(r"^(?:cuda|xla|tpu)(?::(?:\d+|\*))?$")
_DEVICE_NAME = re.compile(r"(?:^|_)(?:device|dev)(?:_?(?:name|str|id))?$", re.IGNORECASE)
_AUTOCAST = re.compile(r"autocast|scaler|(?:^|[._])amp", re.IGNORECASE)
_RANK = re.compile(r"rank|gpu_id|\bgpu\b", re.IGNORECASE)
_OPTION_CALLS = frozenset(
    {"add_argument", "option", "Option", "Field", "field", "DEFINE_string", "add_option"}
)

_INDEXED = frozenset({"to", "cuda", "torch.device", "torch.cuda.set_device"})

Index = Literal["", "constant", "rank", "tensor", "expression"]


class Devices:
    """Makes device-choice facts for literals; a branch of a selection is left to the selection."""

    def __init__(self, analysis: Analysis, guards: Guards) -> None:
        self.analysis = analysis
        self.guards = guards
        self.covered: set[tuple[int, int]] = set()  # literals that a selection has spoken for

    def cover(self, node: ir.Node) -> None:
        """Say that the literals below `node` are spoken for."""
        self.covered.update((inner.start, inner.end) for inner in ir.walk(node))

    def is_covered(self, fact: Fact) -> bool:
        """Return whether a fact is about a literal that a selection further down has spoken for."""
        return isinstance(fact, DeviceChoice) and fact.via == "literal" and fact.span in self.covered

    # ------------------------------------------------------------------ where literals stand

    def in_call(self, node: ir.Call, dotted: str | None, place: CodeContext) -> Iterator[DeviceChoice]:
        """Yield the devices that a call's arguments hard-code."""
        method = node.func.attr if isinstance(node.func, ir.Attribute) else path_of(node.func)
        if method in _INDEXED or dotted in _INDEXED:
            yield from self._indexed(node, dotted, place)
        if dotted == "torch.device":
            yield from self._torch_device(node, place)
            return
        if method in _OPTION_CALLS:
            yield from self._option(node, place)
            return
        if method in DEFAULTED and (default := default_of_key(node, _DEVICE_NAME)) is not None:
            yield from self.literal(default, "option", place)
        if dotted is not None and "device" in self.analysis.names.interest.signatures.get(dotted, ()):
            return  # a rule of its own reads that argument
        if (
            method == "to"
            and node.args
            and node.args[0].keyword in (None, "device")
            and not node.args[0].star
        ):
            yield from self._moved_to(node, node.args[0].value, place)
        position = "factory" if dotted is not None and dotted.startswith("torch.") else "device-argument"
        if method == "to":
            position = "to"
        for arg in node.args[1:] if method == "to" else node.args:
            if isinstance(arg.value, ir.Dict) and (arg.keyword or "").endswith("kwargs"):
                yield from self._entries(arg.value, place)
            if arg.keyword == "device_map":
                yield from self._device_map(arg.value, place)
            if arg.keyword != "device":
                continue
            made = position == "factory" and dotted not in _INDEXED
            if made and (number := gpu_number(arg.value, place.scope, self.analysis)):
                yield self._fact(
                    arg.value, "cuda:*", position, number, place, "device", "certain", (), "index"
                )
            yield from self.literal(arg.value, position, place)

    def _device_map(self, node: ir.Expr, place: CodeContext) -> Iterator[DeviceChoice]:
        yield from self.literal(node, "device-map", place)
        devices = list(whole_model_devices(node, place.scope))
        for device in devices:
            yield from self.literal(device, "device-map", place)
        if any(is_gpu_number(device, place.scope, self.analysis) for device in devices):
            yield self._fact(node, "cuda:*", "device-map", "rank", place, "device", "certain", (), "index")

    def in_defaults(self, params: tuple[ir.Param, ...], place: CodeContext) -> Iterator[DeviceChoice]:
        """Yield the devices that are defaults of parameters."""
        if _AUTOCAST.search(place.scope.name):
            return  # there it is a device type, which no tensor is put on
        for param in params:
            if param.default is not None and _DEVICE_NAME.search(param.name):
                default = option_default(param.default)
                found = list(self.literal(default, "default", place))
                if found and is_read(param, place):
                    yield from as_replaced(found, param, place, self.analysis)

    def in_assignment(self, target: ir.Expr, value: ir.Expr, place: CodeContext) -> Iterator[DeviceChoice]:
        """Yield the device that a name for a device is set to: `rank, device = 0, "cuda"`."""
        match target, value:
            case ir.Sequence(elements=targets), ir.Sequence(elements=values) if len(targets) == len(values):
                for one, given in zip(targets, values, strict=True):
                    yield from self.in_assignment(one, given, place)
        if _DEVICE_NAME.search(path_of(target).rpartition(".")[2]):
            yield from self.literal(value, "setting", place)

    def in_dictionary(self, node: ir.Dict, place: CodeContext) -> Iterator[DeviceChoice]:
        """Yield the devices of a dictionary, where the program reads entries for a device."""
        if DEVICE_KEYS in self.analysis.elsewhere or READS_DEVICE_KEYS.are_in(self.analysis.text):
            yield from self._entries(node, place)

    def _entries(self, node: ir.Dict, place: CodeContext) -> Iterator[DeviceChoice]:
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ir.Const) and isinstance(key.value, str) and _DEVICE_NAME.search(key.value):
                yield from self.literal(value, "setting", place)

    def _torch_device(self, node: ir.Call, place: CodeContext) -> Iterator[DeviceChoice]:
        if node.args and node.args[0].keyword in (None, "type", "device"):
            index = node.args[1].value if len(node.args) > 1 else None
            yield from self.literal(node.args[0].value, "torch.device", place, whole=node, index=index)

    def _option(self, node: ir.Call, place: CodeContext) -> Iterator[DeviceChoice]:
        named = any(
            isinstance(a.value, ir.Const)
            and isinstance(a.value.value, str)
            and _DEVICE_NAME.search(a.value.value.replace("-", "_"))
            for a in node.args
            if a.keyword in (None, "dest")
        )
        default = next((arg.value for arg in node.args if named and arg.keyword == "default"), None)
        if default is not None and not is_only_asked(self.analysis.module, destination(node)):
            yield from self.literal(default, "option", place)

    def _moved_to(self, node: ir.Call, value: ir.Expr, place: CodeContext) -> Iterator[DeviceChoice]:
        if not isinstance(value, ir.Const) or type(value.value) is not int:
            yield from self.literal(value, "to", place)
            return
        assert isinstance(node.func, ir.Attribute)
        receiver = receiver_of(node.func.value, "to", place.scope, self.analysis)
        if receiver in ("Tensor", "Module"):
            why = Why(f"an integer names a CUDA device when given to `{receiver}.to`")
            yield self._fact(
                value, f"cuda:{value.value}", "to", "constant", place, "device", "certain", (why,)
            )

    def _indexed(self, node: ir.Call, dotted: str | None, place: CodeContext) -> Iterator[DeviceChoice]:
        """`x.to(rank)`, `x.cuda(local_rank)`, `torch.device(rank)`, `torch.cuda.set_device(i)`"""
        first = node.args[0]
        if first.keyword not in (None, "device") or first.star:
            return
        index: Index = gpu_number(first.value, place.scope, self.analysis)
        if dotted == "torch.cuda.set_device":
            number = first.value.value if isinstance(first.value, ir.Const) else None
            device = f"cuda:{number}" if isinstance(number, int) else "cuda:*"
            index = index or ("expression" if device == "cuda:*" else "constant")
            yield self._fact(node, device, "set_device", index, place, "unknown", "certain", (), "index")
        elif index and dotted == "torch.device":
            yield self._fact(node, "cuda:*", "torch.device", index, place, "device", "certain", (), "index")
        elif index and isinstance(node.func, ir.Attribute) and node.func.attr in ("to", "cuda"):
            receiver = receiver_of(node.func.value, node.func.attr, place.scope, self.analysis)
            is_empty = holds_nothing(node.func.value, place.scope, self.analysis)
            if receiver is not None and dotted is None and not is_empty:
                shown = first.value if node.func.attr == "to" else node
                sure: Confidence = "likely" if receiver == "unknown" else "certain"
                yield self._fact(shown, "cuda:*", node.func.attr, index, place, "device", sure, (), "index")

    # ------------------------------------------------------------------ what is written

    def literal(
        self,
        node: ir.Expr,
        position: str,
        place: CodeContext,
        whole: ir.Call | None = None,
        index: ir.Expr | None = None,
    ) -> Iterator[DeviceChoice]:
        """The fact if `node` itself is a device in text; names are judged where they are set."""
        if isinstance(node, ir.Bool) and node.op == "or":
            for value in node.values:
                yield from self.literal(value, position, place)
            return
        if isinstance(node, ir.IfExp):
            for arm, holds in ((node.body, True), (node.orelse, False)):
                guards = self.guards.of(node.test, place.scope, holds)
                yield from self.literal(arm, position, replace(place, guards=(*place.guards, *guards)))
            return
        if (node.start, node.end) in self.covered or not (_is_text(node) or is_member(node, place.scope)):
            return
        text = self.analysis.values.of(node, place.scope).value.value
        if type(text) is int and position in ("factory", "torch.device") and isinstance(node, ir.Const):
            text = f"cuda:{text}"
        if not isinstance(text, str) or not _DEVICE.match(text.strip()):
            return
        device, kind = self._index(text.strip(), node, index)
        result: Literal["device", "string"] = "device" if whole or position in ("to", "factory") else "string"
        sure: Confidence = "likely" if position in ("device-argument", "device-map", "default") else "certain"
        yield self._fact(whole or node, device, position, kind, place, result, sure, ())

    def _index(self, text: str, node: ir.Expr, index: ir.Expr | None) -> tuple[str, Index]:
        """The device with its index, and whether the index is a rank."""
        written = self.analysis.source(node if index is None else index)
        if index is not None and ":" not in text:
            constant = isinstance(index, ir.Const)
            text = f"{text}:{index.value!r}" if isinstance(index, ir.Const) else f"{text}:*"
        else:
            constant = text.rpartition(":")[2].isdigit()
        if ":" not in text:
            return text, ""
        if constant:
            return text, "constant"
        return text, "rank" if _RANK.search(written) else "expression"

    def _fact(
        self,
        node: ir.Node,
        device: str,
        position: str,
        index: Index,
        place: CodeContext,
        result: Literal["device", "string", "unknown"],
        confidence: Confidence,
        reasons: tuple[Why, ...],
        via: Literal["literal", "index"] = "literal",
    ) -> DeviceChoice:
        fields = place.fields(node)
        fields["confidence"] = confidence
        fields["reasons"] = (*place.reasons, *reasons)
        fields["proofs"] = device_in_scope(place, node.start)
        return DeviceChoice(
            **fields,
            via=via,
            device=device,
            position=position,
            index=index,
            result=result,
            spelled=short(self.analysis.source(node)),
        )


def _is_text(node: ir.Expr) -> bool:
    """Return whether the text stands here, in one of the ways to put it together."""
    if isinstance(node, ir.Call):
        return isinstance(node.func, ir.Attribute) and node.func.attr == "format"
    return isinstance(node, ir.Const | ir.FString | ir.Binary)

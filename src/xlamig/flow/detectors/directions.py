"""Tell whether the recurrent modules around a place also run backwards."""

from __future__ import annotations

from collections.abc import Mapping

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext

_PACKS = frozenset({"torch.nn.utils.rnn.pack_padded_sequence", "torch.nn.utils.rnn.pack_sequence"})
_MODULES = frozenset({"LSTM", "GRU", "RNN"})


def both_directions(name: str, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "both-directions": the class that packs here makes a recurrent module that may be
    bidirectional, or the file does, where the class makes none."""
    if name not in _PACKS:
        return {}
    owner = place.scope.class_scope
    made = _modules_in(owner.node) if owner is not None and owner.node is not None else []
    made = made or _modules_in(analysis.module)
    return {"both-directions": "yes"} if any(map(_may_be_bidirectional, made)) else {}


def _modules_in(node: ir.Node) -> list[ir.Call]:
    calls = (part for part in ir.walk(node) if isinstance(part, ir.Call))
    return [call for call in calls if path_of(call.func).rpartition(".")[2] in _MODULES]


def _may_be_bidirectional(call: ir.Call) -> bool:
    given = [arg.value for arg in call.args if arg.keyword == "bidirectional"]
    return any(not isinstance(value, ir.Const) or bool(value.value) for value in given)

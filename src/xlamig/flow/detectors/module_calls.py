"""Calls of a module that is made here: advice on its class depends on the arguments that they pass."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext

_PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "torch.nn.EmbeddingBag": ("input", "offsets", "per_sample_weights")
}
"""The parameters of the forward pass of modules whose advice depends on them, the weightiest last."""


def called_with(name: str, node: ir.Call, place: CodeContext, analysis: Analysis) -> Mapping[str, str]:
    """The proof "passes-" with the last parameter of its forward pass that some call of a module passes."""
    parameters = _PARAMETERS.get(name)
    if parameters is None:
        return {}
    names = frozenset(_names_of(node, analysis.module))
    calls = (call for call in ir.walk(analysis.module) if isinstance(call, ir.Call))
    passed = {
        p
        for call in calls
        if path_of(call.func).rpartition(".")[2] in names
        for p in _passed(call, parameters)
    }
    found = [parameter for parameter in parameters[1:] if parameter in passed]
    return {f"passes-{found[-1].replace('_', '-')}": "yes"} if found else {}


def _names_of(made: ir.Call, module: ir.Module) -> Iterator[str]:
    """Yield the last names of what a module is assigned to, also where it is a part of the value."""
    for node in ir.walk(module):
        match node:
            case ir.Assign(targets=targets, value=value) if ir.encloses(value, made):
                yield from (path_of(target).rpartition(".")[2] for target in targets if path_of(target))
            case ir.AnnAssign(target=target, value=ir.Expr() as value) if ir.encloses(value, made):
                yield path_of(target).rpartition(".")[2]


def _passed(call: ir.Call, parameters: tuple[str, ...]) -> Iterator[str]:
    """Yield the parameters that a call passes another value than None."""
    for index, arg in enumerate(call.args):
        if arg.star or (isinstance(arg.value, ir.Const) and arg.value.value is None):
            continue
        name = arg.keyword or (parameters[index] if index < len(parameters) else None)
        if name is not None:
            yield name

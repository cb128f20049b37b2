"""Which tensor of a port is which of the reference, where their names differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from xlamig.observations import Mark, Optimizer, Parameter, Training


def rename_parts(port: Training, reference: Training) -> Training:
    """The port under the reference's names: those of its classes may be others. The tensors of a
    module are in the same order, so shapes decide."""
    names = _names(port.parameters, reference.parameters)
    roots = {mine.partition(".")[0]: theirs.partition(".")[0] for mine, theirs in names.items()}

    def name(mine: str) -> str:
        root, dot, rest = mine.partition(".")
        return names.get(mine) or roots.get(root, root) + dot + rest

    return replace(
        port,
        parameters=tuple(replace(one, name=name(one.name)) for one in port.parameters),
        strangers=tuple(replace(one, name=name(one.name)) for one in port.strangers),
        optimizers=tuple(_optimizer(one, name) for one in port.optimizers),
        ties=tuple(tuple(sorted(map(name, group))) for group in port.ties),
        started=_key_tensors(port.started, name),
        after_one=_key_tensors(port.after_one, name),
        state=_key_tensors(port.state, name),
        outputs={name(mine): marks for mine, marks in port.outputs.items()},
    )


def _names(port: Sequence[Parameter], reference: Sequence[Parameter]) -> dict[str, str]:
    """Empty where the names are alike, or the shapes are not."""
    mine, theirs = [one.name for one in port], [one.name for one in reference]
    if set(mine) & set(theirs) or [one.shape for one in port] != [one.shape for one in reference]:
        return {}
    return dict(zip(mine, theirs, strict=True))


def _optimizer(one: Optimizer, name: Callable[[str], str]) -> Optimizer:
    return replace(one, gradients=tuple(_key_tensors(step, name) for step in one.gradients))


def _key_tensors(marks: Mapping[str, Mark], name: Callable[[str], str]) -> dict[str, Mark]:
    return {name(mine): mark for mine, mark in marks.items()}

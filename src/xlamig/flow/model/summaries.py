"""The summaries that modules exchange about functions and calls: plain data that can be compared and
stored."""

from __future__ import annotations

from typing import NamedTuple

from xlamig.facts import Scalar
from xlamig.flow.model.effects import KnownEffects


class Portable(NamedTuple):
    """An abstract value outside the interpreter that made it; `interp.domain` explains the fields.

    `shape` has the sizes of the dimensions, None for one that is not a number. `ref` is the dotted name of
    the class or function that the value is or comes from, `known` tells a constant None from no constant,
    `keys` name the `items` of a mapping.
    """

    kind: str
    place: str = ""
    sure: int = 1
    dtype: str = ""
    shape: tuple[int | None, ...] | None = None
    loose: bool = False
    cause: str = ""
    tag: str = ""
    ref: str = ""
    known: bool = False
    const: Scalar = None
    keys: tuple[str, ...] = ()
    items: tuple[Portable, ...] | None = None
    element: Portable | None = None


class Reading(NamedTuple):
    """A tensor given as `parameter` is read on the host: how, by which operation, in which row. `whole`
    if it is the argument itself, not a part of it or what is computed from it. Only where the parameter
    `default` has its default, if there is one."""

    parameter: str
    whole: bool
    via: str
    operation: str
    row: int
    default: str = ""


class FunctionSummary(NamedTuple):
    """The effects and result of a function whose arguments are tensors on the device.

    `parameters` are those that a position stands for; `effects` are those that matter to a caller.
    """

    parameters: tuple[str, ...]
    reads: tuple[Reading, ...] = ()
    effects: KnownEffects = KnownEffects()
    result: Portable | None = None

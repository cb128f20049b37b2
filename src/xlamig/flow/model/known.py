"""Known values, and how they were found."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from xlamig.facts import Span, Value

_CUDA = re.compile(r"cuda(?::.*)?$")
_AT_BRACKETS = re.compile(r"(?<=[(\[{])\s*\n\s*|\s*\n\s*(?=[)\]}.])")  # needless line breaks
_TEXT_LIMIT = 60
_VALUE_LIMIT = 240


@dataclass(frozen=True, slots=True)
class Known:
    """A value and how it was found. `sure` is False through a default that a caller may replace;
    `defaults` are the places of such defaults, `origins` all places it is written at.
    `availability` tells the question whether CUDA is there from other CUDA tests."""

    value: Value
    sure: bool = True
    defaults: tuple[Span, ...] = ()
    origins: tuple[Span, ...] = ()
    availability: bool = False
    negated: bool = False


def short(text: str, limit: int = _TEXT_LIMIT) -> str:
    """Source text on one line, as one would write it there, cut to a length fit for a message."""
    line = " ".join(_AT_BRACKETS.sub("", text).split())
    return line if len(line) <= limit else line[: limit - 3] + "..."


def expression(text: str) -> Value:
    """Return an unknown value by its source text, which rules match: not cut where a message's is."""
    return Value("expression", short(text, _VALUE_LIMIT))


def join(one: Known, other: Known) -> Known | None:
    """Return what holds for both: the same value, or some CUDA device."""
    origins = (*one.origins, *other.origins)
    sure, defaults = one.sure and other.sure, (*one.defaults, *other.defaults)
    if one.value == other.value and one.negated == other.negated:
        return replace(one, sure=sure, defaults=defaults, origins=origins)
    if all(isinstance(k.value.value, str) and _CUDA.match(k.value.value) for k in (one, other)):
        kind: Literal["device", "pattern"] = (
            "device" if one.value.kind == other.value.kind == "device" else "pattern"
        )
        return Known(Value(kind, "cuda:*"), sure, defaults, origins)
    return None

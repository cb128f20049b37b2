"""The abstract domain: values and their join."""

from xlamig.flow.interp.domain.join import (
    element_of,
    inside,
    join,
    join_all,
    join_parameters,
    join_place,
    sequence,
)
from xlamig.flow.interp.domain.values import (
    BOOL,
    BOTTOM,
    CERTAIN,
    DEVICE,
    FOREIGN,
    LIKELY,
    MISSING,
    NONE,
    NUMBER,
    POSSIBLE,
    TEXT,
    TOP,
    AbstractValue,
    Cause,
    Kind,
    Place,
    constant,
    place_of_text,
)

__all__ = [
    "BOOL", "BOTTOM", "CERTAIN", "DEVICE", "FOREIGN", "LIKELY", "MISSING", "NONE", "NUMBER", "POSSIBLE",
    "TEXT", "TOP", "AbstractValue", "Cause", "Kind", "Place", "constant", "element_of", "inside", "join",
    "join_all", "join_parameters", "join_place", "place_of_text", "sequence",
]  # fmt: skip

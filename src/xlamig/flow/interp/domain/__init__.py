"""The abstract domain: values and their join."""

from xlamig.flow.interp.domain.containers import (
    as_tensor,
    element_of,
    groups_of,
    inside,
    join_parameters,
    over,
    placed,
    sequence,
    tensors_in,
)
from xlamig.flow.interp.domain.join import join, join_all, join_place
from xlamig.flow.interp.domain.traits import (
    Carried,
    Clock,
    Grown,
    LibraryObject,
    Mark,
    TorchModule,
    Trait,
    text_of,
    trait_of,
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
    "TEXT", "TOP", "AbstractValue", "Carried", "Cause", "Clock", "Grown", "Kind", "LibraryObject",
    "Mark", "Place", "TorchModule", "Trait", "as_tensor", "constant", "element_of", "groups_of",
    "inside", "join", "join_all", "join_parameters", "join_place", "over", "place_of_text", "placed",
    "sequence", "tensors_in", "text_of", "trait_of",
]  # fmt: skip

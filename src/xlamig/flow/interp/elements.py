"""Elements of tensors of integers."""

from __future__ import annotations

from collections.abc import Sequence

from xlamig.flow.interp.domain import AbstractValue
from xlamig.knowledge import values as table


def takes_element(base: AbstractValue, index: Sequence[AbstractValue], path: str) -> bool:
    """Return whether a number takes a 0-d tensor out of one whose shape is not known: what indexes something
    else is mostly a vector, but not pairs of indices, such as `edge_index`."""
    one = len(index) == 1 and index[0].kind == "number"
    guessed = base.shape is None and base.dtype == "int" and not base.loose
    return one and guessed and not table.name_like("index-pairs").search(path.rpartition(".")[2])

"""An alias of a row is another name of the same thing, never another operator."""

from __future__ import annotations

import pytest
from tests.books import BOOK

from xlamig.knowledge.operators import operators

ALIASES = sorted(BOOK.interest.aliases.items())
OPERATORS = operators("torch_xla")


@pytest.mark.parametrize(("alias", "name"), [pair for pair in ALIASES if pair[0].startswith("torch.")])
def test_an_alias_was_measured_as_the_name_it_stands_for(alias: str, name: str) -> None:
    one, other = OPERATORS.get(alias), OPERATORS.get(name)
    if one is None or other is None:
        return
    assert (one.status, one.aten) == (other.status, other.aten)

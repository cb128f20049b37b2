"""Every set of cases is split by the same function."""

from __future__ import annotations

import pytest

from benchmarks.split import SPLITS, split_of

PACKAGES = ["timm", "kornia", "monai", "gpytorch", "pyro-ppl", "torchmetrics", "e3nn", "torchdiffeq"]


def test_both_halves_are_used() -> None:
    assert {split_of(name) for name in PACKAGES} == {*SPLITS}


@pytest.mark.parametrize("name", ["pyro_ppl", "Pyro.PPL", "pyro-ppl/pyro-ppl"])
def test_spelling_and_owner_do_not_move_a_case(name: str) -> None:
    assert split_of(name) == split_of("pyro-ppl")


def test_the_split_is_the_published_one() -> None:
    assert [split_of(name) for name in ("timm", "torchmetrics")] == ["dev", "test"]

"""Annotations for several devices."""

from __future__ import annotations

import pytest

from xlamig.fits import Argument, Graph
from xlamig.observe.fitting.sharding import Unshardable, shard

WEIGHT = Argument("parameter", "w", (512, 1024), "float32", 4, output=0)
MOMENT = Argument("optimizer", "w exp_avg", (512, 1024), "float32", 4, output=1)
BATCH = Argument("input", "", (64, 3), "float32", 4)
TABLE = Argument("buffer", "t", (64, 9), "float32", 4)
SCALAR = Argument("scalar", "", (), "float32", 4)


def graph(*arguments: Argument) -> Graph:
    outputs = tuple(one for one in arguments if one.output is not None)
    return Graph("training step", None, 2, arguments, outputs, "step.mlirbc")


def test_one_chip_needs_no_annotation() -> None:
    found = shard(graph(WEIGHT, BATCH), 1, "one chip")
    assert found.arguments == [{"output": 0}, {"output": None}] and found.results == []


def test_data_parallel_divides_the_batch_alone() -> None:
    found = shard(graph(WEIGHT, BATCH, TABLE, SCALAR), 8, "data parallel")
    told = [one["sharding"] for one in found.arguments]
    assert told == ["{replicated}", "{devices=[8,1]<=[8]}", "{replicated}", "{replicated}"]


def test_fsdp_divides_parameters_and_the_optimizer_and_their_updates() -> None:
    found = shard(graph(WEIGHT, MOMENT, BATCH), 8, "FSDP")
    assert [one["sharding"] for one in found.arguments[:2]] == ["{devices=[1,8]<=[8]}"] * 2
    assert [one["sharding"] for one in found.results] == ["{devices=[1,8]<=[8]}"] * 2


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ((WEIGHT, SCALAR), "no argument carries the batch"),
        ((WEIGHT, Argument("input", "", (6, 3), "float32", 4)), "the batch of 6 does not divide into 8"),
    ],
)
def test_why_a_graph_cannot_be_sharded(given: tuple[Argument, ...], reason: str) -> None:
    with pytest.raises(Unshardable, match=reason):
        shard(graph(*given), 8, "FSDP")

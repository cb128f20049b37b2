"""The batch size among a program's arguments, and the search for the largest."""

from __future__ import annotations

import pytest

from xlamig.observe.fitting import batch
from xlamig.observe.program import LaunchError, Program


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--batch-size", "8"), ("--batch-size", "32")),
        (("--batch_size=8", "x"), ("--batch_size=32", "x")),
        (("batch_size=8",), ("batch_size=32",)),
        (("--trainer.batch_size=8",), ("--trainer.batch_size=32",)),
    ],
)
def test_every_usual_form_is_found(arguments: tuple[str, ...], expected: tuple[str, ...]) -> None:
    found = batch.find(arguments, "batch_size")
    assert found.value == 8
    assert found.program(Program(target="a.py", arguments=arguments), 32).arguments == expected


@pytest.mark.parametrize(
    "arguments", [(), ("--batch-size", "many"), ("--batch-sizes", "8"), ("--batch-size",)]
)
def test_what_is_not_there_is_an_error(arguments: tuple[str, ...]) -> None:
    with pytest.raises(LaunchError):
        batch.find(arguments, "batch_size")


@pytest.mark.parametrize("limit", [1, 2, 5, 8, 63, 64, 100, 1000])
@pytest.mark.parametrize("start", [1, 8, 64])
def test_the_largest_is_within_an_eighth(limit: int, start: int) -> None:
    asked: list[int] = []

    def fits(size: int) -> bool:
        asked.append(size)
        return size <= limit

    good, bad = batch.largest(fits, start)
    assert good is not None and bad is not None
    assert good <= limit < bad and bad - good <= max(1, good // 8)
    assert len(asked) == len(set(asked))


def test_none_fits() -> None:
    assert batch.largest(lambda size: False, 4) == (None, 1)


@pytest.mark.parametrize("limit", [7, 16, 100, 1000])
@pytest.mark.parametrize("start", [16, 64, 112])
@pytest.mark.parametrize("devices", [8, 16])
def test_sizes_divide_into_the_devices(limit: int, start: int, devices: int) -> None:
    asked: list[int] = []

    def fits(size: int) -> bool:
        asked.append(size)
        return devices <= size <= limit

    good, bad = batch.largest(fits, start, devices)
    assert all(size % devices == 0 for size in asked if size > devices)
    if limit < devices:
        assert good is None
    else:
        assert good is not None and bad is not None and bad - good <= max(devices, 8, good // 8)

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from making import a_finding, a_report
from xlamig.config.settings import EffortSettings
from xlamig.effort.comparison import Question
from xlamig.effort.economics import NoFigure, weigh
from xlamig.effort.estimate import estimate
from xlamig.knowledge.hardware import Hardware, HardwareError, load

TABLE = """\
read = "2026-01-01"
currency = "USD"

[gpu.g]
bf16_tflops = 100
hbm_gb = 10
hbm_gbps = 1
sources = ["a data sheet"]
prices = [{ offer = "a cloud", per_hour = 2, source = "its page" }]

[tpu.t]
bf16_tflops = 50
hbm_gb = 10
hbm_gbps = 1
mxu = 128
sources = ["another"]

[[tpu.t.prices]]
offer = "a"
per_hour = 0.5
source = "a page"

[[tpu.t.prices]]
offer = "b"
per_hour = 1
source = "b page"

[tpu.free]
bf16_tflops = 50
hbm_gb = 1
hbm_gbps = 1
mxu = 128
sources = ["another"]
"""
PLAN = estimate(a_report(a_finding(level="complex")), EffortSettings())
QUESTION = Question("g", 4, 10, ("t",), gpu_utilisation=0.5, tpu_utilisation=(0.25, 0.5, 0.5))


@pytest.fixture
def table(tmp_path: Path) -> Hardware:
    path = tmp_path / "own.toml"
    path.write_text(TABLE, "utf-8")
    return load(path)


def test_the_same_work_on_half_the_peak_takes_twice_the_chip_hours(table: Hardware) -> None:
    found = weigh(QUESTION, PLAN, table)
    option = found.options[0]
    assert (found.now.low, found.now.likely, found.now.high) == (80, 80, 80)
    assert (option.chip_hours.low, option.chip_hours.likely, option.chip_hours.high) == (80, 80, 160)
    assert (option.cost.low, option.cost.likely, option.cost.high) == (40, 40, 160)
    assert (option.saved.low, option.saved.likely, option.saved.high) == (-80, 40, 40)
    assert option.chips == 8


def test_break_even_needs_a_rate_and_ranges_over_both_ends(table: Hardware) -> None:
    assert weigh(QUESTION, PLAN, table).options[0].pays_off is None
    found = weigh(replace(QUESTION, hourly_rate=10), PLAN, table)
    assert found.migration is not None
    assert found.migration.low == pytest.approx(10 * (PLAN.hours.low + PLAN.fixed_low))
    soonest, likely = found.migration.low / 4, found.migration.likely / 4
    assert found.options[0].pays_off == (pytest.approx(soonest), pytest.approx(likely), None)


def test_a_given_price_replaces_the_list(table: Hardware) -> None:
    option = weigh(replace(QUESTION, prices={"t": 0.25}), PLAN, table).options[0]
    assert (option.cost.low, option.cost.high) == (20, 40)
    assert [price.offer for price in option.prices] == ["as given"]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (replace(QUESTION, gpu="k80"), "no figures for the GPU 'k80'"),
        (replace(QUESTION, tpus=("v99",)), "no figures for the TPU 'v99'"),
        (replace(QUESTION, tpus=("free",)), "no public price for free"),
    ],
)
def test_what_is_not_in_the_table_is_not_guessed(table: Hardware, question: Question, message: str) -> None:
    with pytest.raises(NoFigure, match=message):
        weigh(question, PLAN, table)


def test_too_little_memory_is_said(table: Hardware) -> None:
    found = weigh(replace(QUESTION, tpus=("free",), prices={"free": 1}), PLAN, table)
    assert found.options[0].notes == (
        "8 chips hold 8 GB, the 4 GPUs 40 GB: a model that fills the GPUs needs more chips",
    )


def test_assumptions_and_sources_are_complete(table: Hardware) -> None:
    found = weigh(QUESTION, PLAN, table)
    assert set(found.sources) == {"a data sheet", "another", "its page", "a page", "b page"}
    assert any("GPU 50%, TPU 50% (25%-50%)" in line for line in found.assumptions)
    assert any("no break-even" in line for line in found.assumptions)


def test_the_built_in_table_has_a_source_for_everything() -> None:
    table = load()
    for chip in (*table.gpus.values(), *table.tpus.values()):
        assert chip.sources
        assert all("http" in price.source for price in chip.prices)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[tpu.x]\nbf16_tflops = 1", "tpu.x: hbm_gb: expected a number above 0"),
        (TABLE.replace('sources = ["a data sheet"]', ""), "gpu.g: sources: expected where"),
        (TABLE.replace('source = "its page"', 'sauce = "x"'), "gpu.g: price 1: expected offer"),
        (TABLE.replace('"USD"', '"EUR"'), "currency: expected 'USD', got 'EUR'"),
        ("[cpu.x]", "cpu: unknown key"),
        ("a = ", "own.toml"),
        ("gpu = 3", "gpu: expected a table"),
        ("[gpu]\nx = 3", "gpu.x: expected a table"),
    ],
)
def test_a_broken_table_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(HardwareError, match=message):
        load(path)


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(HardwareError, match="No such file"):
        load(tmp_path / "none.toml")


def test_chips_come_in_slices_that_exist() -> None:
    option = weigh(Question("a100", 8, 500, ("v6e",)), PLAN, load()).options[0]
    assert option.chip_hours.likely / 500 < 3
    assert option.chips == 4

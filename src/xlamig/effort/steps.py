"""Price a training step on a TPU from a fit: compiled FLOPs and memory instead of assumptions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import ceil, prod
from pathlib import Path
from typing import Any

from xlamig.effort.comparison import Money, StepCosts, StepOption, StepQuestion
from xlamig.effort.economics import NoFigure, look_up, migration_cost, money, prices_of
from xlamig.effort.plan import Plan
from xlamig.knowledge.hardware import Accelerator, Hardware, Price

_MILLION = 1_000_000


class FitError(ValueError):
    """A file that is no fit."""


def read(path: Path) -> dict[str, Any]:
    """The training step of a fit.

    Raises:
        FitError: it is not what `xlamig fit --output-format json` writes.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        graph = document["graphs"][0]
        return {**document, "step": graph | {"results": list(graph["results"])}}
    except OSError as error:
        raise FitError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, IndexError, TypeError):
        raise FitError(f"{path} is not written by `xlamig fit --output-format json`") from None


def weigh_step(document: Mapping[str, Any], question: StepQuestion, plan: Plan, table: Hardware) -> StepCosts:
    """The costs of the step on every chip of the fit.

    Raises:
        NoFigure: an accelerator or its price is not in the table.
    """
    step = document["step"]
    flops = max((one["flops"] * one["devices"] for one in step["results"]), default=0)
    if not flops:
        raise NoFigure("the fit has no FLOPs: its graph was not compiled")
    unit, per_step = _count_samples(step["inputs"])
    gpu = look_up(question.gpu, table.gpus, "GPU") if question.gpu else None
    gpu_prices = prices_of(gpu, question.prices) if gpu else ()
    gpu_seconds = _seconds(flops, gpu, question.gpu_utilisation) if gpu else 0.0
    gpu_cost = _cost(Money(gpu_seconds, gpu_seconds, gpu_seconds), 1, gpu_prices) if gpu else None
    migration = migration_cost(question.hourly_rate, plan)
    options = tuple(
        _option(result, flops, per_step, question, table, gpu_cost, migration) for result in step["results"]
    )
    sources = dict.fromkeys(source for one in options for source in one.tpu.sources)
    sources |= dict.fromkeys(price.source for one in options for price in one.prices)
    sources |= dict.fromkeys(price.source for price in gpu_prices)
    return StepCosts(
        program=document["program"],
        caveat=document["caveat"],
        currency=table.currency,
        flops=flops,
        unit=unit,
        per_step=per_step,
        options=options,
        gpu=gpu,
        gpu_cost=gpu_cost,
        migration=migration,
        assumptions=tuple(_assumptions(question, table, gpu)),
        sources=tuple(sources),
    )


def _count_samples(inputs: list[Mapping[str, Any]]) -> tuple[str, int]:
    """A sequence of whole numbers is text: its tokens count. All else counts by the sample, and a step
    that is given nothing by itself."""
    tokens = [prod(one["shape"]) for one in inputs if len(one["shape"]) == 2 and "int" in one["dtype"]]
    if tokens:
        return "tokens", max(tokens)
    samples = [one["shape"][0] for one in inputs if one["shape"]]
    return ("samples", max(samples)) if samples else ("steps", 1)


def _option(
    result: Mapping[str, Any],
    flops: int,
    per_step: int,
    question: StepQuestion,
    table: Hardware,
    gpu_cost: Money | None,
    migration: Money | None,
) -> StepOption:
    tpu = look_up(result["chip"], table.tpus, "TPU")
    prices = prices_of(tpu, question.prices)
    chips, notes = _chips(result, tpu)
    low, likely, high = question.tpu_utilisation
    least = result["bound"] or 0.0  # no utilisation beats the roofline
    seconds = Money(*(max(least, _seconds(flops, tpu, share) / chips) for share in (high, likely, low)))
    cost = _cost(seconds, chips, prices)
    million = _MILLION / per_step
    saved = _difference(gpu_cost, cost) if gpu_cost else None
    pays_off = _pays_off(saved, migration) if saved and migration else None
    return StepOption(
        tpu=tpu,
        result=result,
        chips=chips,
        seconds=seconds,
        cost=cost,
        per_million=Money(cost.low * million, cost.likely * million, cost.high * million),
        prices=prices,
        saved=saved,
        pays_off=pays_off,
        notes=tuple(notes),
    )


def _difference(one: Money, other: Money) -> Money:
    return Money(one.low - other.high, one.likely - other.likely, one.high - other.low)


def _chips(result: Mapping[str, Any], tpu: Accelerator) -> tuple[int, list[str]]:
    """As many as were compiled for; where that is too little memory, as many as hold what is needed."""
    given: int = result["chips"]
    problem = result["problem"]
    if problem is None:
        return given, []
    if problem["kind"] != "out of memory" or not problem["needed"]:
        return given, [f"not compiled: {problem['message']}"]
    devices = tpu.compiler.devices if tpu.compiler else 1
    needed = ceil(given * problem["needed"] / (result["available"] * (1 if given > 1 else devices)))
    chips = 1 << max(1, (needed - 1).bit_length())
    problem = f"a step does not fit on {given}: {chips} chips if its memory divides evenly"
    return chips, [f"{problem}; `xlamig fit --chips {chips}` compiles that"]


def _seconds(flops: float, chip: Accelerator, share: float) -> float:
    return flops / (chip.bf16_tflops * 1e12 * share)


def _cost(seconds: Money, chips: int, prices: tuple[Price, ...]) -> Money:
    low, likely, high = (value * chips / 3600 for value in (seconds.low, seconds.likely, seconds.high))
    return money(low, likely, high, prices)


def _pays_off(saved: Money, migration: Money) -> tuple[float | None, float | None]:
    def steps(cost: float, saving: float) -> float | None:
        return cost / saving if saving > 0 else None

    return steps(migration.low, saved.high), steps(migration.high, saved.low)


def _assumptions(question: StepQuestion, table: Hardware, gpu: Accelerator | None) -> Iterator[str]:
    low, likely, high = question.tpu_utilisation
    yield "FLOPs are those of the compiled graph's matrix products and convolutions"
    yield f"TPU utilisation (MFU) {likely:.0%} ({low:.0%}-{high:.0%}), never faster than the roofline"
    if gpu:
        yield f"the {gpu.name} does the same FLOPs at {question.gpu_utilisation:.0%} of its bf16 peak"
    yield f"list prices per chip and hour in {table.currency}, built-in figures read on {table.read}"
    yield "nothing was measured on a TPU: measure one step of your model before you rely on this"

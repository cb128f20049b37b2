"""Compare the cost of the same work on GPUs and TPUs, and find the break-even of a migration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Protocol

from xlamig.effort.comparison import Economics, Money, Option, Question
from xlamig.knowledge.hardware import Accelerator, Hardware, Price


class NoFigure(ValueError):
    """A figure that is not in the table, and is not guessed."""


class Estimated(Protocol):
    """Work that was estimated: a plan, or the hours that are kept of one."""

    @property
    def whole(self) -> tuple[float, float, float]:
        """Hours of everything, low, likely and high."""


def weigh(question: Question, plan: Estimated, table: Hardware) -> Economics:
    """The comparison.

    Raises:
        NoFigure: an accelerator or its price is not in the table.
    """
    gpu = look_up(question.gpu, table.gpus, "GPU")
    gpu_prices = prices_of(gpu, question.prices)
    gpu_hours = question.gpus * question.hours
    now = money(gpu_hours, gpu_hours, gpu_hours, gpu_prices)
    migration = migration_cost(question.hourly_rate, plan)
    chosen = [look_up(name, table.tpus, "TPU") for name in question.tpus]
    options = tuple(_option(question, gpu, now, migration, tpu) for tpu in chosen)
    shown = (gpu, *chosen)
    sources = dict.fromkeys(source for one in shown for source in one.sources)
    sources |= dict.fromkeys(price.source for price in (*gpu_prices, *(p for o in options for p in o.prices)))
    return Economics(
        table.currency, question, gpu, gpu_prices, now, migration, options,
        tuple(_assumptions(question, table, migration)), tuple(sources),
    )  # fmt: skip


def _option(
    question: Question, gpu: Accelerator, now: Money, migration: Money | None, tpu: Accelerator
) -> Option:
    prices = prices_of(tpu, question.prices)
    work = question.gpus * question.hours * gpu.bf16_tflops * question.gpu_utilisation
    low, likely, high = (work / (tpu.bf16_tflops * share) for share in reversed(question.tpu_utilisation))
    cost = money(low, likely, high, prices)
    saved = Money(now.low - cost.high, now.likely - cost.likely, now.high - cost.low)
    chips = ceil(likely / question.hours)
    chips = tpu.compiler.slice_of(chips) if tpu.compiler else chips
    notes = []
    if chips * tpu.hbm_gb < question.gpus * gpu.hbm_gb:
        notes.append(
            f"{chips} chips hold {chips * tpu.hbm_gb:.0f} GB, the {question.gpus} GPUs "
            f"{question.gpus * gpu.hbm_gb:.0f} GB: a model that fills the GPUs needs more chips"
        )
    pays_off = _pays_off(question, saved, migration) if migration is not None else None
    return Option(tpu, Money(low, likely, high), chips, cost, prices, saved, pays_off, tuple(notes))


def _pays_off(
    question: Question, saved: Money, migration: Money
) -> tuple[float | None, float | None, float | None]:
    """GPU-job hours at the best end of both ranges, at their likely values and at the worst end."""

    def hours(cost: float, saving: float) -> float | None:
        return cost / (saving / question.hours) if saving > 0 else None

    return (
        hours(migration.low, saved.high),
        hours(migration.likely, saved.likely),
        hours(migration.high, saved.low),
    )


def migration_cost(rate: float | None, plan: Estimated) -> Money | None:
    """The plan's hours at that rate, None where none is given."""
    if rate is None:
        return None
    return Money(*(hours * rate for hours in plan.whole))


def look_up(name: str, table: Mapping[str, Accelerator], kind: str) -> Accelerator:
    """The entry of the table. Raises NoFigure where there is none."""
    found = table.get(name.lower())
    if found is None:
        raise NoFigure(f"no figures for the {kind} {name!r}: the table has {', '.join(sorted(table))}")
    return found


def prices_of(chip: Accelerator, given_prices: Mapping[str, float]) -> tuple[Price, ...]:
    """On demand where that is known, else what there is. None is made up."""
    given = given_prices.get(chip.key)
    if given is not None:
        return (Price("as given", given, "the command line"),)
    prices = tuple(price for price in chip.prices if not price.spot) or chip.prices
    if not prices:
        raise NoFigure(
            f"no public price for {chip.name} in the table: give one with --price {chip.key}=NUMBER"
        )
    return prices


def money(low: float, likely: float, high: float, prices: Sequence[Price]) -> Money:
    """Chip-hours times the range of offers, the likely one at the lowest offer."""
    each = [price.per_hour for price in prices]
    return Money(low * min(each), likely * min(each), high * max(each))


def _assumptions(question: Question, table: Hardware, migration: Money | None) -> Iterator[str]:
    low, likely, high = question.tpu_utilisation
    yield f"the job: {question.gpus} GPUs for {question.hours:g} hours, all of it bf16 matrix work"
    gpu = f"GPU {question.gpu_utilisation:.0%}"
    yield f"utilisation of the bf16 peak: {gpu}, TPU {likely:.0%} ({low:.0%}-{high:.0%})"
    yield "nothing was measured on a TPU: measure one step of your model before you rely on this"
    yield (
        f"list prices per chip and hour in {table.currency}, built-in figures read on {table.read}; "
        "the likely value takes the lowest offer on both sides, the range all offers listed"
    )
    yield "not counted: hosts, storage, network, idle chips, commitments, discounts"
    if migration is None:
        yield "no break-even: no --hourly-rate was given"
    else:
        rate = f"{question.hourly_rate:g} {table.currency} per hour"
        yield f"the migration: all hours of the plan at {rate}"

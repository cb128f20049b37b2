"""Economics in words."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from xlamig.effort.comparison import Economics, Money, Option
from xlamig.report.numbers import number


def amount(value: float) -> str:
    """Two figures, with thousands apart."""
    if abs(value) < 10:
        return f"{Decimal(f'{value:.2g}'):f}"
    return f"{float(f'{value:.2g}'):,.0f}"


def span(money: Money, unit: str = "") -> str:
    low, likely, high = map(amount, (money.low, money.likely, money.high))
    text = low if low == high else f"{low} to {high}, likely {likely}"
    return f"{text} {unit}".rstrip()


def difference(saved: Money, currency: str) -> str:
    """Return a saving or extra cost in words."""
    worst, likely, best = (
        f"{amount(abs(value))} {currency} {'less' if value >= 0 else 'more'}"
        for value in (saved.low, saved.likely, saved.high)
    )
    return f"from {worst} to {best}, likely {likely}"


def lines(found: Economics) -> Iterator[str]:
    """The comparison, its assumptions and its sources."""
    asked = found.question
    now = span(found.now, found.currency)
    yield f"now: {asked.gpus} x {found.gpu.name} for {asked.hours:g} hours cost {now} (estimate)"
    for option in found.options:
        yield from _option(found, option)
    if found.migration is not None:
        yield f"migration: costs {span(found.migration, found.currency)}, once (estimate)"
    yield from (f"assumed: {line}" for line in found.assumptions)
    for chip, prices in ((found.gpu, found.gpu_prices), *((o.tpu, o.prices) for o in found.options)):
        rate = f"{chip.bf16_tflops:g} bf16 TFLOP/s, {chip.hbm_gb:g} GB at {chip.hbm_gbps:g} GB/s"
        yield f"figures: {chip.name}: {rate}{f', MXU {chip.mxu}' if chip.mxu else ''}"
        rates = ((f"{price.per_hour:g} {found.currency} per hour", price.offer) for price in prices)
        yield from (f"price: {chip.name} {rate}: {offer}" for rate, offer in rates)
    yield from (f"source: {source}" for source in found.sources)


def pays_off(option: Option) -> str:
    """When the migration has paid for itself, in hours of the job as it runs today."""
    if option.pays_off is None:
        return ""
    soonest, likely, latest = option.pays_off
    if soonest is None:
        return "the migration never pays for itself within these ranges (estimate)"
    worst = f"{amount(latest)} hours" if latest is not None else "never"
    ends = f"at best after {amount(soonest)} hours of the GPU job, at worst {worst} (estimate)"
    if likely is None:
        return f"the migration likely never pays for itself: {ends}"
    return f"the migration likely pays for itself after {amount(likely)} hours: {ends}"


def _option(found: Economics, option: Option) -> Iterator[str]:
    cost = span(option.cost, found.currency)
    yield f"{option.tpu.name}: the same job costs {cost} (estimate)"
    hours = span(option.chip_hours, "chip-hours")
    chips = number(option.chips, "chip")
    each = amount(option.chip_hours.likely / option.chips)
    yield f"   it takes {hours} (estimate): likely a slice of {chips} for {each} hours"
    yield f"   compared with now {difference(option.saved, found.currency)} (estimate)"
    if said := pays_off(option):
        yield f"   {said}"
    yield from (f"   {note}" for note in option.notes)

"""Put a plan's fit into words: whether a step fits, its least time, its cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from xlamig.effort.comparison import StepCosts, StepOption
from xlamig.report import fit_words
from xlamig.report.plan_economics import amount, difference, span


def lines(found: StepCosts) -> Iterator[str]:
    """The step on each chip, then the GPU, the assumptions and the sources."""
    yield f"{found.program}: {work(found)} per step"
    yield found.caveat
    for option in found.options:
        yield f"{title(option)}: {verdict(option)}"
        if bound := at_least(option):
            yield f"   {bound}"
        yield f"   costs {per_million(found, option)} (estimate)"
        if option.saved is not None:
            yield f"   compared with the GPU, per step: {difference(option.saved, found.currency)} (estimate)"
        if said := pays_off(option):
            yield f"   {said}"
        yield from (f"   {note}" for note in option.notes)
    if found.gpu and found.gpu_cost:
        yield f"{found.gpu.name}: a step costs {span(found.gpu_cost, found.currency)} (estimate)"
    yield from (f"assumed: {line}" for line in found.assumptions)
    yield from (f"source: {source}" for source in found.sources)


def work(found: StepCosts) -> str:
    """Return the FLOPs of a step and, where that is known, its number of tokens or samples."""
    flops = fit_words.flops(found.flops)
    return flops if found.unit == "steps" else f"{flops} and {found.per_step:,} {found.unit}"


def title(option: StepOption) -> str:
    result = option.result
    return (
        f"{option.tpu.name}, {result['chips']} chips, {result['layout']}"
        if result["chips"] > 1
        else option.tpu.name
    )


def verdict(option: StepOption) -> str:
    result = option.result
    memory: Mapping[str, Any] | None = result["memory"]
    if memory is None:
        return f"{result['problem']['kind']}, {fit_words.size(result['available'])} available"
    return f"fits, {fit_words.size(memory['peak'])} of {fit_words.size(result['available'])}"


def at_least(option: StepOption) -> str:
    bound = option.result["bound"]
    return (
        f"a step takes at least {fit_words.seconds(bound)}, limited by {option.result['limit']}"
        if bound
        else ""
    )


def per_million(found: StepCosts, option: StepOption) -> str:
    cost = span(option.cost, found.currency)
    chips = f" on {option.chips} chips" if option.chips > 1 else ""
    return f"{cost} per step{chips}, {span(option.per_million, found.currency)} per million {found.unit}"


def pays_off(option: StepOption) -> str:
    """When the migration has paid for itself, in steps."""
    if option.pays_off is None:
        return ""
    soonest, latest = option.pays_off
    if soonest is None:
        return "the migration never pays for itself within these ranges (estimate)"
    if latest is None:
        return (
            f"the migration pays for itself at best after {amount(soonest)} steps, at worst never (estimate)"
        )
    return f"the migration pays for itself after {amount(soonest)} to {amount(latest)} steps (estimate)"


def document(found: StepCosts) -> dict[str, Any]:
    """For JSON."""
    return {
        "program": found.program,
        "caveat": found.caveat,
        "currency": found.currency,
        "flops": found.flops,
        "unit": found.unit,
        "per_step": found.per_step,
        "gpu": found.gpu.key if found.gpu else None,
        "gpu_cost": found.gpu_cost and _money(found.gpu_cost),
        "migration": found.migration and _money(found.migration),
        "options": [
            {
                "chip": option.tpu.key,
                "layout": option.result["layout"],
                "fits": option.result["fits"],
                "chips": option.chips,
                "bound": option.result["bound"],
                "limit": option.result["limit"],
                "seconds": _money(option.seconds),
                "cost": _money(option.cost),
                "per_million": _money(option.per_million),
                "saved": option.saved and _money(option.saved),
                "pays_off_steps": option.pays_off and list(option.pays_off),
                "notes": list(option.notes),
            }
            for option in found.options
        ],
        "assumptions": list(found.assumptions),
        "sources": list(found.sources),
    }


def _money(money: Any) -> dict[str, float]:
    return {"low": money.low, "likely": money.likely, "high": money.high}

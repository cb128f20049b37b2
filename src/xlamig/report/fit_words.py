"""Put a fit into words, the same in every format."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.fits import (
    ROLES,
    Buffer,
    Capture,
    Compiled,
    Fit,
    Graph,
    GraphFit,
    LargestBatch,
    Matmul,
    Place,
    Role,
)
from xlamig.knowledge.aten import is_client_only
from xlamig.knowledge.hardware import load
from xlamig.report.numbers import number, percent
from xlamig.report.trace_words import at, relative

_ROLES: dict[Role, str] = {
    "parameter": "parameters", "optimizer": "optimizer state", "buffer": "buffers",
    "state": "other tensors that are kept", "input": "inputs", "scalar": "scalars",
}  # fmt: skip
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
_POWERS = ("", "K", "M", "G", "T", "P")


def size(value: float) -> str:
    """In binary units, three figures."""
    power = 0
    while abs(value) >= 1024 and power + 1 < len(_UNITS):
        value /= 1024
        power += 1
    return f"{_figures(value)} {_UNITS[power]}"


def flops(value: float) -> str:
    power = 0
    while abs(value) >= 1000 and power + 1 < len(_POWERS):
        value /= 1000
        power += 1
    return f"{_figures(value)} {_POWERS[power]}FLOP"


def seconds(value: float) -> str:
    factor, unit = (1.0, "s") if value >= 1 else (1e3, "ms") if value >= 1e-3 else (1e6, "µs")
    return f"{_figures(value * factor)} {unit}"


def _figures(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def headline(fit: Fit, one: GraphFit) -> str:
    batch = f", batch {one.batch}" if one.batch else ""
    where = f" at {at(one.graph.spot)}" if one.graph.spot else ""
    return f"{one.graph.kind}{batch}{where}"


def times_seen(fit: Fit, graph: Graph) -> str:
    if graph.kind == "saved graph" or not fit.capture.steps:
        return "a saved graph"
    if graph.kind == "training step":
        return f"the same graph in {graph.count} of {number(fit.capture.steps, 'step')}"
    return f"seen {number(graph.count, 'time')}"


def arguments(graph: Graph) -> str:
    """How much memory the graph is given, and for what."""
    total = sum(one.bytes for one in graph.arguments)
    parts = [f"{_ROLES[role]} {size(graph.bytes_of(role))}" for role in ROLES if graph.bytes_of(role)]
    donated = sum(one.output is not None for one in graph.arguments)
    return (
        f"{size(total)} in {number(len(graph.arguments), 'argument')} ({donated} donated): {', '.join(parts)}"
    )


def chip(one: Compiled | LargestBatch) -> str:
    found = load().tpus.get(one.chip)
    name = found.name if found else one.chip
    return f"{name}, {one.chips} chips, {one.layout}" if one.chips > 1 else name


def verdict(one: Compiled) -> str:
    if one.problem is None:
        assert one.memory is not None
        share = percent(one.memory.peak / one.available)
        each = " per device" if one.devices > 1 else ""
        return f"fits: {size(one.memory.peak)} of {size(one.available)}{each} ({share})"
    if one.problem.kind == "out of memory":
        needed = f"needs {size(one.problem.needed)}, " if one.problem.needed else ""
        return f"does not fit: {needed}{size(one.available)} available"
    return {
        "refused": "does not compile", "aborted": "the compiler aborted", "timeout": "not compiled in time",
        "not sharded": "cannot be sharded",
    }[one.problem.kind]  # fmt: skip


def memory(one: Compiled) -> str:
    assert one.memory is not None
    told = one.memory
    return (
        f"arguments {size(told.arguments)}, outputs {size(told.outputs)} ({size(told.aliased)} of them in "
        f"donated arguments), temporaries {size(told.temporaries)}, code {size(told.code)}"
    )


def step(one: Compiled) -> str:
    """The roofline."""
    assert one.bound is not None
    intensity = f"{one.intensity:.3g} FLOPs per byte" if one.intensity is not None else ""
    traffic = f"{size(one.bytes or 0)} of memory traffic" if one.bytes else ""
    told = ", ".join(filter(None, (flops(one.flops), traffic, intensity)))
    return f"at least {seconds(one.bound)}, limited by {one.limit} ({told})"


def place(one: Place | None) -> str:
    if one is None:
        return ""
    return f"{relative(one.filename)}:{one.row}" + (" (backward)" if one.backward else "")


def buffer(one: Buffer) -> tuple[str, ...]:
    return size(one.bytes), one.shape, one.name, place(one.place)


def matmul(one: Matmul) -> tuple[str, ...]:
    times = f"{one.count} x " if one.count > 1 else ""
    return (
        flops(one.flops),
        f"{times}{one.m} x {one.k} x {one.n}",
        f"{percent(one.fill)} filled",
        place(one.place),
    )


def collectives(one: Compiled) -> str:
    if not one.collectives:
        return "none"
    return ", ".join(f"{each.count} {each.name} ({size(each.bytes)})" for each in one.collectives)


def largest(one: LargestBatch) -> str:
    if one.fits is None:
        return f"{chip(one)}: no {one.argument} fits"
    above = f", {one.too_large} does not" if one.too_large else ""
    return f"{chip(one)}: {one.argument} {one.fits} fits{above}"


def notes(capture: Capture) -> Iterator[str]:
    """Yield the differences from a real run."""
    for spot, count in capture.reads:
        where = at(spot) if spot else "in a library"
        yield f"{where}: {number(count, 'read')} answered with stand-in values"
    for spot, operator, count in capture.fallbacks:
        where = at(spot) if spot else "in a library"
        only = ", though a TPU has a kernel for it" if is_client_only(operator) else ""
        yield f"{where}: {operator} runs on the CPU ({number(count, 'time')}) and is in no graph{only}"
    if capture.failure:
        message = (capture.failure.message.strip().splitlines() or [""])[0]
        yield f"The program ended in {capture.failure.type}: {message}"
    if capture.distinct > 2:
        yield f"{capture.distinct} different graphs of training steps: `xlamig trace` shows what changes them"

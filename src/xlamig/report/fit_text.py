"""A fit for people at a terminal: each graph, and below it each chip."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from xlamig.fits import CAVEAT, Compiled, Fit, GraphFit
from xlamig.report import fit_words as words
from xlamig.report.context import Context, one_line

_SHOWN = 5  # products; all ten are in JSON
T = TypeVar("T")


def render(fit: Fit, context: Context) -> Iterator[str]:
    yield one_line(fit.program)
    yield CAVEAT
    yield f"{f'torch_xla {fit.capture.torch_xla}, ' if fit.capture.torch_xla else ''}{fit.compiler}"
    for graph in fit.graphs:
        yield from _graph(fit, graph, context)
    for largest in fit.largest:
        yield ""
        yield f"Largest batch: {words.largest(largest)}"
    if notes := list(words.notes(fit.capture)):
        yield from ("", "Differs from a real run:", *(f"  {one_line(note)}" for note in notes))


def _graph(fit: Fit, found: GraphFit, context: Context) -> Iterator[str]:
    yield ""
    title = words.headline(fit, found)
    yield f"{context.paint('strong', title[:1].upper() + title[1:])} ({words.times_seen(fit, found.graph)})"
    if found.graph.arguments:
        yield f"  arguments  {words.arguments(found.graph)}"
    for one in found.compiled:
        yield from _chip(one, context)


def _chip(one: Compiled, context: Context) -> Iterator[str]:
    ink = context.paint("strong" if one.fits else "error", f"{words.chip(one)}: {words.verdict(one)}")
    yield f"  {ink}"
    if one.problem:
        where = f"{words.place(one.problem.place)}: " if one.problem.place else ""
        yield f"    {where}{one_line(one.problem.message)}"
    if one.memory:
        yield f"    memory     {words.memory(one)}"
        yield f"    a step     {words.step(one)}"
    if one.devices > 1 and one.fits:
        yield f"    between    {words.collectives(one)}, per device and step"
    if one.seconds is not None:
        yield f"    compiled   in {words.seconds(one.seconds)}"
    yield from _table("largest buffers at the peak", one.buffers, words.buffer)
    yield from _table("largest matrix products", one.matmuls[:_SHOWN], words.matmul)


def _table(title: str, found: Iterable[T], row: Callable[[T], tuple[str, ...]]) -> Iterator[str]:
    counts = Counter(row(one) for one in found)
    if not counts:
        return
    rows = [
        (f"{count} x {cells[0]}" if count > 1 else cells[0], *cells[1:]) for cells, count in counts.items()
    ]
    yield f"    {title}"
    widths = [max(len(cells[column]) for cells in rows) for column in range(len(rows[0]))]
    for cells in rows:
        first, *others = (f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))
        yield one_line(f"      {first.strip():>{widths[0]}}  {'  '.join(others)}".rstrip())

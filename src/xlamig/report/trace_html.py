"""A trace as one page for a browser, which loads nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from jinja2 import Environment

from xlamig import __version__
from xlamig.findings import rule_url
from xlamig.observations import Event, Failure, Spot, Trace
from xlamig.report import trace_words as words
from xlamig.report.context import Context
from xlamig.report.page import environment
from xlamig.report.trace_source import Block, blocks

MOST_BARS = 15
_CAUSED = ("changing-shape", "changing-constant", "changing-path", "recompile")
_TONES = {"step": "hot", "interval": "warm", "warm-up": "cool", "once": "cool"}


@dataclass(frozen=True, slots=True)
class Row:
    """The events of one line. `number` is that of its file on the page."""

    number: int
    spot: Spot
    events: tuple[Event, ...]
    failure: Failure | None

    @property
    def anchor(self) -> str:
        return f"f{self.number}-{self.spot.row}"

    @property
    def seconds(self) -> float:
        """A recompilation is also waited for where its graph was run, perhaps at this very line."""
        caused = sum(event.compile_seconds for event in self.events if event.kind in _CAUSED)
        return max(caused, sum(event.seconds for event in self.events))

    @property
    def count(self) -> int:
        return max((event.count for event in self.events), default=0)

    @property
    def harms(self) -> tuple[Event, ...]:
        return tuple(event for event in self.events if words.is_harm(event))


@dataclass(frozen=True, slots=True)
class File:
    """`lost` are rows that the file does not have, all of them when it cannot be read."""

    path: str
    readable: bool
    rows: dict[int, Row]
    blocks: tuple[Block, ...]
    lost: tuple[Row, ...]


def render(trace: Trace, context: Context) -> str:
    """The page. Sources are read through `context`."""
    files = list(_files(trace, context))
    rows = [row for file in files for row in file.rows.values()]
    harmful = sorted((row for row in rows if row.harms), key=lambda row: (-row.seconds, -row.count))
    boundary, failed = (
        next((row for row in rows if spot and _line(row.spot) == _line(spot)), None)
        for spot in (trace.boundary, trace.failure and trace.failure.spot)
    )
    return _environment().get_template("trace.html.jinja").render(
        trace=trace,
        version=__version__,
        words=words,
        files=files,
        bars=harmful[:MOST_BARS],
        more=len(harmful[MOST_BARS:]),
        longest=max((row.seconds for row in harmful), default=0),
        boundary=boundary,
        failed=failed,
        nowhere=[event for event in trace.events if not event.spot and words.is_harm(event)],
    )  # fmt: skip


@cache
def _environment() -> Environment:
    made = environment()
    made.filters |= {
        "kind": words.kind,
        "often": words.often,
        "cost": words.cost,
        "at": words.at,
        "seconds": words.seconds,
        "tone": lambda event: _TONES[event.frequency] if words.is_harm(event) else "calm",
        "url": rule_url,
    }
    return made


def _files(trace: Trace, context: Context) -> Iterator[File]:
    """The most expensive first, as the events are."""
    order: dict[str, None] = dict.fromkeys(spot.filename for spot in _spots(trace))
    for number, filename in enumerate(order):
        rows = {row.spot.row: row for row in _rows(trace, filename, number)}
        text = context.text_of(filename)
        spots = [event.spot for row in rows.values() for event in row.harms if event.spot]
        shown = () if text is None else tuple(blocks(text, spots, rows))
        last = shown[-1].last if shown else 0
        lost = tuple(row for row in rows.values() if row.spot.row > last)
        yield File(words.path(filename), text is not None, rows, shown, lost)


def _spots(trace: Trace) -> Iterator[Spot]:
    yield from (event.spot for event in trace.events if event.spot and words.is_harm(event))
    yield from (event.spot for event in trace.events if event.spot)
    yield from filter(None, (trace.boundary, trace.failure and trace.failure.spot))


def _rows(trace: Trace, filename: str, number: int) -> Iterator[Row]:
    spots = sorted((spot for spot in _spots(trace) if spot.filename == filename), key=_line)
    for line, places in groupby(spots, key=_line):
        events = tuple(event for event in trace.events if event.spot and _line(event.spot) == line)
        failure = trace.failure
        here = failure is not None and failure.spot is not None and _line(failure.spot) == line
        yield Row(number, next(iter(places)), events, failure if here else None)


def _line(spot: Spot) -> tuple[str, int]:
    return spot.filename, spot.row

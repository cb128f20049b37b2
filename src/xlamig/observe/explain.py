"""Which rule speaks of what happened. The table is rules/observed/events.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache

from xlamig.config.book import find_book
from xlamig.observations import Event, Failure, Spot, Trace
from xlamig.observe.sources import text_of

CLIENT_ONLY = "A TPU has a kernel for it: nothing to change."


@dataclass(frozen=True, slots=True)
class Row:
    """Fits an event if each of its conditions does; an empty one always does."""

    kind: str
    rule: str
    advice: str
    via: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    frequency: tuple[str, ...] = ()

    def fits(self, event: Event) -> bool:
        return (
            self.kind == event.kind
            and (not self.via or any(fnmatchcase(event.via, pattern) for pattern in self.via))
            and (not self.frequency or event.frequency in self.frequency)
            and (
                not self.operators or any(fnmatchcase(o, p) for o in event.operators for p in self.operators)
            )
        )


@dataclass(frozen=True, slots=True)
class Table:
    events: tuple[Row, ...]
    exceptions: tuple[tuple[str, str, str, str], ...]  # (of the message, of the line, rule, advice)


@cache
def table() -> Table:
    content = tomllib.loads((find_book() / "observed" / "events.toml").read_text(encoding="utf-8"))
    rows = (
        Row(
            row["kind"],
            row["rule"],
            row["advice"],
            tuple(row.get("via", ())),
            tuple(row.get("operators", ())),
            tuple(row.get("frequency", ())),
        )
        for row in content["event"]
    )
    exceptions = (
        (row["text"], row.get("source", ""), row["rule"], row["advice"]) for row in content["exception"]
    )
    return Table(tuple(rows), tuple(exceptions))


def explain(trace: Trace) -> Trace:
    """The same trace with the rule and the advice for what costs something in it."""
    events = tuple(map(_event, trace.events))
    dynamic = {_line(event): event for event in events if event.kind == "dynamic-shape" and event.spot}
    return replace(
        trace,
        events=tuple(_from_values(event, dynamic.get(_line(event))) for event in events),
        failure=trace.failure and _failure(trace.failure),
    )


def _line(event: Event) -> tuple[str, int] | None:
    return (event.spot.filename, event.spot.row) if event.spot else None


def _from_values(event: Event, source: Event | None) -> Event:
    """A shape that changes where values decide it is that line's fault, not the batch's."""
    if event.kind != "changing-shape" or source is None:
        return event
    return replace(event, rule=source.rule, message=source.message)


def _event(event: Event) -> Event:
    if event.client_only:
        return replace(event, message=CLIENT_ONLY)
    row = next((row for row in table().events if row.fits(event)), None)
    return replace(event, rule=row.rule, message=row.advice) if row else event


def _failure(failure: Failure) -> Failure:
    line = _source_line(failure.spot)
    for text, source, rule, advice in table().exceptions:
        if text in failure.message and source in line:
            return replace(failure, rule=rule, advice=advice)
    return failure


def _source_line(spot: Spot | None) -> str:
    lines = ((spot and text_of(spot.filename)) or "").splitlines()
    return lines[spot.row - 1] if spot and spot.row <= len(lines) else ""

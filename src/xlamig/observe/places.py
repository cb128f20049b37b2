"""Where something happened and what was raised, from what the process wrote down."""

from __future__ import annotations

from typing import Any

from xlamig.observations import Failure, Spot
from xlamig.observe import via


def spot(place: dict[str, Any] | None) -> Spot | None:
    if place is None:
        return None
    source = via.source_of(place["filename"])
    columns = [place["column"] + 1, place["end_column"] + 1]
    if source:
        columns = [
            source.column(place["row"], place["column"]),
            source.column(place["end_row"], place["end_column"]),
        ]
    return Spot(place["filename"], place["row"], columns[0], place["end_row"], columns[1], place["scope"])


def failure(exception: dict[str, Any]) -> Failure:
    place = exception["place"]
    at = place and Spot(place["filename"], place["row"], 1, place["row"], 1)
    return Failure(exception["type"], exception["message"], at)

"""Answers that fit into a model's context: pages of lists, and text of bounded length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xlamig.findings import Finding, Fix

MOST_TEXT = 4_000
MOST_ANSWER = 24_000
_MOST_REASONS = 6
_MOST_PLACES = 20


def page(key: str, items: Sequence[Any], offset: int, limit: int, **more: Any) -> dict[str, Any]:
    """A part of a list, shorter than `limit` where that would be too long. `next_offset` asks for
    the next part and is None at the end."""
    offset, limit = max(0, offset), max(1, min(limit, 100))
    chosen: list[Any] = []
    size = 0
    for item in items[offset : offset + limit]:
        size += len(repr(item))
        if chosen and size > MOST_ANSWER:
            break
        chosen.append(item)
    end = offset + len(chosen)
    return {**more, key: chosen, "total": len(items), "next_offset": end if end < len(items) else None}


def cut(text: str, most: int = MOST_TEXT) -> str:
    """`text`, or its beginning and how much is missing."""
    return text if len(text) <= most else f"{text[:most]}\n... ({len(text) - most} characters more)"


def finding(found: Finding) -> dict[str, Any]:
    place = found.place
    return {
        "code": found.code,
        "name": found.name,
        "severity": found.severity,
        "confidence": found.confidence,
        "frequency": found.frequency,
        "message": cut(found.message),
        "help": cut(found.help),
        "filename": found.filename,
        "cell": found.cell,
        "row": place.location.row,
        "column": place.location.column,
        "end_row": place.end_location.row,
        "scope": found.scope,
        "reasons": [_reason(found, number) for number in range(min(len(found.reasons), _MOST_REASONS))],
        "fix": _fix(found.fix) if found.fix else None,
        "also": [_place(other) for other in found.also[:_MOST_PLACES]],
        "places": len(found.places),
        "fingerprint": found.fingerprint,
    }


def _place(other: Finding) -> str:
    return f"{other.filename}:{other.place.location.row} {other.code}"


def _reason(found: Finding, number: int) -> str:
    reason = found.reasons[number]
    where = f" ({reason.filename}:{reason.place.location.row})" if reason.place else ""
    return cut(reason.message, 500) + where


def _fix(fix: Fix) -> dict[str, Any]:
    grade = fix.applicability if fix.edits else "display"
    return {"message": cut(fix.message, 500), "grade": grade, "held": fix.held or None}

"""A difference for people."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig.fleet.diff import Change, Difference


def render(found: Difference) -> Iterator[str]:
    """Lines of text."""
    yield f"{found.old} -> {found.new}"
    yield counts(found)
    if found.added:
        yield f"Added: {', '.join(found.added)}"
    if found.removed:
        yield f"Removed: {', '.join(found.removed)}"
    if found.changed:
        yield ""
        width = max(len(change.name) for change in found.changed)
        yield from (_line(change, width) for change in found.changed)
        total = sum(change.hours for change in found.changed)
        yield f"In all: {total:+.1f} hours"
    if found.rules:
        yield ""
        yield "By rule, new and gone findings:"
        for code, name, came, went in found.rules:
            yield f"  {code} {name}: +{came} -{went}"


def counts(found: Difference) -> str:
    """How many repositories changed in which way."""
    changed, added, removed = (len(names) for names in (found.changed, found.added, found.removed))
    return f"{changed} changed, {found.unchanged} unchanged, {added} added, {removed} removed"


def _line(change: Change, width: int) -> str:
    state = change.after if change.before == change.after else f"{change.before} -> {change.after}"
    hours = f"{change.hours:+.1f} h" if None not in (change.hours_before, change.hours_after) else "no hours"
    return f"  {change.name:<{width}}  {state:<20}  {hours:>9}  findings +{change.new} -{change.gone}"

"""Edits as pure functions: which fixes go together, and the text they give."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import pairwise

from xlamig.findings import Edit, Fix


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """`text` with every edit done; equal edits count once. Raises ValueError when two overlap."""
    pieces: list[str] = []
    done = 0
    previous: Edit | None = None
    for edit in _order_edits(edits):
        if previous is not None and _conflict(previous, edit):
            raise ValueError(f"edits overlap at offset {edit.place.start}")
        pieces += (text[done : edit.place.start], edit.content)
        done = edit.place.end
        previous = edit
    return "".join(pieces) + text[done:]


def choose(fixes: Sequence[Fix]) -> tuple[list[Fix], list[Fix]]:
    """Split `fixes` into those that can be applied together and those for the next pass.

    A fix is taken whole or not at all. Earlier places win, the outer of two nested ones first. What another
    fix covers waits for the next pass, which may have nothing left to do there.
    """
    covers = [span for fix in fixes for span in fix.covers]
    left_out = [fix for fix in fixes if any(_is_covered(fix, span) for span in covers)]
    fixes = [fix for fix in fixes if fix not in left_out]
    chosen: list[Fix] = []
    taken: set[Edit] = set()
    ordered: list[Edit] = []  # the same ones
    for fix in sorted(fixes, key=_position):
        new = [edit for edit in dict.fromkeys(fix.edits) if edit not in taken]
        if _self_conflict(new) or any(
            _conflict(edit, other) for edit in new for other in _around(ordered, edit)
        ):
            left_out.append(fix)
        else:
            chosen.append(fix)
            taken.update(new)
            for edit in new:
                ordered.insert(bisect_left(ordered, edit.place.start, key=_start), edit)
    return chosen, left_out


def _is_covered(fix: Fix, span: tuple[int, int]) -> bool:
    """Return whether a fix is about code inside a span; one that writes at its start is about more."""
    place = max((edit.place.start, edit.place.end) for edit in fix.edits) if fix.edits else (-1, -1)
    return span[0] < place[0] and place[1] <= span[1]


def _around(ordered: Sequence[Edit], edit: Edit) -> Sequence[Edit]:
    """Return the last edit that starts before this one and the first that does not. `ordered` are edits
    without conflicts: if any of them is in conflict with this one, one of these two is."""
    at = bisect_left(ordered, edit.place.start, key=_start)
    return ordered[max(at - 1, 0) : at + 1]


def _start(edit: Edit) -> int:
    return edit.place.start


def _order_edits(edits: Iterable[Edit]) -> list[Edit]:
    return sorted(dict.fromkeys(edits), key=lambda edit: (edit.place.start, edit.place.end, edit.content))


def _position(fix: Fix) -> tuple[object, ...]:
    """By the edit that says what a fix is about, its last one (imports stand above); then all else."""
    spans = [(edit.place.start, -edit.place.end, edit.content) for edit in fix.edits]
    return (max(spans, default=(-1, 0, "")), sorted(spans), fix.message)


def _conflict(one: Edit, other: Edit) -> bool:
    a, b = one.place, other.place
    if a.start == b.start:
        return True  # also two insertions, or an insertion before a replacement: their order is not known
    return a.start < b.end and b.start < a.end


def _self_conflict(edits: Sequence[Edit]) -> bool:
    ordered = _order_edits(edits)
    return any(_conflict(a, b) for a, b in pairwise(ordered))

"""Where each stage of the program belongs: TPU, GPU or the CPU of a host, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xlamig.effort.model import BLOCKING, LARGE
from xlamig.effort.sites import is_optional, is_work
from xlamig.effort.stages import Piece, matrix_calls, pieces, stage_table
from xlamig.effort.tables import table
from xlamig.findings import Finding, Report

_MOST_CODES = 4


@dataclass(frozen=True, slots=True)
class Stage:
    """`device` is TPU, GPU or CPU; `pieces` are what it is made of, `codes` the rules with work in it."""

    key: str
    title: str
    device: str
    reasons: tuple[str, ...]
    pieces: tuple[Piece, ...]
    codes: tuple[str, ...]


def place(report: Report, found: Sequence[Piece] | None = None) -> tuple[Stage, ...]:
    """Return the stages that the program has, in the order data passes through them; `found` its pieces."""
    found = pieces(report) if found is None else found
    needed = [one for one in report.findings if is_work(one) and not is_optional(one)]
    stages = []
    for row in sorted(stage_table(), key=lambda row: int(row["order"])):
        own = tuple(piece for piece in found if piece.stage == row["key"])
        if own:
            inside = [one for one in needed if _owner(one, found) in own]
            stages.append(_stage(row, own, inside))
    return tuple(stages)


def beside_training(report: Report, found: Sequence[Piece]) -> Collection[tuple[str, int, str]]:
    """Return what of a program that trains is only in its sampling or evaluation: file, offset and code
    of the findings. A port that trains can do without it at first."""
    if not any(piece.stage == "training" for piece in found):
        return frozenset()
    apart = [piece for piece in found if piece.stage in ("decoding", "evaluation")]
    return frozenset(
        (one.filename, one.place.start, one.code)
        for one in report.findings
        if one.effort.level in LARGE and _owner(one, found) in apart
    )


def _owner(finding: Finding, found: Sequence[Piece]) -> Piece | None:
    """The innermost piece that holds the finding's scope."""
    fitting = [
        piece
        for piece in found
        if piece.filename == finding.filename
        and (finding.scope == piece.scope or finding.scope.startswith(f"{piece.scope}."))
    ]
    return max(fitting, key=lambda piece: len(piece.scope), default=None)


def _stage(row: dict[str, Any], own: tuple[Piece, ...], inside: Sequence[Finding]) -> Stage:
    blockers = [
        one for one in inside if one.effort.level in BLOCKING and one.severity == "error" and not one.help
    ]
    large = [one for one in inside if one.effort.level in LARGE]
    dynamic = [one for one in large if one.effort.group in row.get("dynamic", ())]
    device = row["device"]
    reasons = [row["why"]]
    if blockers and device == "TPU":
        device = "GPU"
        reasons = [f"{_name_codes(blockers)}: no alternative is known"]
    elif dynamic and device == "TPU":
        device = row["dynamic-device"]
        reasons = [f"{_name_codes(dynamic)}: shapes that depend on values or steps, until that is rewritten"]
        reasons.append(f"then TPU: {row['why']}")
    rest = [one for one in inside if one not in blockers and one not in dynamic]
    settled = [
        one for one in rest if device == "CPU" and one.effort.group in table("stages")["host"]["groups"]
    ]
    if work := [one for one in rest if one not in settled]:
        reasons.append(f"needs changes there: {_name_codes(work)}")
    if settled:
        reasons.append(f"needs no change on the host: {_name_codes(settled)}")
    if device == "TPU" and (dense := matrix_calls(own)):
        reasons.append(f"matrix operations in the source: {dense}")
    codes = tuple(sorted({one.code for one in inside}))
    return Stage(row["key"], row["title"], device, tuple(reasons), own, codes)


def _name_codes(findings: Sequence[Finding]) -> str:
    counts = Counter((one.code, one.name) for one in findings)
    first = [f"{code} {name} ({count})" for (code, name), count in counts.most_common(_MOST_CODES)]
    more = len(counts) - len(first)
    return ", ".join(first) + (f" and {more} more" if more else "")


def crossings(stages: Sequence[Stage]) -> Iterator[str]:
    """Yield what a program that is split between devices has to transfer."""
    step = [stage for stage in stages if stage.key in ("encoders", "core", "loss", "training")]
    devices = {stage.device for stage in step}
    if len(devices) > 1:
        apart = ", ".join(f"{stage.title.lower()} on {stage.device}" for stage in step)
        yield f"one training step would span devices ({apart}): tensors and gradients cross the network"
    if any(stage.device == "GPU" for stage in stages) and any(stage.device == "TPU" for stage in stages):
        yield "TPU and GPU are in different machines: data that passes between stages is copied between hosts"

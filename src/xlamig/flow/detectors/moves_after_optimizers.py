"""Moves that a test for CUDA guards, of modules that an optimizer was made for before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import PurePath

from xlamig.facts import DeviceChoice, Fact, ModuleMove, Why
from xlamig.flow.interp.domain import LIKELY
from xlamig.flow.interp.events import Event, Recorder


class MovesAfterOptimizers:
    """Finds them among the events of a module; `text` is its source."""

    def __init__(self, recorder: Recorder, text: str) -> None:
        self._recorder, self._text = recorder, text

    def told(self, fact: Fact) -> Fact:
        """Return a fact with the proof "optimizer", its place in words, and the place itself as a reason, if
        without the test its move would leave an optimizer with the old parameters."""
        if not isinstance(fact, DeviceChoice) or fact.via != "move":
            return fact
        why = next(self._optimizers(*fact.parts["statement"]), None)
        if why is None or why.span is None:
            return fact
        place = PurePath(why.filename).name or f"line {self._text.count(chr(10), 0, why.span[0]) + 1}"
        return replace(fact, proofs={**fact.proofs, "optimizer": place}, related=(*fact.related, why))

    def _optimizers(self, start: int, end: int) -> Iterator[Why]:
        for event in self._moves:
            if start <= event.node.start and event.node.end <= end:
                yield event.related[0]

    @cached_property
    def _moves(self) -> list[Event]:
        return [event for event in self._recorder.all() if self._leaves_optimizer(event)]

    def _leaves_optimizer(self, event: Event) -> bool:
        if event.fact is not ModuleMove or event.fields["via"] != "optimizer" or event.sure < LIKELY:
            return False
        span = event.node.start, event.node.end
        return "lost" not in self._recorder.proofs.get(span, {})  # a move back, which comes later anyway

"""Find what holds around the only call of a function: it holds in the function too."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from xlamig import ir
from xlamig.facts import ContextTag, Fact, Guard, HostRead, Span
from xlamig.flow.detectors.narrowing import Narrowing
from xlamig.flow.model.callers import Callers
from xlamig.flow.model.site import CodeContext
from xlamig.flow.model.sole_callers import SoleCallers

_INSIDE: dict[ContextTag, ContextTag] = {"no-grad": "no-grad", "rank-guarded": "rank-called", "loop": "loop"}
"""Tags of a call, and those of what it calls."""


class _Site(NamedTuple):
    node: ir.Stmt
    place: CodeContext


class CallSites:
    """The statements of a module, each with its surroundings; `callers` says which functions are called on
    one rank only, and which for CUDA only, in whichever module."""

    def __init__(self, narrowing: Narrowing, callers: Callers) -> None:
        self._narrowing = narrowing
        self._first_rank, self._on_cuda = callers.first_rank, dict(callers.cuda)
        self._sites: list[_Site] = []

    def note(self, node: ir.Stmt, place: CodeContext) -> None:
        """Add a statement; all are added before the first question."""
        self._sites.append(_Site(node, place))

    def narrowed(self, fact: Fact, sole: SoleCallers) -> Fact:
        """Return a fact narrowed to the only call of its function, and of that one's caller, or to what all
        calls of one of them have in common."""
        chain = sole.calls(fact.scope)
        if not self._first_rank.isdisjoint((fact.scope, *(caller for _, caller in chain))):
            fact = replace(fact, context=fact.context | {"rank-called"})
        for call, _ in chain:
            fact = self._narrowed_by(fact, call)
        if self._on_cuda and (guard := self._guard_of_callers(fact)) is not None:
            fact = replace(fact, guards=(guard, *fact.guards))
        calls = tuple(call for call, _ in chain)
        return replace(fact, callers=sole.of(fact.scope), calls=calls) if chain else fact

    def _guard_of_callers(self, fact: Fact) -> Guard | None:
        """Return the test around all calls of a function, or of one that the fact's function is inside of."""
        if any(guard.kind == "cuda" for guard in fact.guards):
            return None
        parts = fact.scope.split(".")
        around = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
        test = next((self._on_cuda[name] for name in around if name in self._on_cuda), "")
        return Guard("cuda", test, fact.span, called=True) if test else None

    def _narrowed_by(self, fact: Fact, call: Span) -> Fact:
        site = self._around(call)
        if site is None:
            return fact
        place = site.place
        guards = (*place.guards, *self._narrowing.before(site.node, call, place))
        new = tuple(guard for guard in guards if guard not in fact.guards)
        tags = {inside for tag, inside in _INSIDE.items() if tag in place.context} - fact.context
        seldom = place.frequency == "interval" and fact.frequency == "step"
        seldom = seldom and not (isinstance(fact, HostRead) and fact.loop == "evaluation")  # of many batches
        if not new and not tags and not seldom:
            return fact
        return replace(
            fact,
            guards=(*new, *fact.guards),
            context=fact.context | tags,
            frequency="interval" if seldom else fact.frequency,
        )

    @cached_property
    def _sorted(self) -> list[_Site]:
        return sorted(self._sites, key=lambda site: site.node.start)

    def _around(self, span: Span) -> _Site | None:
        """Return the innermost statement around a span."""
        i = bisect_right(self._sorted, span[0], key=lambda site: site.node.start)
        before = range(i - 1, -1, -1)
        return next((self._sorted[j] for j in before if span[1] <= self._sorted[j].node.end), None)

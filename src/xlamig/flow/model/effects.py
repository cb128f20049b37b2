"""Effects of a statement, branch, loop or function: what it does beside returning a value."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Effect(Enum):
    """One thing that code does.

    CALLED_READ   reads a tensor on the device in a function that it calls
    RESULT_READ   reads what the program computed, not what an object keeps
    STEP_LOOP     runs a loop whose iterations are steps
    SYNC_INSIDE   ends a graph inside an inner loop
    COLLECTIVE    runs a collective, which all ranks have to run
    DESCENT       takes a multiple of its gradient from a parameter, without an optimizer
    POSSIBLE_READ reads a tensor that is possibly on the device
    PART_CALL     calls a part of the module that runs, such as `self.attention(x)`
    GRADIENT      computes gradients with a function, such as `torch.autograd.grad`
    REDUCED_READ  reads the result of a collective that has not executed yet
    SAVE          saves tensors of the device
    SETTLED       leaves no device work queued that nothing waited for
    STEP_READ     reads a tensor on the device, as often as the step runs
    TIE           gives two parts of a module one weight
    UNREAD        queues device work on a path that reads nothing after it
    UPDATE        changes parameters in place, without an optimizer, as an average of the weights does
    WAIT          waits for CUDA's queue, in the place of which `torch_xla.sync(wait=True)` ends a step
    """

    # Members are singletons: hashing by identity keeps Enum's own hash, a Python call, off the hot path.
    __hash__ = object.__hash__

    ADD_ROWS = "add-rows"
    BACKWARD = "backward"
    BATCH = "batch"
    CALLED_READ = "called-read"
    COLLECTIVE = "collective"
    DESCENT = "descent"
    FRAMEWORK = "framework"
    GRADIENT = "gradient"
    MODEL_CALL = "model-call"
    OPTIMIZER_STEP = "optimizer-step"
    PART_CALL = "part-call"
    POSSIBLE_READ = "possible-read"
    READ = "read"
    REDUCED_READ = "reduced-read"
    RESULT_READ = "result-read"
    SAVE = "save"
    SELECT = "select"
    SETTLED = "settled"
    STEP_LOOP = "step-loop"
    STEP_READ = "step-read"
    SYNC = "sync"
    SYNC_INSIDE = "sync-inside"
    TIE = "tie"
    TRANSFER = "transfer"
    UNREAD = "unread"
    UPDATE = "update"
    WAIT = "wait"
    WORK = "work"
    XLA_OPTIMIZER_STEP = "xla-optimizer-step"
    ZERO_GRAD = "zero-grad"


class KnownEffects(NamedTuple):
    """Effects as plain data in a fixed order, for other modules and for the cache."""

    must: tuple[Effect, ...] = ()
    may: tuple[Effect, ...] = ()
    repeated: tuple[Effect, ...] = ()


@dataclass(slots=True)
class Effects:
    """Effects so far. `must` happen on every path, `may` on some; `repeated`, a subset of `must`, happen at
    several places; `assigned` are the attributes that are set on some path, `read_names` the names that
    reads in called functions are of."""

    # Each branch of the program makes an instance, and most branches do nothing: the sets are shared.
    must: frozenset[Effect] = frozenset()
    may: frozenset[Effect] = frozenset()
    repeated: frozenset[Effect] = frozenset()
    assigned: frozenset[str] = frozenset()
    read_names: frozenset[str] = frozenset()

    def add(self, *effects: Effect) -> None:
        """Record what happens here, whichever branch runs."""
        if not self.must.issuperset(effects):
            self.must = self.must.union(effects)

    def add_possible(self, effect: Effect) -> None:
        """Record what may happen here."""
        self.may |= {effect}

    def drop_unread(self) -> None:
        """Record that what was queued until here is read."""
        if Effect.UNREAD in self.may:
            self.may -= {Effect.UNREAD}

    def assign(self, attribute: str) -> None:
        """Record that an attribute is set."""
        self.assigned |= {attribute}

    def repeat(self, effect: Effect) -> None:
        """Record what happens here, and that it happened before if it did."""
        if effect in self.must:
            self.repeated |= {effect}
        self.add(effect)

    def remove(self, effect: Effect) -> None:
        """Take back what happens on every path."""
        self.must -= {effect}
        self.repeated -= {effect}

    def update(self, other: Effects) -> None:
        """Add the effects of what runs next."""
        if other.must:
            if Effect.READ in other.must:
                self.drop_unread()
            self.must |= other.must
            self.repeated |= other.repeated
        if other.may:
            self.may |= other.may
        if other.assigned:
            self.assigned |= other.assigned
        if other.read_names:
            self.read_names |= other.read_names

    def update_from_branches(self, *branches: Effects) -> None:
        """Add the join of the effects of branches, one of which runs."""
        if not any(branch.must or branch.may or branch.assigned for branch in branches):
            return  # as most branches do
        must = frozenset.intersection(*(branch.must for branch in branches))
        if Effect.READ in must:
            self.drop_unread()
        self.must |= must
        self.repeated |= frozenset.intersection(*(branch.repeated for branch in branches))
        for branch in branches:
            self.may |= branch.may | (branch.must - must)
            self.assigned |= branch.assigned
            self.read_names |= branch.read_names

    def happens(self, *effects: Effect) -> bool:
        """Return whether any of the effects happens on some path."""
        return not self.must.isdisjoint(effects) or not self.may.isdisjoint(effects)

    def without(self, dropped: Iterable[Effect]) -> Effects:
        """Return the effects without some."""
        kinds = frozenset(dropped)
        must, may, repeated = self.must - kinds, self.may - kinds, self.repeated - kinds
        return Effects(must, may, repeated, self.assigned, self.read_names)

    def of_caller(self, read_names: frozenset[str]) -> Effects:
        """Return the effects with the names of the caller for those of the function that reads."""
        return Effects(self.must, self.may, self.repeated, self.assigned, read_names)

    def known(self, kinds: frozenset[Effect]) -> KnownEffects:
        """Return those of some kinds as plain data."""
        chosen = (_sorted(effects & kinds) for effects in (self.must, self.may, self.repeated))
        return KnownEffects(*chosen)


def effects_of(known: KnownEffects) -> Effects:
    """Return the effects that plain data stands for."""
    return Effects(frozenset(known.must), frozenset(known.may), frozenset(known.repeated))


_ORDER: Mapping[Effect, int] = {effect: rank for rank, effect in enumerate(Effect)}


def _sorted(effects: frozenset[Effect]) -> tuple[Effect, ...]:
    return tuple(sorted(effects, key=_ORDER.__getitem__))

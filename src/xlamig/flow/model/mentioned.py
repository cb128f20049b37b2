"""The definitions and mentions of a module, in a form that outlives its tree."""

from __future__ import annotations

from typing import NamedTuple

from xlamig.flow.model.conditions import Conditions
from xlamig.flow.model.lookups import Pick


class Defined(NamedTuple):
    """A function, method or class; `scope` is its qualified name, `owner` the class of a method. One that is
    `registered` is looked up by its name."""

    scope: str
    name: str
    owner: str
    registered: bool = False


class Block(NamedTuple):
    """The references that a scope makes where conditions hold, or do not; an import is none."""

    scope: str
    conditions: Conditions
    names: frozenset[str]


class Mentions(NamedTuple):
    """The names that a module defines, those that blocks mention, those in texts that something is compared
    with, and those that it imports or exports, which alone does not mention a name. `bases` are the last
    names of each class's bases. The module looks up names that begin or end with one of `parts`, and any
    names of the modules `searched`, HERE for its own; a name that it looks up in other objects stands in some
    text. `commented` are the words of calls in comments, which wait to be used; `unmade` are the classes
    whose constructor always raises: objects can only be of classes derived from them. `picks` are
    look-ups of names that the module computes a part of; it looks up entries in the tables `looked_up`, and
    hands on those of `spread`, or goes over them; `given` are the texts that it gives as values."""

    defined: tuple[Defined, ...] = ()
    compared: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    bases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    parts: frozenset[str] = frozenset()
    searched: frozenset[str] = frozenset()
    blocks: tuple[Block, ...] = ()
    commented: frozenset[str] = frozenset()
    unmade: tuple[Defined, ...] = ()
    picks: frozenset[Pick] = frozenset()
    looked_up: frozenset[str] = frozenset()
    spread: frozenset[str] = frozenset()
    given: frozenset[str] = frozenset()

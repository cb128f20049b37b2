"""Where the walk is: everything a fact says about its surroundings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypedDict

from xlamig import ir
from xlamig.facts import ContextTag, ContextTags, Guard, Span, Why
from xlamig.findings import Confidence, Frequency
from xlamig.flow.model.names import Names
from xlamig.flow.model.scopes import Block, Scope
from xlamig.flow.model.values import Values
from xlamig.knowledge import values as table


class Surroundings(TypedDict, total=False):
    """The fields all facts share, ready to be passed to a fact."""

    span: Span
    statement: Span
    scope: str
    parts: Mapping[str, Span]
    related: tuple[Why, ...]
    frequency: Frequency
    context: ContextTags
    guards: tuple[Guard, ...]
    confidence: Confidence
    proofs: Mapping[str, str]
    reasons: tuple[Why, ...]


@dataclass(frozen=True, slots=True)
class CodeContext:
    """One statement's surroundings; nested statements get their own."""

    scope: Scope
    statement: Span
    block: Block
    guards: tuple[Guard, ...] = ()
    context: ContextTags = frozenset()
    frequency: Frequency = "unknown"
    reasons: tuple[Why, ...] = ()

    def at(self, statement: ir.Stmt) -> CodeContext:
        """The same surroundings, for another statement of the block."""
        span = (statement.start, statement.end)
        return CodeContext(
            self.scope, span, self.block, self.guards, self.context, self.frequency, self.reasons
        )

    def within(self, *tags: ContextTag) -> CodeContext:
        """Return the same place with more tags of its context."""
        if self.context.issuperset(tags):
            return self
        context = self.context.union(tags)
        return CodeContext(
            self.scope, self.statement, self.block, self.guards, context, self.frequency, self.reasons
        )

    def below(self, block: Block) -> CodeContext:
        """The same surroundings in a nested block."""
        return CodeContext(
            self.scope, self.statement, block, self.guards, self.context, self.frequency, self.reasons
        )

    def fields(self, node: ir.Node) -> Surroundings:
        """Return the fields of a fact about a node here."""
        return {
            "span": (node.start, node.end),
            "statement": self.statement,
            "scope": self.scope.name,
            "frequency": self.frequency,
            "context": self.context,
            "guards": self.guards,
            "reasons": self.reasons,
        }


_IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+(\w+)", re.MULTILINE)
_OF_MODULES = re.compile(r"\bdef\s+(?:forward|training_step)\s*\(")


def has_torch(text: str) -> bool:
    """Return whether a module may work on tensors: it names torch, imports a library of torch's, or has a
    forward pass for a base class that does. One that imports another framework and not torch works on the
    tensors of that."""
    named = names_torch(text) or _OF_MODULES.search(text) is not None
    return named and not of_another_framework(text)


def names_torch(text: str) -> bool:
    """Return whether a module names torch, or imports a library whose objects hold torch's tensors."""
    if "torch" in text:
        return True
    libraries = table.names("program", "torch-libraries")
    return any(match[1] in libraries for match in _IMPORT.finditer(text))


def of_another_framework(text: str) -> bool:
    """Return whether a module imports a framework with tensors of its own, and nothing of torch."""
    imported = {match[1] for match in _IMPORT.finditer(text)}
    return not any("torch" in name for name in imported) and not imported.isdisjoint(
        table.names("program", "other-frameworks")
    )


@dataclass(frozen=True, slots=True)
class Analysis:
    """The state of a walk through one module."""

    module: ir.Module
    text: str
    names: Names
    values: Values
    has_torch: bool
    filename: str = ""
    kernels: Mapping[int, str] = field(default_factory=dict)  # see facts_of
    elsewhere: tuple[str, ...] = ()  # see facts_of
    receivers: dict[tuple[Scope, str, str], str | None] = field(default_factory=dict)
    guards: dict[tuple[ir.Expr, Scope, bool], tuple[Guard, ...]] = field(default_factory=dict)

    def source(self, node: ir.Node) -> str:
        """Return the text of a node."""
        return self.text[node.start : node.end]

    def in_one_line(self, node: ir.Node) -> str:
        """Return the text of a node with one space for each run of spaces and line ends."""
        return " ".join(self.source(node).split())

"""From IR to facts: names, constants, guards and the detectors. Knows torch, but no rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from xlamig import ir
from xlamig.facts import Fact, Interest
from xlamig.flow.interface import interface_of, summary_of
from xlamig.flow.names import Names
from xlamig.flow.options import command_line_options
from xlamig.flow.project import Interface, ProjectIndex
from xlamig.flow.scopes import ScopeTable
from xlamig.flow.site import Analysis
from xlamig.flow.values import Values
from xlamig.flow.walk import Walk

__all__ = ["Facts", "Interface", "ProjectIndex", "facts_of", "interface_of", "summary_of"]


class Facts(NamedTuple):
    """A module's facts in source order, and how many uses of torch's API were seen."""

    facts: list[Fact]
    sites: int


def facts_of(
    module: ir.Module,
    text: str,
    name: str,
    is_package: bool,
    interest: Interest,
    interfaces: Mapping[str, Interface],
    context: frozenset[str] = frozenset(),
) -> Facts:
    """The facts of one module, in source order.

    `name` is the module's identity (see ProjectIndex), `interfaces` are those of the project modules it may
    reach, `context` holds for every place ("test-code").
    """
    scopes = ScopeTable(module, text, name, is_package)
    names = Names(interest, ProjectIndex(interfaces), name)
    values = Values(names, text)
    values.options.update(command_line_options(module, scopes, values))
    analysis = Analysis(module, text, names, values, has_torch="torch" in text)
    if "cuda" in text:
        context |= {"cuda-program"}
    walk = Walk(module, scopes, analysis, context)
    facts = sorted(walk.run(), key=lambda fact: (fact.span, fact.kind))
    return Facts(facts, walk.sites)

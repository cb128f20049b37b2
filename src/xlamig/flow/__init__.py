"""From IR to facts: names, constants, guards and the detectors. Knows torch, but no rule.

The detectors are imported when a module is analysed: a run that finds nothing changed analyses none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from xlamig.facts import ContextTags
from xlamig.flow.model.callers import NO_CALLERS, Callers
from xlamig.flow.model.exports import Interface
from xlamig.flow.model.project import ProjectIndex

if TYPE_CHECKING:
    from xlamig import ir
    from xlamig.facts import Fact, Interest
    from xlamig.flow.detectors.parts import RawPart, RawSize
    from xlamig.flow.interp.module_text import ModuleText
    from xlamig.flow.interp.visits import Visit
    from xlamig.flow.model.given import Given
    from xlamig.flow.model.mentioned import Mentions
    from xlamig.flow.model.outcomes import State
    from xlamig.flow.model.pieces import Pieces

__all__ = ["Facts", "Interface", "ProjectIndex", "Summary", "facts_of", "summary_of"]


class Summary(NamedTuple):
    """All that other modules ask of a module; `uses` are the imported names it uses, one a line, `given` the
    values that it gives to options, `mentions` the functions that it defines and the names it mentions,
    `saved` the files that it writes with objects (see flow.model.pickled)."""

    interface: Interface
    uses: str
    given: Given
    mentions: Mentions
    saved: frozenset[str]


class Facts(NamedTuple):
    """A module's facts in source order, how many uses of torch's API were seen, what the module is made
    of, the functions that there were too many calls of to follow each, and what is found out about
    each module that ran."""

    facts: list[Fact]
    sites: int
    parts: tuple[RawPart, ...] = ()
    sizes: tuple[RawSize, ...] = ()
    unfollowed: tuple[str, ...] = ()
    visits: Mapping[str, Visit] = MappingProxyType({})


def summary_of(
    module: ir.Module, text: str, name: str, is_package: bool, pieces: Pieces | None = None
) -> Summary:
    """Nothing here depends on any other module or on the rules. `pieces` are those of the module before an
    edit, and become this one's."""
    from xlamig.flow.interface import interface_of
    from xlamig.flow.model.file_writers import habits_of as writing_habits
    from xlamig.flow.model.mentions import mentions_of
    from xlamig.flow.model.module_given import given_by
    from xlamig.flow.model.pickled import habits_of
    from xlamig.flow.model.pieces import Pieces
    from xlamig.flow.model.scopes import ScopeTable
    from xlamig.flow.model.uses import uses_of

    scopes = ScopeTable(module, text, name, is_package)
    if pieces is None:
        pieces = Pieces()
    else:
        pieces.begin(scopes)
    return Summary(
        interface_of(module, scopes, text, pieces),
        uses_of(module, scopes, pieces),
        given_by(module, scopes, pieces),
        mentions_of(module, scopes, pieces),
        habits_of(module, scopes, text).union(writing_habits(module, scopes, text)),
    )


def facts_of(
    module: ir.Module,
    text: str,
    name: str,
    is_package: bool,
    interest: Interest,
    interfaces: Mapping[str, Interface],
    context: ContextTags = frozenset(),
    callers: Callers = NO_CALLERS,
    texts: Mapping[str, ModuleText] = MappingProxyType({}),
    visit: Visit | None = None,
    filename: str = "",
    switches: Iterable[tuple[str, State]] = (),
    kernels: Iterable[tuple[int, str]] = (),
    elsewhere: Iterable[str] = (),
) -> Facts:
    """The facts of one module, in source order.

    `name` is the module's identity (see ProjectIndex), `interfaces` are those of the project modules it may
    reach, `context` holds for every place ("test-code"), `callers` says which functions
    steps and workers of loaders call (see ProjectIndex.callers), `texts` are modules whose functions may be
    run, `visit` is what other modules run of this one, `switches` are the options that have the same state
    in the whole project, `kernels` are the ends of the names of functions that are CUDA kernels, with the
    file of each, `elsewhere` are the habits of other modules of the program (see engine.clues).
    """
    from xlamig.flow.detectors.parts import sizes_of
    from xlamig.flow.detectors.walk import Walk
    from xlamig.flow.model.names import Names
    from xlamig.flow.model.options import command_line_options
    from xlamig.flow.model.scopes import ScopeTable
    from xlamig.flow.model.site import Analysis, has_torch, of_another_framework
    from xlamig.flow.model.values import Values

    scopes = ScopeTable(module, text, name, is_package)
    names = Names(interest, ProjectIndex(interfaces), name)
    values = Values(names, text)
    values.module = module
    values.switches.update(switches)
    values.options.update(command_line_options(module, scopes, values))
    imported = any(interface.torch for interface in interfaces.values())
    other = of_another_framework(text)
    torch = has_torch(text) or (imported and not other)
    analysis = Analysis(
        module, text, names, values, torch, filename, kernels=dict(kernels), elsewhere=tuple(elsewhere)
    )
    if "cuda" in text:
        context |= {"cuda-program"}
    walk = Walk(module, scopes, analysis, context, callers, texts, None if other else visit)
    facts = sorted(walk.run(), key=lambda fact: (fact.span, fact.kind))
    sizes = sizes_of(module, text) if "torch" in text else ()
    return Facts(facts, walk.sites, walk.parts, sizes, walk.unfollowed, walk.interpretation.visits)

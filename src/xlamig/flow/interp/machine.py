"""Runs a module on abstract values, statement by statement, and records what it meets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from xlamig import ir
from xlamig.facts import Fact, Span, Why
from xlamig.findings import Frequency
from xlamig.flow.interp.calls import Calls
from xlamig.flow.interp.definitions import Definitions
from xlamig.flow.interp.domain import AbstractValue, Place, element_of, join
from xlamig.flow.interp.evaluate import Evaluator
from xlamig.flow.interp.events import CONFIDENCES, FREQUENCIES, Event, Recorder
from xlamig.flow.interp.frames import ClassInfo, Env, Frame, Loop
from xlamig.flow.interp.loops import Loops
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.statements import Leaves, Statements
from xlamig.flow.model.effects import Effects
from xlamig.flow.model.guards import Guards
from xlamig.flow.model.occasions import Occasions
from xlamig.flow.model.regions import Regions
from xlamig.flow.model.scopes import Scope, ScopeTable, path_of
from xlamig.flow.model.site import Analysis

_PER_STATEMENT = 40  # how often each is run on the average before calls are no longer followed
_AT_LEAST = 4000


class Machine:
    """The state of a run. `effects` collects what the current function or branch does."""

    def __init__(self, analysis: Analysis, scopes: ScopeTable, regions: Regions) -> None:
        self.analysis = analysis
        self.names = analysis.names
        self.scopes = scopes
        self.regions = regions
        self.occasions = Occasions(analysis.text)
        self.recorder = Recorder()
        self.frame = Frame(scopes.module)
        self.frequency: Frequency = "once"
        self.effects = Effects()
        self.loops: list[Loop] = []
        self.brief = False  # each loop is run once
        self.synced = False
        self.forwards = 0  # forward passes that run
        self.works = 0  # device operations met so far
        self.waiting = False  # device work is queued that nothing has waited for
        self.message = False  # inside what is raised or asserted
        self.logging = False  # inside the arguments of a logger's call
        self.caller: tuple[Why, ...] = ()  # who runs the current function in each step, if another module
        self.repeats = 0  # comprehensions that run
        self.collating = False  # inside a collate function of which it is not seen where its batches go
        self.batches = 0  # what a loader calls for each batch, and loops that yield them
        self.over: list[str] = []  # what the loops and comprehensions run over
        self.arms: dict[int, bool] = {}  # the arms of `if` statements that run, by where these stand
        self.default_place: Place = "host"
        self.statement: ir.Stmt = analysis.module.body[0] if analysis.module.body else ir.Jump(0, 0, "pass")
        self.unfollowed: set[str] = set()  # functions that calls were no longer followed into
        self.values = Evaluator(self)
        self.calls = Calls(self)
        self.moves = Moves(self)
        self.definitions = Definitions(self)
        self.rounds = Loops(self)
        self.statements = Statements(self)
        self.guards = Guards(analysis.values, analysis.text)
        self._left = _AT_LEAST + _PER_STATEMENT * len(analysis.module.body)
        self._sized: set[int] = set()

    # ------------------------------------------------------------------ blocks

    @property
    def env(self) -> Env:
        return self.frame.env

    def block(self, body: Iterable[ir.Stmt]) -> Leaves:
        for node in body:
            self.statement = node
            self._left -= 1
            if self.statements.run(node):
                return True
        return False

    @property
    def exhausted(self) -> bool:
        """Whether so much was run that calls are no longer followed."""
        return self._left < 0

    @property
    def repeating(self) -> bool:
        """Whether what runs now runs again, for another sample, batch or step."""
        return bool(self.loops) or self.repeats > 0 or self.batching

    @property
    def batching(self) -> bool:
        """Whether it runs again for another batch or step."""
        return self.batches > 0 or self.frequency == "step"

    def allow(self, body: ir.Block) -> None:
        """Each function that is found adds to what may be run."""
        if id(body) not in self._sized:
            self._sized.add(id(body))
            self._left += _PER_STATEMENT * len(body)

    @contextmanager
    def branch(self) -> Iterator[Effects]:
        """What happens inside is collected apart: it may not happen."""
        before, self.effects = self.effects, Effects()
        try:
            yield self.effects
        finally:
            self.effects = before

    def join_effects(self, *branches: Effects) -> None:
        """Add the effects of branches, one of which runs."""
        self.effects.update_from_branches(*branches)

    # ------------------------------------------------------------------ statements

    @contextmanager
    def seldom(self, test: ir.Expr, taken: bool) -> Iterator[None]:
        """`if step % 100 == 0`: what is inside runs in some steps only."""
        before = self.frequency
        if before == "step" and self.occasions.seldom(test, self.frame.scope, taken):
            self.frequency = "interval"
        try:
            yield
        finally:
            self.frequency = before

    @contextmanager
    def once(self, message: bool = False) -> Iterator[None]:
        """What ends the program happens once."""
        before = self.frequency, self.message
        self.frequency, self.message = "once", message
        try:
            yield
        finally:
            self.frequency, self.message = before

    # ------------------------------------------------------------------ assignment

    def assign(self, target: ir.Expr, thing: AbstractValue, value: ir.Expr | None = None) -> None:
        if thing.kind == "unknown":
            thing = self.calls.unseen.assigned(target, thing)
        match target:
            case ir.Name(id=name):
                if self.frame.scope.outer_names.get(name) == "global":
                    module = self.frame.module.env
                    module[name] = join(module[name], thing) if name in module else thing
                else:
                    self.env[name] = thing
                self._forget(name)
            case ir.Attribute():
                self.set_attribute(target, thing, value)
            case ir.Subscript():
                self.values.store(target, thing, value)
            case ir.Sequence(elements=elements):
                self._unpack(elements, thing)
            case ir.Starred(value=inner):
                self.assign(inner, AbstractValue("sequence", element=element_of(thing)))

    def _forget(self, name: str) -> None:
        """What was known of `x.attribute` is of another object now."""
        start = f"{name}."
        for path in [p for p in self.frame.paths if p.startswith(start)]:
            self.env.pop(path, None)

    def put(self, path: str, thing: AbstractValue) -> None:
        """Remembers what a name or a path of attributes holds."""
        self.env[path] = thing
        if "." in path or "[" in path:
            self.frame.paths.add(path)

    def _unpack(self, targets: tuple[ir.Expr, ...], thing: AbstractValue) -> None:
        items = self.values.unpacked(thing, len(targets))
        for target, item in zip(targets, items, strict=True):
            self.assign(target, item)

    def set_attribute(self, target: ir.Attribute, thing: AbstractValue, value: ir.Expr | None) -> None:
        owner = self.values.of(target.value)
        path = path_of(target)
        self.moves.attribute(target, owner, thing, value)
        self.grew(thing, f".{target.attr}")
        if thing.tag == "appended" and self.frequency == "step":
            thing = thing.replace(tag="grows", loop=0)
        if path:
            self.put(path, thing)
        self.effects.assigned.add(target.attr)
        if owner.kind in ("module", "instance") and isinstance(owner.ref, ClassInfo):
            owner.ref.assigned.add(target.attr)
            known = owner.ref.attributes.get(target.attr)
            both = thing if known is None else join(known, thing)
            owner.ref.attributes[target.attr] = both
            if known is None or known.kind != both.kind or known.tag != both.tag:
                owner.ref.version += 1

    def grew(self, thing: AbstractValue, name: str) -> None:
        """`self.keys = torch.cat([self.keys, k])`: longer after each step."""
        if thing.kind == "tensor" and thing.tag == f"grown:{name}" and thing.ref and self.frequency == "step":
            self.rounds.told(thing, thing.sure, (), "every step")

    # ------------------------------------------------------------------ what is met

    def record(
        self,
        fact: type[Fact],
        node: ir.Node,
        sure: int,
        why: tuple[Why, ...] = (),
        parts: dict[str, Span] | None = None,
        related: tuple[Why, ...] = (),
        context: frozenset[str] = frozenset(),
        at: ir.Stmt | None = None,
        **fields: object,
    ) -> Event | None:
        """Says something of a statement, the current one if `at` is None."""
        if sure <= 0:
            return None
        frequency = self.frequency
        hot = frozenset({"hot"}) if FREQUENCIES.index(frequency) > FREQUENCIES.index("epoch") else frozenset()
        if self.message:
            context |= {"message"}
        where = self.frame.scope.node
        group = self.loops[-1].id if self.loops else where.start if where is not None else 0
        if self.over and self.over[-1] == "batch":
            group = -group  # several tensors at one place
        event = Event(
            fact,
            id(at or self.statement),
            node,
            fields,
            sure,
            frequency,
            (*self.caller, *why[-4:]),
            related,
            parts or {},
            context | hot,
            group,
            self.arms,
        )
        assert sure in CONFIDENCES
        self.recorder.add(event)
        return event

    def prove(self, node: ir.Node, **told: bool) -> None:
        """Says of a node what a fix may rely on, if it holds each time the node is met."""
        self.recorder.prove(node, {name.replace("_", "-"): "true" for name, holds in told.items() if holds})

    def source(self, node: ir.Node) -> str:
        return self.analysis.source(node)

    def enter(self, scope: Scope, parent: Frame | None, owner: ClassInfo | None) -> Frame:
        """Starts a frame; the caller puts the old one back."""
        self.frame = Frame(scope, parent, owner)
        return self.frame

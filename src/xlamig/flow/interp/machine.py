"""Runs a module on abstract values, statement by statement, and records what it meets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from xlamig import ir
from xlamig.facts import Fact, Span, Why
from xlamig.findings import Frequency
from xlamig.flow.guards import Guards
from xlamig.flow.interp.calls import Calls
from xlamig.flow.interp.definitions import Definitions
from xlamig.flow.interp.evaluate import Evaluator
from xlamig.flow.interp.events import CONFIDENCES, FREQUENCIES, Event, Recorder
from xlamig.flow.interp.frames import ClassInfo, Env, Frame, Loop, fork, merged
from xlamig.flow.interp.loops import Loops
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.things import NONE, UNKNOWN, Place, Thing, element_of, join
from xlamig.flow.occasions import Occasions
from xlamig.flow.regions import Regions
from xlamig.flow.scopes import Scope, ScopeTable, path_of
from xlamig.flow.selection import XLA_ARM
from xlamig.flow.site import Analysis

_PER_STATEMENT = 40  # how often each is run on the average before calls are no longer followed
_AT_LEAST = 4000

Leaves = bool
"""Whether a block never gets to its end."""


class Machine:
    """The state of a run. `effects` collects what the current function or branch does ("read",
    "backward" ...; with "?" what it may do)."""

    def __init__(self, analysis: Analysis, scopes: ScopeTable, regions: Regions) -> None:
        self.analysis = analysis
        self.names = analysis.names
        self.scopes = scopes
        self.regions = regions
        self.occasions = Occasions(analysis.text)
        self.recorder = Recorder()
        self.frame = Frame(scopes.module)
        self.frequency: Frequency = "once"
        self.effects: set[str] = set()
        self.loops: list[Loop] = []
        self.brief = False  # each loop is run once
        self.synced = False
        self.forwards = 0  # forward passes that run
        self.works = 0  # device operations met so far
        self.waiting = False  # device work is queued that nothing has waited for
        self.message = False  # inside what is raised or asserted
        self.logging = False  # inside the arguments of a logger's call
        self.caller: tuple[Why, ...] = ()  # who runs the current function in each step, if another module
        self.over: list[str] = []  # what the loops and comprehensions run over
        self.arms: dict[int, bool] = {}  # the arms of `if` statements that run, by where these stand
        self.default_place: Place = "host"
        self.statement: ir.Stmt = analysis.module.body[0] if analysis.module.body else ir.Jump(0, 0, "pass")
        self.unfollowed: set[str] = set()  # functions that calls were no longer followed into
        self.values = Evaluator(self)
        self.calls = Calls(self)
        self.moves = Moves(self)
        self.definitions = Definitions(self)
        self._loops = Loops(self)
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
            if self.run(node):
                return True
        return False

    @property
    def exhausted(self) -> bool:
        """Whether so much was run that calls are no longer followed."""
        return self._left < 0

    def allow(self, body: ir.Block) -> None:
        """Each function that is found adds to what may be run."""
        if id(body) not in self._sized:
            self._sized.add(id(body))
            self._left += _PER_STATEMENT * len(body)

    @contextmanager
    def branch(self) -> Iterator[set[str]]:
        """What happens inside is collected apart: it may not happen."""
        before, self.effects = self.effects, set()
        try:
            yield self.effects
        finally:
            self.effects = before

    def maybe(self, *ways: set[str]) -> None:
        """Adds effects of branches one of which is taken."""
        sure = set.intersection(*ways) if ways else set()
        self.effects |= sure
        for way in ways:
            self.effects.update(e if e.endswith("?") or ":" in e else f"{e}?" for e in way - sure)

    # ------------------------------------------------------------------ statements

    def run(self, node: ir.Stmt) -> Leaves:
        """Runs a statement; whether what follows it in its block is not reached."""
        match node:
            case ir.If():
                return self._if(node)
            case ir.For():
                self._loops.run_for(node)
            case ir.While():
                self._loops.run_while(node)
            case ir.With():
                return self._with(node)
            case ir.Try():
                return self._try(node)
            case ir.Match():
                return self._match(node)
            case ir.FunctionDef():
                self.definitions.function_of(node)
            case ir.ClassDef():
                self.definitions.class_of(node)
            case _:
                return self._simple(node)
        return False

    def _simple(self, node: ir.Stmt) -> Leaves:
        match node:
            case ir.ExprStmt(value=value):
                self.values.of(value)
            case ir.Assign(targets=targets, value=value):
                thing = self.values.of(value)
                for target in targets:
                    self.assign(target, thing, value)
            case ir.AugAssign():
                self.values.operators.augmented(node)
            case ir.AnnAssign(target=target, annotation=annotation, value=value):
                if value is not None:
                    thing = self.values.of(value)
                    if thing.kind == "unknown" and not thing.place:
                        name = path_of(target).rpartition(".")[2]
                        thing = self.calls.entry.promised(name, annotation) or thing
                    self.assign(target, thing, value)
                elif isinstance(target, ir.Name):
                    self.env.setdefault(target.id, self.calls.entry.annotated(annotation) or UNKNOWN)
            case ir.Return(value=value):
                thing = self.values.of(value) if value is not None else NONE
                before = self.frame.returned
                self.frame.returned = thing if before is None else join(before, thing)
                return True
            case ir.Raise(value=value):
                if value is not None:
                    with self.once(message=True):
                        self.values.of(value)
                return True
            case ir.Assert(test=test, message=message):
                self.values.tests.truth(test, "assert")
                if message is not None:
                    with self.branch() as way, self.once(message=True):
                        self.values.of(message)
                    self.maybe(way, set())
            case ir.Jump(kind=kind) if kind != "pass":
                if self.loops:
                    ended = self.loops[-1].left if kind == "break" else self.loops[-1].again
                    ended.append(fork(self.env))
                return True
            case ir.Import(names=names) | ir.ImportFrom(names=names):
                self.definitions.imported(names)
            case ir.Delete(targets=targets):
                for target in targets:
                    self.env.pop(path_of(target), None)
            case _:
                pass
        return False

    def _if(self, node: ir.If) -> Leaves:
        holds = self.values.tests.decided(node.test)
        tested = self.values.tests.truth(node.test, "if")
        if holds is not None:
            return self.block(node.body if holds else node.orelse)
        before = fork(self.env)
        ways: list[set[str]] = []
        ends: list[Env | None] = []
        for body, taken in ((node.body, True), (node.orelse, False)):
            self.frame.env = fork(before)
            self.values.tests.narrow(node.test, taken)
            often = self.once() if body and isinstance(body[-1], ir.Raise) else self.seldom(node.test, taken)
            arms, self.arms = self.arms, {**self.arms, node.start: taken}
            with self.branch() as way, often:
                ends.append(None if self.block(body) else self.env)
            self.arms = arms
            ways.append(way)
        if self._asks_for_xla(node.test):
            self.effects |= ways[0]  # where it matters the branch is taken
        self.statement = node
        chosen = any(_works(way) for way in ways) or any(_picks(end, before) for end in ends)
        if tested.cause == "random" and chosen:
            self.values.reads.branched(node.test, tested)
        self.maybe(*ways)
        if ends == [None, None]:
            self.frame.env = before
            return True
        if None not in ends:
            self.values.tests.defaulted(node.test, *ends)  # type: ignore[arg-type]
        self.frame.env = merged(*ends)
        return False

    def _asks_for_xla(self, test: ir.Expr) -> bool:
        if isinstance(test, ir.Name | ir.Attribute | ir.Call) and XLA_ARM.search(self.source(test)):
            return True
        return any(guard.kind == "xla" for guard in self.guards.of(test, self.frame.scope, True))

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

    def _match(self, node: ir.Match) -> Leaves:
        self.values.of(node.subject)
        before, ends, ways = fork(self.env), [fork(self.env)], [set[str]()]
        for case in node.cases:
            self.frame.env = fork(before)
            self.env.update(dict.fromkeys(case.captures, UNKNOWN))
            if case.guard is not None:
                self.values.tests.truth(case.guard, "if")
            with self.branch() as way:
                if not self.block(case.body):
                    ends.append(self.env)
            ways.append(way)
        self.maybe(*ways)
        env = ends[0]
        for end in ends[1:]:
            env = merged(env, end)
        self.frame.env = env
        return False

    def _with(self, node: ir.With) -> Leaves:
        ends_step = False
        place = self.default_place
        for item in node.items:
            thing = self.values.of(item.value)
            ends_step = ends_step or thing.tag == "step"
            if thing.kind == "device" and thing.tag == "made":
                self.default_place = "host" if thing.place == "host" else "device"
            if item.target is not None:
                self.assign(item.target, thing, item.value)
        leaves = self.block(node.body)
        self.default_place = place
        if ends_step:
            self.effects.add("sync")
            self.synced = True
        return leaves

    def _try(self, node: ir.Try) -> Leaves:
        before = fork(self.env)
        leaves = self.block(node.body)
        after = None if leaves else self.env
        if after is not None and node.orelse:
            leaves = self.block(node.orelse)
            after = None if leaves else self.env
        ends, ways = [after], [set[str]()]
        for handler in node.handlers:
            self.frame.env = fork(merged(before, after))
            if handler.name:
                self.env[handler.name] = UNKNOWN
            with self.branch() as way:
                ends.append(None if self.block(handler.body) else self.env)
            ways.append(way)
        self.maybe(*ways)
        alive = [env for env in ends if env is not None]
        env = alive[0] if alive else before
        for other in alive[1:]:
            env = merged(env, other)
        self.frame.env = env
        ended = self.block(node.final)
        return ended or not alive

    # ------------------------------------------------------------------ assignment

    def assign(self, target: ir.Expr, thing: Thing, value: ir.Expr | None = None) -> None:
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
                self.assign(inner, Thing("sequence", element=element_of(thing)))

    def _forget(self, name: str) -> None:
        """What was known of `x.attribute` is of another object now."""
        start = f"{name}."
        for path in [p for p in self.frame.paths if p.startswith(start)]:
            self.env.pop(path, None)

    def put(self, path: str, thing: Thing) -> None:
        """Remembers what a name or a path of attributes holds."""
        self.env[path] = thing
        if "." in path or "[" in path:
            self.frame.paths.add(path)

    def _unpack(self, targets: tuple[ir.Expr, ...], thing: Thing) -> None:
        items = self.values.unpacked(thing, len(targets))
        for target, item in zip(targets, items, strict=True):
            self.assign(target, item)

    def set_attribute(self, target: ir.Attribute, thing: Thing, value: ir.Expr | None) -> None:
        owner = self.values.of(target.value)
        path = path_of(target)
        self.moves.attribute(target, owner, thing, value)
        self.grew(thing, f".{target.attr}")
        if thing.tag == "appended" and self.frequency == "step":
            thing = thing.but(tag="grows", loop=0)
        if path:
            self.put(path, thing)
        self.effects.add(f"sets:{target.attr}")
        if owner.kind in ("module", "instance") and isinstance(owner.ref, ClassInfo):
            known = owner.ref.attributes.get(target.attr)
            both = thing if known is None else join(known, thing)
            owner.ref.attributes[target.attr] = both
            if known is None or known.kind != both.kind or known.tag != both.tag:
                owner.ref.version += 1

    def grew(self, thing: Thing, name: str) -> None:
        """`self.keys = torch.cat([self.keys, k])`: longer after each step."""
        if thing.kind == "tensor" and thing.tag == f"grown:{name}" and thing.ref and self.frequency == "step":
            self._loops.told(thing, thing.sure, (), "in each step")

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


def _works(effects: set[str]) -> bool:
    return "work" in effects or "work?" in effects


def _picks(end: Env | None, before: Env) -> bool:
    """Whether a branch leaves the block, or gives a name another tensor of the device."""
    if end is None:
        return True
    tensors = ((name, t) for name, t in end.items() if t.kind == "tensor" and t.place != "host")
    return any(before.get(name) is not thing for name, thing in tensors)

"""The state of an abstract run: where it is, what holds there, and what it has recorded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from zlib import crc32

from xlamig import ir
from xlamig.facts import ContextTag, ContextTags, Fact, Span, Why
from xlamig.findings import Frequency
from xlamig.flow.interp.crossing import named
from xlamig.flow.interp.domain import AbstractValue, Residence
from xlamig.flow.interp.events import CONFIDENCES, FREQUENCIES, Event, Recorder
from xlamig.flow.interp.evidences import Evidences
from xlamig.flow.interp.frames import STEPS, ClassInfo, Env, Frame, Function, Loop
from xlamig.flow.interp.intervals import runs_seldom
from xlamig.flow.interp.semantics import Alone, Program, Semantics
from xlamig.flow.interp.setting import AtMost, Rarer, Setting
from xlamig.flow.interp.skipped import SkippedBranches
from xlamig.flow.interp.until_moved import UntilMoved
from xlamig.flow.model.effects import Effect, Effects
from xlamig.flow.model.exits import leaves_loops, loop_left
from xlamig.flow.model.frequency_guards import FrequencyGuards
from xlamig.flow.model.regions import Regions
from xlamig.flow.model.scopes import Scope, ScopeTable, path_of
from xlamig.flow.model.site import Analysis

_PER_STATEMENT = 40  # how often each is run on the average before calls are no longer followed
_AT_LEAST = 4000


class State:
    """The state of a run. `effects` collects what the current function or branch does; `semantics` runs
    the parts of the program that a transfer function needs the values of, `program` those of other
    modules; `base` sets the loops of a module apart from those of others."""

    semantics: Semantics

    def __init__(
        self, analysis: Analysis, scopes: ScopeTable, regions: Regions, program: Program | None = None
    ) -> None:
        self.analysis = analysis
        self.names = analysis.names
        self.scopes = scopes
        self.regions = regions
        self.frequency_guards = FrequencyGuards(analysis)
        self.recorder = Recorder()
        self.program = program or Alone()
        self.filename = analysis.filename
        self.base = crc32(self.names.module.encode("utf-8", "surrogatepass")) << 32
        self.top = self.frame = Frame(scopes.module, name=self.names.module)
        self.frequency: Frequency = "once"
        self.effects = Effects()
        self.loops: list[Loop] = []
        self.step_loops: frozenset[int] = frozenset()  # whose bodies run every step, by where they start
        self.seldom = False  # some iterations of the loop alone run the current statement
        self.first_pass = False  # each loop is run once
        self.synced = self.settled = False  # settled: Lightning has ended the step before it calls a hook
        self.forwards = 0  # forward passes that run
        self.callers_known = True  # False in a method of what may be a module, if nothing here calls it
        self.device_op_count = 0  # device operations met so far
        self.waiting = False  # device work is queued that nothing has waited for
        self.wait_count = 0
        self.message = False  # inside what is raised or asserted
        self.without_tensors = False  # in a branch for what is no tensor
        self.logging = False  # inside the arguments of a logger's call
        self.synced_alone = False  # on one rank
        self.one_rank: tuple[Why, ...] = ()  # why only one rank gets to the current statement
        self.on_all_ranks: frozenset[str] = frozenset()  # what each branch of a test of the rank calls
        self.caller: tuple[Why, ...] = ()  # who runs the current function every step, if another module
        self.comprehension_depth = 0  # comprehensions that run
        self.entered_from_host = False  # a module that is on the device was given tensors of the host
        self.met_host = False  # a layer in it computed with them
        self.collating = False  # inside a collate function whose batches cannot be followed
        self.batches = 0  # what a loader calls for each batch, and loops that yield them
        self.iteration_sources: list[str] = []  # what the loops and comprehensions run over
        self.result_moved = False  # the caller moves the result of the call
        self.kept_off = False  # in a branch that the options of the project keep off
        self.ways: dict[tuple[int, int], int] = {}  # of alternatives, the one that runs
        self.taken_branches: dict[int, bool] = {}  # of the `if` statements that run, by their offset
        self.skipped = SkippedBranches()
        self.default_place: Residence = "host"
        self.plain_place: Residence = "host"  # of `torch.Tensor(data)`, which the default type alone moves
        self.offloads = False  # a context manager makes copies of state dicts on the CPU
        self.swaps = False  # a flag makes moves keep the parameters' identity
        self.statement: ir.Stmt = analysis.module.body[0] if analysis.module.body else ir.Jump(0, 0, "pass")
        self.unfollowed: set[str] = set()  # functions that calls were no longer followed into
        self.left = _AT_LEAST + _PER_STATEMENT * len(analysis.module.body)
        self._sized: set[int] = set()
        self.evidences = Evidences(analysis, scopes)
        self.until_moved = UntilMoved(self)

    @property
    def env(self) -> Env:
        """Return the names of the current frame."""
        return self.frame.env

    def start_statement(self, node: ir.Stmt) -> None:
        """Make a statement the current one, and count it."""
        self.statement = node
        self.left -= 1

    @property
    def exhausted(self) -> bool:
        """Return whether so much was run that calls are no longer followed."""
        return self.left < 0

    @property
    def repeating(self) -> bool:
        """Return whether what runs now runs again, for another sample, batch or step."""
        return bool(self.loops) or self.comprehension_depth > 0 or self.batching

    @property
    def birth(self) -> int:
        """Return the step of what is made now: a loop's id, -1 in a function of each step, 0 outside."""
        loop = next((loop.id for loop in reversed(self.loops) if loop.kind in STEPS), 0)
        return loop or -(self.frequency == "step")

    @property
    def batching(self) -> bool:
        """Return whether it runs again for another batch or step."""
        return self.batches > 0 or self.frequency == "step"

    def allow(self, body: ir.Block) -> None:
        """Each function that is found adds to what may be run."""
        if id(body) not in self._sized:
            self._sized.add(id(body))
            self.left += _PER_STATEMENT * len(body)

    def branch(self) -> Setting[Effects]:
        """Collect the effects of a branch apart: it may not run."""
        return Setting(self, "effects", Effects())

    def join_effects(self, *branches: Effects) -> None:
        """Add the effects of branches, one of which runs."""
        self.effects.update_from_branches(*branches)

    def lowers_frequency(self, test: ir.Expr, taken: bool) -> Rarer:
        """`if step % 100 == 0`: what is inside runs in some steps only."""
        often = self.frequency in ("step", "interval")
        return Rarer(self, often and runs_seldom(self.frequency_guards, test, self.frame, self.loops, taken))

    def sometimes(self) -> Rarer:
        """Code inside it runs in the steps that a value decides."""
        return Rarer(self, True)

    def leaving(self, body: ir.Block) -> AtMost:
        """A branch that ends in `break` or `return` runs once for each run of the loop that it leaves."""
        if not leaves_loops(body):
            return AtMost(self, None)
        function = self.frame.scope.node
        around = self.loops_around(body[-1])
        left = loop_left(body, [x for x in around if function is None or function.start < x.node.start])
        return AtMost(self, None if left is None else left.outside)

    def on_one_rank(self, test: ir.Expr, taken: bool) -> Setting[tuple[Why, ...]]:
        """`if rank == 0`: what is inside runs on one rank only."""
        why = self.one_rank or self.frequency_guards.first_rank(test, self.frame.scope, taken)
        return Setting(self, "one_rank", why)

    @contextmanager
    def once(self, message: bool = False) -> Iterator[None]:
        """Mark what ends the program: it runs once."""
        before = self.frequency, self.message
        self.frequency, self.message = "once", message
        try:
            yield
        finally:
            self.frequency, self.message = before

    def forget_attributes(self, name: str) -> None:
        """Drop what was known of `name.attribute` and `name["key"]`: it was of another object."""
        start = f"{name}.", f"{name}["
        for path in [p for p in self.frame.paths if p.startswith(start)]:
            self.env.pop(path, None)

    def hold(self, info: ClassInfo, name: str, thing: AbstractValue) -> None:
        """Let the objects of a class hold a value."""
        if info.frame.home != self.names.module:
            thing = named(thing, self.filename)
        info.hold(name, thing)

    def held_by(self, info: ClassInfo, name: str) -> AbstractValue:
        """Return what the objects of a class hold, as this module sees it."""
        home, thing = info.frame.home, info.attributes[name]
        return thing if home == self.names.module else named(thing, self.program.home(home).filename)

    def put(self, path: str, thing: AbstractValue) -> None:
        """Remembers what a name or a path of attributes holds."""
        self.env[path] = thing
        if "." in path or "[" in path:
            self.frame.paths.add(path)

    def record(
        self,
        fact: type[Fact],
        node: ir.Node,
        sure: int,
        why: tuple[Why, ...] = (),
        parts: dict[str, Span] | None = None,
        related: tuple[Why, ...] = (),
        context: ContextTags = frozenset(),
        at: ir.Stmt | None = None,
        **fields: object,
    ) -> Event | None:
        """Says something of a statement, the current one if `at` is None."""
        if sure <= 0:
            return None
        frequency = self.frequency
        tags: set[ContextTag] = set(context)
        if FREQUENCIES.index(frequency) > FREQUENCIES.index("epoch"):
            tags.add("per-step")
        if self.message:
            tags.add("message")
        where = self.frame.scope.node
        group = self.loops[-1].id if self.loops else self.base + (where.start if where is not None else 0)
        if self.iteration_sources and self.iteration_sources[-1] == "batch":
            group = -group  # several tensors at one place
        event = Event(
            fact, at or self.statement, node, fields, sure, frequency, (*self.caller, *why[-4:]), related,
            parts or {}, frozenset(tags), group, self.taken_branches, self.kept_off,
        )  # fmt: skip
        assert sure in CONFIDENCES
        home = self.program.home_of(at) if at is not None else None
        if home is None or home.recorder is self.recorder:
            self.recorder.add(event)
            return event
        reasons = tuple(why.of(self.filename) for why in event.reasons)
        related = tuple(why.of(self.filename) for why in related)
        event = replace(event, reasons=reasons, related=related, arms={})
        home.recorder.add(event)
        return event

    def prove(self, node: ir.Node, **told: bool) -> None:
        """Says of a node what a fix may rely on, if it holds each time the node is met."""
        self.recorder.prove(node, {name.replace("_", "-"): "true" for name, holds in told.items() if holds})

    def work(self, place: str, queued: bool = True) -> None:
        """Record device work; what is not `queued` is done when the call returns: a copy from the host."""
        if place != "host":
            (self.effects.add if place == "device" else self.effects.add_possible)(Effect.WORK)
            self.effects.add_possible(Effect.UNREAD)
            self.synced = False
            self.device_op_count += queued
            self.waiting |= queued

    def wait(self) -> None:
        """Record that the host waits for the device."""
        self.waiting = False
        self.wait_count += 1

    def read(self, *effects: Effect) -> None:
        """Record that the host reads a tensor of the device, and what else that does."""
        self.effects.add(Effect.READ, *effects)
        self.effects.drop_unread()
        if self.frequency == "step" or (self.frequency == "interval" and not self.seldom):
            self.effects.add(Effect.STEP_READ)

    def updated(self, node: ir.Call, effect: Effect = Effect.OPTIMIZER_STEP) -> None:
        """Record an optimizer step."""
        self.effects.repeat(effect)
        self.note_update(node, effect)

    def note_update(self, node: ir.Call, effect: Effect, at_times: bool = False) -> None:
        """Let the loops around a call know that it steps an optimizer."""
        seldom = at_times and self.frequency == "step"
        often = FREQUENCIES.index("interval" if seldom else self.frequency)
        for loop in self.loops_around(node):
            loop.note_update(node, effect is Effect.XLA_OPTIMIZER_STEP, often)

    def loops_around(self, node: ir.Node) -> list[Loop]:
        """Return the loops of the running module that `node` stands in, the outermost first."""
        return [loop for loop in self.loops if loop.base == self.base and ir.encloses(loop.node, node)]

    def function(self, node: ir.FunctionDef, frame: Frame, owner: ClassInfo | None = None) -> Function:
        """Return the function that a definition makes."""
        home = frame.home
        scope = self.scopes.of(node) if home == self.names.module else self.program.scope(home, node)
        made = Function(node, scope, frame, owner)
        for decorator in node.decorators:
            match path_of(decorator).rpartition(".")[2]:
                case "staticmethod":
                    made.kind = "static"
                case "classmethod":
                    made.kind = "class"
                case "property" | "cached_property":
                    made.kind = "property"
        return made

    def source(self, node: ir.Node, at: ir.Stmt | None = None) -> str:
        """Return the text of a node, which stands in the statement `at` if that may be another file's."""
        home = self.program.home_of(at) if at is not None else None
        return home.source(node) if home is not None else self.analysis.source(node)

    def enter(self, scope: Scope, parent: Frame | None, owner: ClassInfo | None) -> Frame:
        """Starts a frame; the caller puts the old one back."""
        self.frame = Frame(scope, parent, owner)
        return self.frame

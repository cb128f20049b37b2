"""Find what depends on a module's parameters when the module moves."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.facts import ModuleMove, Why
from xlamig.flow.interp.conventions import is_move
from xlamig.flow.interp.departures import Departures
from xlamig.flow.interp.domain import LIKELY, AbstractValue, Mark, Ref, alternatives, element_of
from xlamig.flow.interp.events import Event
from xlamig.flow.interp.frames import ClassInfo, modules_of
from xlamig.flow.interp.module_parts import ModuleParts
from xlamig.flow.interp.moved_parts import MovedParts
from xlamig.flow.interp.moved_to_save import record_move_to_save
from xlamig.flow.interp.moved_with import Holder, is_host_value, is_made_later, move_arguments, reason_of
from xlamig.flow.interp.state import State
from xlamig.flow.interp.swapping import KEPT
from xlamig.flow.interp.ways import Ways
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.guards import Guards
from xlamig.flow.model.known import short
from xlamig.knowledge import values as table

_OFF = frozenset({"off", "unset", "never"})


class Moves:
    """Remembers by a module's `ref` what was made of its parameters while it was on the host."""

    def __init__(self, state: State) -> None:
        self.m = state
        self.departures = Departures(state)
        self._guards = Guards(state.analysis)
        self._parts = ModuleParts()
        self._moved_parts = MovedParts(state)
        self._called: set[tuple[Ref, tuple[str, int]]] = set()  # with the function that calls
        self._held: dict[Ref, list[Holder]] = {}
        self._ways = Ways(state)
        self._left: dict[Ref, list[tuple[str, ir.Node, list[Holder]]]] = {}  # behind by moves
        self._ties: dict[Ref, list[Event]] = {}
        self._optional: set[tuple[str, int]] = set()  # ties under an option that the project leaves off
        self._moves: dict[Ref, tuple[AbstractValue, ir.Call, ir.Stmt, str]] = {}
        self._kept: set[Ref] = set()  # modules whose move kept the parameters' identity
        self._lost: set[Ref] = set()  # modules that a move to the CPU took from their optimizers
        self.wrapped: set[Ref] = set()  # modules in a wrapper, which moves what they are given
        self.scattered: set[Ref] = set()  # modules whose wrapper does so with CUDA alone

    def wrap(self, module: AbstractValue, wrapper: str, node: ir.Call) -> AbstractValue:
        """Return the module that a wrapper is given, or one of which nothing more is known."""
        if isinstance(module.ref, ClassInfo) and not module.ref.may_be_module and module.kind == "instance":
            return module  # a wrapper takes only modules: this branch of the program never runs
        if module.kind != "module":
            module = AbstractValue("module", "device", sure=LIKELY, ref=f"{wrapper}#{node.start}")
        for key, refs in (("scatters", self.scattered), ("shards", self.wrapped)):
            if wrapper in table.names("program", key):
                refs.update(modules_of(module.ref))
        return module

    def hold(self, whole: AbstractValue, part: AbstractValue) -> None:
        """A list of modules gets one more, which moves with it."""
        self._parts.append(whole, part)

    def called(self, module: AbstractValue) -> None:
        """A module is called: on the host, a graph may hold its parameters when it moves."""
        if module.place != "device":
            self._called.update((ref, self._function) for ref in modules_of(module.ref))

    @property
    def _function(self) -> tuple[str, int]:
        node = self.m.frame.scope.node
        return self.m.filename, node.start if node is not None else -1

    def depends(self, module: AbstractValue, via: str, node: ir.Node, name: str = "") -> None:
        """Something holds on to the parameters of a module."""
        if module.place in ("host", "either"):
            for ref in (ref for one in self._parts.held_by(module) for ref in modules_of(one.ref)):
                held = self._held.setdefault(ref, [])
                self._ways.note((ref, self.m.filename, node.start))
                if all(other is not node for _, other, _, _ in held):
                    held.append((via, node, name, self.m.filename))
            if via == "optimizer":
                self._moved_parts.hold(module, (via, node, name, self.m.filename))
        elif via == "optimizer":
            self.departures.hold(module, node, name)

    def share(self, other: Moves) -> None:
        """Remember together with another module of the program."""
        self.departures.share(other.departures)
        self._moved_parts.share(other._moved_parts)
        self._held, self._ties, self._moves, self._kept = other._held, other._ties, other._moves, other._kept
        self.wrapped, self._optional, self._lost = other.wrapped, other._optional, other._lost
        self.scattered, self._left, self._parts = other.scattered, other._left, other._parts
        self._ways = other._ways

    def forget(self) -> None:
        """Forget all moves: what runs again makes its modules again."""
        self.departures.forget()
        self._moved_parts.forget()
        self._parts.forget()
        self._called.clear()
        of_moves = (self._moves, self._kept, self._lost, self._left)
        for record in (self._held, self._ties, *of_moves, self.wrapped, self.scattered):
            record.clear()

    def moved(self, module: AbstractValue, node: ir.Call, path: str) -> None:
        """A module on the host is moved to the device."""
        if module.kind != "module" or module.place not in ("host", "either"):
            return
        self.departures.come_back(module)
        for ref in modules_of(module.ref):
            self._moves[ref] = (module, node, self.m.statement, path)
            if self.m.swaps:
                self._kept.add(ref)
        held = (*self.dependants(module, node), *self._moved_parts.leave(module, node))
        dependants = [one for one in held if not is_made_later(self.m, module, path, one)]
        ties = {(where, at.start) for via, at, _, where in dependants if via == "tie"}
        lost = not self._lost.isdisjoint(modules_of(module.ref))
        refs = (ref for part in self._parts.all_of(module) for ref in modules_of(part.ref))
        called = not self._called.isdisjoint((ref, self._function) for ref in refs)
        self.m.prove(node, optional_tie=bool(ties) and ties <= self._optional, lost=lost, called=called)
        for holder in dependants:
            via, _, name, _ = holder
            if self.m.swaps and via in KEPT and not (lost and via == "optimizer"):
                continue
            why = reason_of(self.m, holder)
            told = self.m.record(
                ModuleMove,
                node,
                min(module.sure, LIKELY) if via != "optimizer" else module.sure,
                (*module.why, why),
                related=(why,),
                via=via,
                module=path,
                optimizer=name,
            )
            if via == "tie" and told is not None:
                for ref in modules_of(module.ref):
                    self._ties.setdefault(ref, []).append(told)
        move_arguments(self.m, self._parts.all_of(module), node)

    def taken_to_host(self, module: AbstractValue, node: ir.Call, path: str) -> None:
        """A module is moved to the CPU: a move back makes new parameters."""
        record_move_to_save(self.m, module, node, path)
        for ref, holders in self.departures.leave(module, node, path).items():
            held = self._held.setdefault(ref, [])
            held.extend(("optimizer", *holder) for holder in holders)
            if not self.m.swaps:
                self._lost.add(ref)

    def dependants(self, module: AbstractValue, node: ir.Call) -> Iterator[Holder]:
        """Yield the objects that hold the parameters of a module, or of the parts that its class sets, and
        theirs: those that no move before left behind, but in another branch."""
        for one in self._parts.all_of(module):
            for ref in modules_of(one.ref):
                every = self._held.get(ref, [])
                held = [one for one in every if not self._ways.excluded((ref, one[3], one[1].start))]
                ties = [each for each in held if each[0] == "tie"]  # of every instance of the class
                if one.trait is Mark.COPY:  # no optimizer holds a copy
                    yield from ties
                    continue
                for filename, move, left in self._left.get(ref, ()):
                    if filename == self.m.filename and ir.in_branches(self.m.analysis.module, move, node):
                        held = [*held, *(each for each in left if each not in held)]
                if held:
                    self._held[ref] = ties
                    self._left.setdefault(ref, []).append((self.m.filename, node, held))
                    yield from held

    @staticmethod
    def copied(thing: AbstractValue) -> AbstractValue:
        """`copy.deepcopy(model)`: the same methods, and parameters of its own that nothing holds yet."""
        if thing.kind != "module":
            return thing
        return thing.replace(ref=None) if thing.trait else thing.replace(trait=Mark.COPY)

    def marked(self, parameter: AbstractValue, via: str, node: ir.Node) -> None:
        """A hook or an attribute is set on a parameter, of the module being built or of another."""
        if parameter.trait is not Mark.PARAMETER or parameter.place == "device":
            return
        if parameter.ref is not None:
            self.depends(AbstractValue("module", "host", ref=parameter.ref), via, node)
        whole = self.m.env.get("self")
        if whole is not None and whole.kind == "module":
            self.depends(whole.replace(place="host"), via, node)

    def listed(self, parameter: AbstractValue, optimizer: ir.Call) -> None:
        """An optimizer is given parameters that were collected one by one."""
        module = AbstractValue("module", "host", ref=parameter.ref)
        refs = alternatives(module.ref)
        moved = next((self._moves[one] for one in modules_of(module.ref) if one in self._moves), None)
        if parameter.place != "host" or self.m.swaps or refs & self._kept:
            return
        if moved is None:
            self.depends(module, "optimizer", optimizer)
            return
        whole, node, statement, path = moved
        span = (optimizer.start, optimizer.end)
        why = Why("the optimizer gets parameters that were collected before", span)
        self.m.record(
            ModuleMove,
            node,
            whole.sure,
            (*whole.why, why),
            related=(why,),
            at=statement,
            via="list",
            module=path,
            optimizer="",
        )

    def given(self, written: ir.Expr, optimizer: ir.Call) -> None:
        """An optimizer is given attributes of a module, or what its own `parameters()` returns."""
        for node in ir.walk(written):
            match node:
                case ir.Call(func=ir.Attribute(value=owner, attr="parameters"), args=()):
                    held = True
                case ir.Attribute(value=owner):
                    value = self.m.semantics.evaluate(node)
                    value = element_of(value) if value.kind == "sequence" else value
                    held = value.trait is Mark.PARAMETER and value.place != "device"
                case _:
                    continue
            if held and isinstance(owner, ir.Name | ir.Attribute):
                module = self.m.semantics.evaluate(owner)
                if module.kind == "module":
                    self.depends(module, "optimizer", optimizer)

    def attribute(
        self, target: ir.Attribute, owner: AbstractValue, thing: AbstractValue, value: ir.Expr | None
    ) -> None:
        """`a.weight = b.weight` ties; `p.no_decay = True` marks a parameter; `p.data = ...to(...)` raises."""
        if target.attr == "weight" and isinstance(value, ir.Attribute) and value.attr == "weight":
            source = self.m.semantics.evaluate(value.value)
            if {owner.kind, source.kind} == {"module"} or (self._is_own(target) and self._is_own(value)):
                self.tied(owner, target)
        elif owner.kind == "tensor" and target.attr == "data" and is_host_value(owner, thing):
            text = short(self.m.source(target.value))
            self.m.record(ModuleMove, target, LIKELY, owner.why, via="host-data", module=text)
        elif owner.kind == "tensor" and owner.trait is Mark.PARAMETER:
            if target.attr == "data":
                if (
                    owner.place != "device"
                    and thing.kind == "tensor"
                    and thing.place == "device"
                    and self._leaves_host(value)
                ):
                    text = short(self.m.source(target.value))
                    self.m.record(ModuleMove, target, LIKELY, thing.why, via="data", module=text)
            elif target.attr not in ("grad", "requires_grad"):
                self.marked(owner, "attribute", target)

    def _leaves_host(self, value: ir.Expr | None) -> bool:
        """Return whether an expression is a move to a device that may not be the CPU: `device=None` often is
        where the tensor is."""
        if not is_move(value) or not isinstance(value, ir.Call):
            return False
        named = [name for arg in value.args for name in ir.walk(arg.value) if isinstance(name, ir.Name)]
        return all(self.m.semantics.evaluate(name).place != "either" for name in named)

    def tied(self, owner: AbstractValue, target: ir.Node) -> None:
        """A tie of two parts of the module that is being built, or of a part and the whole."""
        self.m.effects.add(Effect.TIE)
        if self._is_optional(target):
            self._optional.add((self.m.filename, target.start))
        whole = self.m.env.get("self")
        for module in (owner, whole):
            if module is None or module.kind != "module":
                continue
            if module.place == "device":  # tied again, where it counts
                for ref in modules_of(module.ref):
                    for told in self._ties.pop(ref, ()):
                        home = self.m.program.home_of(told.statement) or self.m
                        home.recorder.forget(told)
            else:
                self.depends(module.replace(place="host"), "tie", target)

    def _is_optional(self, tie: ir.Node) -> bool:
        """Return whether a tie stands under a test that is false wherever the project runs."""
        scope = self.m.frame.scope
        if not isinstance(scope.node, ir.FunctionDef):
            return False
        tests = [node for node in ir.path_down(scope.node, tie) if isinstance(node, ir.If)]
        held = ((node.test, any(ir.encloses(part, tie) for part in node.body)) for node in tests)
        return any(
            guard.kind in _OFF for test, taken in held for guard in self._guards.of(test, scope, taken)
        )

    def _is_own(self, weight: ir.Attribute) -> bool:
        """Return whether a weight is a part's of the module being built: `self.parts.embed.weight`."""
        whole = self.m.env.get("self")
        owner: ir.Expr = weight.value
        while isinstance(owner, ir.Attribute | ir.Subscript):
            owner = owner.value
        is_part = isinstance(owner, ir.Name) and owner.id == "self" and owner is not weight.value
        return is_part and whole is not None and whole.kind == "module"

"""Uses of known APIs, with what is known of their arguments."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from typing import Literal

from xlamig import ir
from xlamig.facts import ApiUse, Argument, Span, Value, Why
from xlamig.findings import Confidence
from xlamig.flow.detectors.before_launch import before_launch
from xlamig.flow.detectors.chosen_classes import chosen
from xlamig.flow.detectors.empty_modules import holds_nothing
from xlamig.flow.detectors.eval_gradients import in_evaluation_mode
from xlamig.flow.detectors.in_scope import device_in_scope
from xlamig.flow.detectors.kept_tensors import kept_tensor
from xlamig.flow.detectors.load_locations import of_load
from xlamig.flow.detectors.module_calls import called_with
from xlamig.flow.detectors.proofs import (
    data_parallel,
    holds_states,
    of_sequences,
    on_all_ranks,
    padding_mask,
    sole_rendezvous,
    use_of_sum,
)
from xlamig.flow.detectors.ranks import is_rank
from xlamig.flow.detectors.receivers import receiver_of
from xlamig.flow.detectors.result_uses import uses_of_result
from xlamig.flow.detectors.spellings import Spellings
from xlamig.flow.detectors.table_sizes import resizes_table
from xlamig.flow.detectors.zero_counts import zero_replaced
from xlamig.flow.model.entries import known_argument
from xlamig.flow.model.known import Known, expression, short
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext

_ARGUMENTS = re.compile(r"Arguments$|TrainingConfig$")
_LONG = 40
_MOVES = "cuda"  # a method
_TOLD = ("constant", "pattern", "device", "cuda-test", "sequence")

Via = Literal["call", "chosen", "reference", "import", "decorator", "assignment", "except", "with"]


class Apis:
    """Makes api-use facts. `own_methods` are those of the module's own classes, `device_methods` calls
    whose receiver the interpreter knows as a tensor on the device, and callees where it knows it as a tensor;
    `consumed` collects option defaults that a call was seen to use."""

    def __init__(
        self,
        analysis: Analysis,
        own_methods: frozenset[str] = frozenset(),
        device_methods: Container[Span] = frozenset(),
    ) -> None:
        self.analysis = analysis
        self.device_methods = device_methods
        self.interest = analysis.names.interest
        self.consumed: set[Span] = set()
        self.own_methods = own_methods
        self.settings = self.interest.settings
        self.spellings = Spellings(self.interest)

    def call(
        self, node: ir.Call, dotted: str | None, place: CodeContext, via: Via = "call"
    ) -> Iterator[ApiUse]:
        """The fact for a call of a known function, method or of anything with a known keyword."""
        name, confidence, receiver = self._callee(node, dotted, place)
        if name is None:
            if not any(a.keyword in self.interest.keywords for a in node.args):
                return
            name, confidence = dotted or "unknown", "certain"
        args, complete = self._arguments(node, name, place)
        parts: dict[str, Span] = {
            "call": (node.start, node.end),
            "callee": (node.func.start, node.func.end),
            "arguments": (node.args_start, node.args_end),
        }
        if receiver is not None:
            parts["receiver"] = (receiver.start, receiver.end)
        fields = place.fields(node)
        fields["proofs"] = {
            **device_in_scope(place, node.start),
            **(_held_in(node.func, place) if name == dotted else {}),
            **of_load(name, node, place, self.analysis),
            **sole_rendezvous(name, node, self.analysis),
            **holds_states(name, node, place),
            **padding_mask(name, node, place, self.analysis),
            **data_parallel(name, node, place, self.analysis),
            **before_launch(name, node, place, self.analysis),
            **on_all_ranks(name, node, place, self.analysis),
            **use_of_sum(name, node, place, self.analysis),
            **of_sequences(name, node, place, self.analysis),
            **in_evaluation_mode(name, node, place, self.analysis),
            **called_with(name, node, place, self.analysis),
            **uses_of_result(name, node, place, self.analysis),
            **resizes_table(name, node, place, self.analysis),
            **zero_replaced(name, node, place, self.analysis),
            **self._of_move(node, name, place),
            **(kept_tensor(node, place, self.analysis) if self._is_on_device(node) else {}),
        }
        fields["parts"] = parts
        fields["confidence"] = confidence
        fields["reasons"] = (*place.reasons, *self.spellings.reasons(node.func, name))
        spelled = self._spelled(node.func)
        yield ApiUse(**fields, name=name, spelled=spelled, via=via, args=args, complete=complete)

    def chosen(self, node: ir.Call, place: CodeContext) -> Iterator[ApiUse]:
        """Yield a use of each known class that an option may choose for this call."""
        for name in chosen(node.func, place.scope, self.analysis.names, self.analysis.values):
            why = Why(f"an option may choose `{name}`", (node.func.start, node.func.end))
            for fact in self.call(node, name, place, "chosen") if self.interest.wants(name) else ():
                yield replace(fact, confidence="likely", reasons=(*place.reasons, why))

    def reference(self, node: ir.Expr, place: CodeContext, via: Via = "reference") -> Iterator[ApiUse]:
        """The fact for a known name that is read, assigned to or caught, not called."""
        names = self.analysis.names
        if via == "assignment" and isinstance(node, ir.Attribute):  # what is set, not what it is set to
            owner = names.dotted(node.value, place.scope)
            name = names.canonical(f"{owner}.{node.attr}") if owner is not None else None
        else:
            name = names.dotted(node, place.scope)
        if name is None or not self.interest.wants(name):
            return
        fields = place.fields(node)
        fields["parts"] = {"callee": (node.start, node.end)}
        fields["proofs"] = _held_in(node, place)
        fields["reasons"] = (*place.reasons, *self.spellings.reasons(node, name))
        yield ApiUse(**fields, name=name, spelled=short(self.analysis.source(node)), via=via)

    def setting(self, key: str, node: ir.Expr, place: CodeContext) -> Iterator[ApiUse]:
        """`args.gpus`, `config["gpus"]`, `"gpus" in config`: something is read that others set."""
        if key in self.settings:
            spelled = short(self.analysis.source(node))
            yield ApiUse(**place.fields(node), name=f"setting.{key}", spelled=spelled, via="reference")

    def imported(self, dotted: str, alias: ir.Alias, place: CodeContext) -> Iterator[ApiUse]:
        """Yield the use of a name by its import."""
        name = self.analysis.names.canonical(dotted)
        if self.interest.wants(name):
            fields = place.fields(alias)
            fields["parts"] = {"callee": (alias.start, alias.start + len(alias.name))}
            yield ApiUse(**fields, name=name, spelled=self.analysis.source(alias), via="import")

    def entry(self, key: ir.Expr | None, value: ir.Expr, place: CodeContext) -> Iterator[ApiUse]:
        """`kwargs["attn_implementation"] = ...`, and the same in a dictionary that is passed on."""
        if isinstance(key, ir.Const):
            yield from self._assigned(key.value, value, place)

    def default(self, node: ir.Assign | ir.AnnAssign, place: CodeContext) -> Iterator[ApiUse]:
        """`gradient_checkpointing: bool = field(default=True)` in a class of arguments."""
        owner = place.scope.node
        if not isinstance(node, ir.AnnAssign) or not isinstance(node.target, ir.Name) or node.value is None:
            return
        if isinstance(owner, ir.ClassDef) and any(_ARGUMENTS.search(path_of(b.value)) for b in owner.args):
            yield from self._assigned(node.target.id, _default(node.value), place)

    def _assigned(self, key: object, value: ir.Expr, place: CodeContext) -> Iterator[ApiUse]:
        """The fact for a setting that is given by its name."""
        if key not in self.interest.keywords:
            return
        span = (value.start, value.end)
        known = self.analysis.values.of(value, place.scope)
        argument = Argument(str(key), self._value(value, known, place), span, span, span, True)
        yield ApiUse(**place.fields(value), name="unknown", spelled="", via="assignment", args=(argument,))

    # ------------------------------------------------------------------ callees

    def _callee(
        self, node: ir.Call, dotted: str | None, place: CodeContext
    ) -> tuple[str | None, Confidence, ir.Expr | None]:
        if dotted is not None and self.interest.wants(dotted):
            return dotted, "certain", None
        func = node.func
        if not isinstance(func, ir.Attribute) or func.attr not in self.interest.methods:
            return None, "certain", None
        receiver = receiver_of(func.value, func.attr, place.scope, self.analysis)
        if receiver is None:
            return None, "certain", None
        tensor, name = f"Tensor.{func.attr}", f"{receiver}.{func.attr}"
        known = self._is_on_device(node) or (
            (func.start, func.end) in self.device_methods and self.interest.wants(name)
        )
        if receiver == "unknown" and known and self.interest.wants(tensor):
            return tensor, "likely", func.value
        if not self.interest.wants(name):
            return None, "certain", None
        if receiver == "unknown":
            guess = self._is_own(func.attr) and func.attr != _MOVES  # one of the project's moves to CUDA too
            return name, "possible" if guess or not self.analysis.has_torch else "likely", func.value
        return name, "certain", func.value

    def _of_move(self, node: ir.Call, name: str, place: CodeContext) -> Mapping[str, str]:
        """The proofs of a move to CUDA: "empty" where the module holds no tensor, "own-method" where a method
        of the project may be meant."""
        if not name.endswith(f".{_MOVES}") or not isinstance(node.func, ir.Attribute):
            return {}
        found = {
            "empty": holds_nothing(node.func.value, place.scope, self.analysis),
            "own-method": name == f"unknown.{_MOVES}" and self._is_own(_MOVES),
        }
        return {proof: "yes" for proof, holds in found.items() if holds}

    def _is_own(self, method: str) -> bool:
        """Return whether a class of the project has a method of this name."""
        return method in self.own_methods or self.analysis.names.project.has_method(method)

    def _is_on_device(self, node: ir.Call) -> bool:
        return (node.start, node.end) in self.device_methods

    # ------------------------------------------------------------------ arguments

    def _arguments(self, node: ir.Call, name: str, place: CodeContext) -> tuple[tuple[Argument, ...], bool]:
        """The arguments by parameter name, and whether there can be no others."""
        signature = self.interest.parameters(name)
        made, complete = list[Argument](), True
        for index, arg in enumerate(node.args):
            if arg.star:
                complete = False
                continue
            known_position = index < len(signature) and complete
            parameter = arg.keyword or (signature[index] if known_position else str(index))
            known = known_argument(self.analysis.values, arg.value, place.scope)
            self.consumed.update(known.origins)
            made.append(
                Argument(
                    name=parameter,
                    value=self._value(arg.value, known, place),
                    span=(arg.start, arg.end),
                    value_span=(arg.value.start, arg.value.end),
                    cut=(arg.cut_start, arg.cut_end),
                    keyword=arg.keyword is not None,
                    reasons=self._reasons(arg.value, known),
                )
            )
        return tuple(made), complete

    def _value(self, node: ir.Expr, known: Known, place: CodeContext) -> Value:
        if isinstance(node, ir.Sequence) and known.defaults and known.value.kind == "sequence":
            # Each process sets its rank: the default is one for programs of one process.
            pairs = zip(node.elements, known.value.items, strict=True)
            ranks = (
                expression(self.analysis.source(part)) if is_rank(part, place.scope, self.analysis) else value
                for part, value in pairs
            )
            return replace(known.value, items=tuple(ranks))
        # A flag or a dtype that users set.
        switch = not known.sure and (isinstance(known.value.value, bool) or known.value.kind == "api")
        if switch or (known.negated and known.value.kind == "cuda-test"):
            return expression(self.analysis.source(node))
        return known.value

    def _reasons(self, node: ir.Expr, known: Known) -> tuple[Why, ...]:
        """How a name's value is known, and where its default is written."""
        if not isinstance(node, ir.Name | ir.Attribute | ir.Subscript) or known.value.kind not in _TOLD:
            return ()
        value = known.value.value
        shown = short(repr(value)) if known.value.kind == "constant" else f"`{short(str(value))}`"
        if shown == self.analysis.source(node):
            return ()  # `inf` is inf
        unless = "" if known.sure else " unless it is set otherwise"
        why = Why(f"`{self.analysis.source(node)}` is {shown}{unless}", (node.start, node.end))
        return (why, *(Why("the default is written here", place) for place in known.defaults[:1]))

    def _spelled(self, node: ir.Expr) -> str:
        """The callee's text: of a long name its last two parts, a long receiver left out: "(...).cuda"."""
        text = self.analysis.in_one_line(node)
        if len(text) <= _LONG or not isinstance(node, ir.Attribute):
            return short(text)
        if path_of(node) == text:
            return ".".join(text.split(".")[-2:])
        tail = re.search(r"\.\w+(?:\([^()]{0,12}\)\.\w+)*$", text)
        return f"(...){tail[0]}" if tail and len(tail[0]) <= _LONG else f"(...).{node.attr}"


def _default(value: ir.Expr) -> ir.Expr:
    """Return the default in `field(default=...)`, else the value itself."""
    given = value.args if isinstance(value, ir.Call) and path_of(value.func).endswith("field") else ()
    return next((arg.value for arg in given if arg.keyword == "default"), value)


def _held_in(node: ir.Expr, place: CodeContext) -> Mapping[str, str]:
    """Return the proof "variable" if a variable of the program, no import, leads to what a path means."""
    path = path_of(node)
    bindings = place.scope.lookup(path.partition(".")[0]) if path else []
    held = bool(bindings) and all(binding.kind != "import" for binding in bindings)
    return {"variable": path} if held else {}

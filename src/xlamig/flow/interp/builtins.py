"""Python's own functions: what they read of tensors, and what they give."""

from __future__ import annotations

from functools import partial

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.comprehended import run_elements
from xlamig.flow.interp.configured import one_of_few, taken_by_name
from xlamig.flow.interp.costs import Costs
from xlamig.flow.interp.domain import (
    BOOL,
    FOREIGN,
    LIKELY,
    NONE,
    NUMBER,
    TEXT,
    TOP,
    AbstractValue,
    Cause,
    Mark,
    constant,
    element_of,
    known_parts,
    sequence,
)
from xlamig.flow.interp.generators import per_step
from xlamig.flow.interp.last_batches import take_batch
from xlamig.flow.interp.lengths import varies
from xlamig.flow.interp.let_through import as_let_through, is_let_through
from xlamig.flow.interp.number_first import as_number
from xlamig.flow.interp.number_origins import cause_of_read
from xlamig.flow.interp.one_rank import OPEN_FILE
from xlamig.flow.interp.ordering import Ordering
from xlamig.flow.interp.reads import SIZES, Reads, sureness
from xlamig.flow.interp.sizes import Sizes
from xlamig.flow.interp.state import State
from xlamig.flow.interp.texts import methods_by_text
from xlamig.flow.interp.type_tests import answer, is_tensor_class

_RESULTS = {
    **dict.fromkeys(("isinstance", "issubclass", "callable", "hasattr"), BOOL),
    **dict.fromkeys(("id", "hash", "ord"), NUMBER),
    **dict.fromkeys(("open", "input"), FOREIGN),
}


class Builtins:
    def __init__(self, state: State, reads: Reads, sizes: Sizes, costs: Costs) -> None:
        self.m = state
        self.reads, self.sizes, self.costs = reads, sizes, costs
        self.ordering = Ordering(state, reads, sizes)

    def call(self, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """Return the value of a call of a builtin, and record what it reads."""
        first = args.get(0) or TOP
        mode = args.get(1, "mode") if name == "open" else None
        if mode is not None and isinstance(mode.const, str) and mode.const.startswith(("w", "x")):
            return FOREIGN.replace(ref=OPEN_FILE)
        if name == "slice":
            return _slice(args.positional)
        kind = args.node(1) if name == "isinstance" else None
        if kind is not None and is_tensor_class(self.m, kind):
            return answer(first)
        plain = _RESULTS.get(name)
        return plain if plain is not None else self._call(name, first, args, node)

    def _call(self, name: str, first: AbstractValue, args: Args, node: ir.Call) -> AbstractValue:
        reads = self.reads
        match name:
            case "float" | "int":
                return self._number(name, first, node, args)
            case "bool":
                reads.host(node, first, "truth", "bool", args.node(0))
                return BOOL
            case "next":
                take_batch(self.m, first)
                return self.m.semantics.iterate(first)
            case "print" | "str" | "repr" | "format":
                return self._formatted(name, first, args, node)
            case "max" | "min" | "sorted" | "filter":
                return self.ordering.call(name, first, args, node)
            case "any" | "all":
                held = element_of(first) if first.kind == "sequence" else first
                if held.kind == "tensor":
                    reads.host(
                        node, held, "nan-check" if held.trait is Mark.NAN else "truth", name, args.node(0)
                    )
                return BOOL
            case "range":
                return self._range(args, node)
            case "enumerate":
                start = AbstractValue("number", trait=Mark.COUNTER)
                inner = self.m.semantics.iterate(first)
                made = AbstractValue("sequence", element=sequence((start, inner)), cause=_rounds(first))
                is_loader = first.kind == "loader" or first.trait is Mark.PARTIAL
                made = made.replace(trait=first.trait, ref=first.ref if is_loader else None)
                return per_step(made, (first,))
            case "zip" if args.rest is not None and len(args.positional) == 1:
                return self._columns(args.rest)
            case "zip":
                parts = [self.m.semantics.iterate(thing) for thing in args.positional]
                return per_step(AbstractValue("sequence", element=sequence(parts)), args.positional)
            case "reversed" | "list" | "tuple" | "iter" | "set":
                return self._copied(name, first)
            case "len":
                return self._len(first, node)
            case "sum":
                return self._sum(first, args, node)
            case "abs" | "round" | "pow":
                is_real = first.kind == "number" and not first.dtype
                return first if first.kind == "tensor" or is_real else NUMBER
            case "dict":
                known = first.fields or {} if first.kind == "mapping" else {}
                return AbstractValue("mapping", fields={**known, **args.keywords}, ref=self.m.birth)
            case "getattr" | "setattr" | "eval":
                return self._by_name(name, first, args, node)
            case "map":
                return self._map(args, node)
            case "type" if first.kind == "tensor":
                return AbstractValue("type", element=first)
        return TOP

    def _number(self, name: str, first: AbstractValue, node: ir.Call, args: Args) -> AbstractValue:
        if first.kind == "tensor":
            self.reads.host(node, first, "item", name, args.node(0))
            longest = self.sizes.read(first, node)
            if longest is not None:
                return longest
            cause = cause_of_read(self.m, args.node(0), first, sureness(first))
            return AbstractValue("number", sure=first.sure, cause=cause, why=first.why)
        if first.kind == "number":
            folded = isinstance(first.const, int | float)
            return (
                first.replace(const=int(first.const) if name == "int" else float(first.const))
                if folded
                else first
            )
        return NUMBER

    def _formatted(self, name: str, first: AbstractValue, args: Args, node: ir.Call) -> AbstractValue:
        """Return a text, which names the device if it is the text of one."""
        for part, thing in args.shown(node, keywords=False):
            self.reads.formatted(part, thing, name, node)
        if name == "print":
            return NONE
        return TEXT.replace(place=first.place) if first.kind == "device" else TEXT

    def _columns(self, row: AbstractValue) -> AbstractValue:
        """Return what `zip(*rows)` gives."""
        if row.items:
            return sequence([AbstractValue("sequence", element=item) for item in row.items])
        column = AbstractValue("sequence", element=self.m.semantics.iterate(row))
        return AbstractValue("sequence", element=column)

    def _range(self, args: Args, node: ir.Call) -> AbstractValue:
        for i, thing in enumerate(args.positional):
            if thing.kind == "tensor":
                thing = as_number(args.node(i), thing)
                self.reads.host(node, thing, "builtin", "range", args.node(i))
        cause = next((t for t in args.positional if t.cause), None)
        counter = AbstractValue("number", trait=Mark.COUNTER)
        made = AbstractValue("sequence", element=counter, trait=Mark.RANGE)
        if cause is not None:
            made = made.replace(cause=cause.cause, loop=cause.loop, sure=cause.sure, why=cause.why)
            made = made.replace(trait=Mark.DRAWN) if varies(cause) else made
        return made

    def _copied(self, name: str, first: AbstractValue) -> AbstractValue:
        if name == "set" and first.kind in ("sequence", "unknown"):
            made = AbstractValue("sequence", items=first.items or (), element=first.element, trait=Mark.SET)
            return as_let_through(made, first)
        if first.kind in ("sequence", "loader"):
            return first.replace(trait=None) if first.trait is Mark.APPENDED else first
        if first.kind == "tensor":
            return AbstractValue("sequence", element=self.m.semantics.iterate(first))
        if first.kind == "parameters" or (first.kind == "instance" and name == "iter"):
            return first
        if first.kind in ("mapping", "text"):
            return AbstractValue("sequence", element=TEXT)
        if first.kind == "unknown" and name in ("list", "tuple", "set"):
            return AbstractValue("sequence", items=()) if first is TOP else TOP
        return FOREIGN if first.kind == "foreign" else TOP

    def _len(self, first: AbstractValue, node: ir.Call) -> AbstractValue:
        own = self.m.semantics.method_of(first, "__len__")
        if own is not None:
            return self.m.semantics.call(own, Args(), node)
        known = known_parts(first)
        if first.trait is Mark.LONGEST and first.cause != "batch":
            longest = self.sizes.longest(AbstractValue("number", trait=Mark.LENGTH), node)
            if longest is not None:
                return longest
        if known is not None:
            return constant(len(known))
        if first.kind == "tensor" and first.cause in SIZES:
            return AbstractValue(
                "number", cause=SIZES[first.cause], loop=first.loop, sure=first.sure, why=first.why
            )
        if is_let_through(first):
            return AbstractValue("number", cause="read", sure=LIKELY, why=first.why)
        if first.trait is Mark.GROWS:
            return AbstractValue("number", cause="length", loop=first.loop)
        if (first.kind == "sequence" and first.cause == "batch") or first.trait is Mark.SAMPLE:
            return AbstractValue("number", cause="batch", sure=LIKELY, why=first.why, trait=Mark.LENGTH)
        return AbstractValue("number", trait=Mark.LENGTH)

    def _sum(self, first: AbstractValue, args: Args, node: ir.Call) -> AbstractValue:
        self.costs.stacked("sum", first, args, node)
        held = element_of(first) if first.kind == "sequence" else first
        if held.kind == "tensor":
            return held.replace(trait=None, source="") if first.kind == "sequence" else held
        if held.kind == "sequence" and len(args.positional) == 2:  # `sum(lists, [])`
            return held.replace(items=None, element=element_of(held))
        if held.kind == "number" and held.cause == "batch":
            return held.replace(trait=None)
        return NUMBER if held.kind in ("number", "bool") else TOP

    def _by_name(self, name: str, first: AbstractValue, args: Args, node: ir.Call) -> AbstractValue:
        """`getattr(x, "name")`, `setattr(x, "name", value)`, `eval(name)`"""
        if name == "eval":
            return taken_by_name(self.m, args.node(0))
        given, owner, value = args.get(1), args.node(0), args.get(2)
        if given is None or not isinstance(given.const, str):
            if name != "getattr":
                return TOP
            found = methods_by_text(self.m, first, args.node(1), node)
            found = found if found.kind != "unknown" else taken_by_name(self.m, args.node(1))
            return found if found.kind != "unknown" else one_of_few(self.m, first, node)
        if name == "getattr":
            return self.m.semantics.attribute(first, given.const, node)
        if owner is not None and value is not None:
            target = ir.Attribute(node.start, node.end, owner, given.const, node.start)
            self.m.semantics.set_attribute(target, value, args.node(2))
        return NONE

    def _map(self, args: Args, node: ir.Call) -> AbstractValue:
        """`map(f, xs)`: the function is called with an element of each."""
        if len(args.positional) < 2:
            return TOP
        callee = args.positional[0]
        if callee.kind == "api" and callee.ref in ("list", "tuple") and args.positional[1].items:
            return args.positional[1]
        inner = [self.m.semantics.iterate(thing) for thing in args.positional[1:]]
        if callee.kind == "function":
            first = args.positional[1]
            run = partial(self.m.semantics.reach, callee, node, Args(inner))
            element = run_elements(self.m, node, (first, first.kind == "loader"), run)
            return AbstractValue("sequence", element=element)
        if callee.kind == "api" and callee.ref in ("float", "int", "str") and inner[0].kind == "tensor":
            self.reads.host(node, inner[0], "item", str(callee.ref), args.node(1))
            return AbstractValue("sequence", element=NUMBER)
        if callee.kind == "api" and callee.ref == "len":
            return AbstractValue("sequence", element=self._len(inner[0], node))
        return AbstractValue("sequence", element=TOP)


def _slice(bounds: list[AbstractValue]) -> AbstractValue:
    """Return what `slice(stop)` and `slice(start, stop, step)` make."""
    ends = bounds if len(bounds) > 1 else [NONE, *bounds]
    return AbstractValue("sequence", items=(*ends, NONE)[:3], trait=Mark.SLICE)


def _rounds(thing: AbstractValue) -> Cause:
    return thing.cause if thing.kind == "sequence" else ""

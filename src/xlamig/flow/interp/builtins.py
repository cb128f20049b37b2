"""Python's own functions: what they read of tensors, and what they give."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.arguments import Args
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
from xlamig.flow.interp.lengths import as_the_longest, is_sorted_by_length, varies
from xlamig.flow.interp.one_rank import OPEN_FILE
from xlamig.flow.interp.reads import SIZES, Reads, sureness
from xlamig.flow.interp.sizes import Sizes
from xlamig.flow.interp.state import State

_RESULTS = {
    **dict.fromkeys(("isinstance", "issubclass", "callable", "hasattr"), BOOL),
    **dict.fromkeys(("id", "hash", "ord"), NUMBER),
    **dict.fromkeys(("open", "input"), FOREIGN),
}


class Builtins:
    def __init__(self, state: State, reads: Reads, sizes: Sizes, costs: Costs) -> None:
        self.m = state
        self.reads, self.sizes, self.costs = reads, sizes, costs

    def call(self, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """Return the value of a call of a builtin, and record what it reads."""
        first = args.get(0) or TOP
        mode = args.get(1, "mode") if name == "open" else None
        if mode is not None and isinstance(mode.const, str) and mode.const.startswith(("w", "x")):
            return FOREIGN.replace(ref=OPEN_FILE)
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
                return self.m.semantics.iterate(first)
            case "print" | "str" | "repr" | "format":
                self._formatted(name, args, node)
                return TEXT if name != "print" else NONE
            case "max" | "min" | "sorted":
                return self._ordered(name, first, args, node)
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
                return made.replace(trait=first.trait, ref=first.ref if first.kind == "loader" else None)
            case "zip" if args.rest is not None and len(args.positional) == 1:
                return self._columns(args.rest)
            case "zip":
                parts = [self.m.semantics.iterate(thing) for thing in args.positional]
                return AbstractValue("sequence", element=sequence(parts))
            case "reversed" | "list" | "tuple" | "iter" | "set":
                return self._copied(name, first)
            case "len":
                return self._len(first, node)
            case "sum":
                return self._sum(first, args, node)
            case "abs" | "round" | "pow":
                return first if first.kind in ("tensor", "number") else NUMBER
            case "dict":
                known = first.fields or {} if first.kind == "mapping" else {}
                return AbstractValue("mapping", fields={**known, **args.keywords}, ref=self.m.birth)
            case "getattr":
                return self._getattr(first, args, node)
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
            cause: Cause = "read" if sureness(first) else ""
            return AbstractValue("number", sure=first.sure, cause=cause, why=first.why)
        if first.kind == "number":
            folded = isinstance(first.const, int | float)
            return (
                first.replace(const=int(first.const) if name == "int" else float(first.const))
                if folded
                else first
            )
        return NUMBER

    def _formatted(self, name: str, args: Args, node: ir.Call) -> None:
        for arg, thing in args.pairs:
            if arg.keyword is None:
                self.reads.formatted(arg.value, thing, name, node)

    def _ordered(self, name: str, first: AbstractValue, args: Args, node: ir.Call) -> AbstractValue:
        """`max(a, b)`: a tensor's comparison is read to choose."""
        things = args.positional if len(args.positional) > 1 else [self.m.semantics.iterate(first)]
        if first.kind == "tensor" and len(args.positional) == 1:
            things = [first]
        if is_sorted_by_length(args, self.m):
            return self._by_length(name, things[0])
        tensors = [t for t in things if t.kind == "tensor"]
        pair = len(args.positional) == len(tensors) == 2 and not args.keywords
        alike = pair and tensors[0].place == tensors[1].place
        self.m.prove(node, two_scalars=alike and all(t.scalar for t in tensors))
        if tensors:
            surest = max(tensors, key=sureness)
            position = next(i for i, thing in enumerate(things) if thing is surest)
            self.reads.host(node, surest, "builtin", name, _written(args.node(position)))
            return tensors[0] if name != "sorted" else AbstractValue("sequence", element=tensors[0])
        if name == "sorted" and first.kind == "mapping":
            return AbstractValue("sequence", element=TEXT)
        if name == "sorted":
            return AbstractValue("sequence", element=things[0]) if first.kind == "sequence" else FOREIGN
        if name == "max" and len(args.positional) == 1:
            of_lengths = first.kind == "foreign" and first.trait is Mark.LENGTHS
            given = AbstractValue("number", trait=Mark.LENGTH) if of_lengths else things[0]
            longest = self.sizes.longest(given, node, args.node(0))
            if longest is not None:
                return longest
        running = self.sizes.running(things, node) if name == "max" else None
        if running is not None:
            return running
        for thing in things:
            if thing.kind == "number" and thing.cause:
                if name == "max" and thing.cause == "derived" and len(args.positional) == 1:
                    self.reads.sized(node, node, thing, LIKELY, name)  # what they are padded to
                return thing.replace(const=TOP.const)
        return NUMBER if all(t.kind in ("number", "bool") for t in things) else TOP

    def _columns(self, row: AbstractValue) -> AbstractValue:
        """Return what `zip(*rows)` gives."""
        if row.items:
            return sequence([AbstractValue("sequence", element=item) for item in row.items])
        column = AbstractValue("sequence", element=self.m.semantics.iterate(row))
        return AbstractValue("sequence", element=column)

    def _by_length(self, name: str, element: AbstractValue) -> AbstractValue:
        """Return the samples in the order of their lengths, the longest, or the shortest."""
        if name == "sorted":
            return AbstractValue("sequence", element=element, trait=Mark.BY_LENGTH)
        return as_the_longest(element) if name == "max" and self.m.batching else element

    def _range(self, args: Args, node: ir.Call) -> AbstractValue:
        for i, thing in enumerate(args.positional):
            if thing.kind == "tensor":
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
            return AbstractValue("sequence", items=first.items or (), element=first.element, trait=Mark.SET)
        if first.kind in ("sequence", "loader"):
            return first.replace(trait=None) if first.trait is Mark.APPENDED else first
        if first.kind == "tensor":
            return AbstractValue("sequence", element=self.m.semantics.iterate(first))
        if first.kind == "parameters":
            return first
        if first.kind == "mapping":
            return AbstractValue("sequence", element=TEXT)
        if first.kind == "unknown" and name in ("list", "tuple", "set"):
            return AbstractValue("sequence", items=()) if first is TOP else TOP
        return FOREIGN if first.kind == "foreign" else TOP

    def _len(self, first: AbstractValue, node: ir.Call) -> AbstractValue:
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
        return NUMBER if held.kind in ("number", "bool") else TOP

    def _getattr(self, first: AbstractValue, args: Args, node: ir.Call) -> AbstractValue:
        name = args.get(1)
        if name is not None and isinstance(name.const, str):
            return self.m.semantics.attribute(first, name.const, node)
        return TOP

    def _map(self, args: Args, node: ir.Call) -> AbstractValue:
        """`map(f, xs)`: the function is called with an element of each."""
        if len(args.positional) < 2:
            return TOP
        callee = args.positional[0]
        if callee.kind == "api" and callee.ref in ("list", "tuple") and args.positional[1].items:
            return args.positional[1]
        inner = [self.m.semantics.iterate(thing) for thing in args.positional[1:]]
        if callee.kind == "function":
            return AbstractValue("sequence", element=self.m.semantics.reach(callee, node, Args(inner)))
        if callee.kind == "api" and callee.ref in ("float", "int", "str") and inner[0].kind == "tensor":
            self.reads.host(node, inner[0], "item", str(callee.ref), args.node(1))
            return AbstractValue("sequence", element=NUMBER)
        if callee.kind == "api" and callee.ref == "len":
            return AbstractValue("sequence", element=self._len(inner[0], node))
        return AbstractValue("sequence", element=TOP)


def _rounds(thing: AbstractValue) -> Cause:
    return thing.cause if thing.kind == "sequence" else ""


def _written(node: ir.Expr | None) -> ir.Expr | None:
    """Return the expression of a value, of values that are written as a list that of the first."""
    return node.elements[0] if isinstance(node, ir.Sequence) and node.elements else node

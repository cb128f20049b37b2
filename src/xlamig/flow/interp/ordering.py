"""Calls that compare the elements of a container: `max`, `min`, `sorted`, `list.sort`, and `filter`."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import (
    FOREIGN,
    LIKELY,
    NUMBER,
    TEXT,
    TOP,
    AbstractValue,
    Mark,
)
from xlamig.flow.interp.lengths import as_the_longest, is_sorted_by_length
from xlamig.flow.interp.number_origins import longest_of_lengths
from xlamig.flow.interp.reads import Reads, sureness
from xlamig.flow.interp.sizes import Sizes
from xlamig.flow.interp.state import State


class Ordering:
    def __init__(self, state: State, reads: Reads, sizes: Sizes) -> None:
        self.m = state
        self.reads, self.sizes = reads, sizes

    def call(self, name: str, first: AbstractValue, args: Args, node: ir.Call) -> AbstractValue:
        """Return the value of `max(a, b)`: a tensor's comparison is read to choose."""
        if name == "filter":
            return self._filtered(args, node)
        things = args.positional if len(args.positional) > 1 else [self.m.semantics.iterate(first)]
        if first.kind == "tensor" and len(args.positional) == 1:
            things = [first]
        if is_sorted_by_length(args, self.m):
            return self._by_length(name, things[0])
        if _key(args) is not None:
            self._by_key(name, things, args, node)
            return self._chosen(name, first, things)
        tensors = [t for t in things if t.kind == "tensor"]
        pair = len(args.positional) == len(tensors) == 2 and not args.keywords
        alike = pair and tensors[0].place == tensors[1].place
        self.m.prove(node, two_scalars=alike and all(t.scalar for t in tensors))
        if tensors:
            self._compared(name, things, args, node)
            greatest = name == "max" and longest_of_lengths(self.m, node)
            one = tensors[0].replace(trait=Mark.LONGEST, shape=()) if greatest else tensors[0]
            return one if name != "sorted" else AbstractValue("sequence", element=one)
        self._compared(name, [_decides(thing) for thing in things], args, node)
        if name == "sorted":
            return self._chosen(name, first, things)
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

    def in_place(self, owner: AbstractValue, args: Args, node: ir.Call) -> None:
        """Record what `xs.sort(key=...)` reads."""
        things = [self.m.semantics.iterate(owner)]
        if _key(args) is not None:
            self._by_key("list.sort", things, args, node)
        else:
            self._compared("list.sort", [_decides(thing) for thing in things], Args(), node)

    def _filtered(self, args: Args, node: ir.Call) -> AbstractValue:
        """`filter(f, xs)`: what the function returns for an element decides."""
        if len(args.positional) != 2:
            return TOP
        element = self.m.semantics.iterate(args.positional[1])
        if args.positional[0].kind == "function":
            answer = self.m.semantics.reach(args.positional[0], node, Args([element]))
            self.reads.host(node, answer, "truth", "filter", _written(args.node(0)))
        return AbstractValue("sequence", element=element)

    def _by_key(self, name: str, things: list[AbstractValue], args: Args, node: ir.Call) -> None:
        """Run the function that gives what to compare, and record the read of what it returns."""
        key = _key(args)
        if key is None or key.kind != "function":
            return
        compared = _decides(self.m.semantics.reach(key, node, Args(things[:1])))
        self.m.prove(node, by_key=True)
        self.reads.host(node, compared, "builtin", name, _written(args.node(-1, "key")))

    def _compared(self, name: str, things: list[AbstractValue], args: Args, node: ir.Call) -> None:
        tensors = [thing for thing in things if thing.kind == "tensor"]
        if tensors:
            surest = max(tensors, key=sureness)
            position = next(i for i, thing in enumerate(things) if thing is surest)
            self.reads.host(node, surest, "builtin", name, _written(args.node(position)))

    def _chosen(self, name: str, first: AbstractValue, things: list[AbstractValue]) -> AbstractValue:
        """Return the elements in an order, or one of them."""
        if name != "sorted":
            return things[0] if len(things) == 1 else TOP
        if first.kind == "mapping":
            return AbstractValue("sequence", element=TEXT)
        return (
            AbstractValue("sequence", element=things[0]) if first.kind in ("sequence", "tensor") else FOREIGN
        )

    def _by_length(self, name: str, element: AbstractValue) -> AbstractValue:
        """Return the samples in the order of their lengths, the longest, or the shortest."""
        if name == "sorted":
            return AbstractValue("sequence", element=element, trait=Mark.BY_LENGTH)
        return as_the_longest(element) if name == "max" and self.m.batching else element


def _key(args: Args) -> AbstractValue | None:
    key = args.keywords.get("key")
    return None if key is None or key.kind == "none" else key


def _decides(thing: AbstractValue) -> AbstractValue:
    """Return what a comparison looks at first: of a tuple, its first element."""
    return thing.items[0] if thing.kind == "sequence" and thing.items else thing


def _written(node: ir.Expr | None) -> ir.Expr | None:
    """Return the expression of a value: of a list that of the first element, of a function that of its
    result."""
    match node:
        case ir.Sequence(elements=(first, *_)):
            return first
        case ir.Lambda(body=body):
            return body
    return node

"""Report the costs of tensor operations: data-dependent shapes, growing results, baked-in numbers."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import ChangingConstant, ChangingShape, DynamicShape
from xlamig.flow.interp.apart import record_picked_apart
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import (
    LIKELY,
    MISSING,
    POSSIBLE,
    TOP,
    AbstractValue,
    Carried,
    Grown,
    Made,
    Mark,
    Picked,
    element_of,
)
from xlamig.flow.interp.fixed_masks import fixed_mask
from xlamig.flow.interp.frames import STEPS
from xlamig.flow.interp.named_lengths import number_of_sample
from xlamig.flow.interp.number_origins import cause_of_read
from xlamig.flow.interp.reads import VALUE_SIZES, Reads, sureness
from xlamig.flow.interp.sizes import Sizes
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.known import short
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table

_ROWS = (0, None, MISSING)


class Costs:
    def __init__(self, state: State, reads: Reads, sizes: Sizes) -> None:
        self.m = state
        self.reads, self.sizes = reads, sizes

    def of(
        self,
        name: str,
        last: str,
        owner: AbstractValue | None,
        args: Args,
        node: ir.Call,
        result: AbstractValue,
    ) -> None:
        """Record what an operation costs: graph breaks, falls back to the CPU, dynamic shapes."""
        plain = last.rstrip("_")
        first = owner if owner is not None else args.get(0, "input")
        if first is not None and first.kind == "tensor" and sureness(first):
            self._dynamic(name, plain, owner, first, args, node)
        if plain in table.names("torch", "concat"):
            self._grows(name, args, node, result)
        if plain in ("index_add", "scatter_add", "index_copy"):
            self.m.effects.add(Effect.ADD_ROWS)
        if plain in table.names("torch", "indexed"):
            self._follows(name, args)
            record_picked_apart(self.m, name, owner, args, node)
        if plain in table.names("torch", "stack"):
            self.stacked(name, args.get(0, "tensors") or TOP, args, node)
        if plain == "pad" and first is not None and isinstance(first.trait, Carried):
            self._mark(result, first, name, node)
        self._numbers(name, plain, owner, args, node, result)

    def _dynamic(
        self,
        name: str,
        plain: str,
        owner: AbstractValue | None,
        first: AbstractValue,
        args: Args,
        node: ir.Call,
    ) -> None:
        rest = args.all if owner is not None else args.all[1:]
        via, sure = "", sureness(first)
        if plain in table.names("torch", "nonzero") or (plain == "where" and not rest):
            via = "nonzero"
        elif plain in table.names("torch", "unique"):
            via = "unique"
        elif plain == "masked_select":
            via = "mask-read"
        elif plain == "masked_scatter":
            via = "masked-scatter"
        elif plain == "repeat_interleave" and rest and rest[0].kind == "tensor" and sureness(rest[0]):
            via, sure = "repeat", min(sure, sureness(rest[0]))  # a number of repeats is static
        if not via:
            return
        at = node.func.value if owner is not None and isinstance(node.func, ir.Attribute) else args.node(0)
        mask = args.node(0 if owner is not None else 1) if via in ("mask-read", "masked-scatter") else None
        if via == "unique":  # a length that is given, which the values do not exceed
            mask = next((arg.value for arg in node.args if arg.keyword == "minlength"), None)
        self.m.read(Effect.SELECT)
        decides = {"nonzero": at, "mask-read": mask}.get(via)
        self.m.record(
            DynamicShape,
            node,
            sure,
            first.why,
            via=via,
            operation=name,
            tensor=short(self.m.source(at)) if at is not None else "",
            mask=short(self.m.source(mask)) if mask is not None else "",
            source=self.reads.elements.tensor(at) if via == "nonzero" and at is not None else "",
            fixed=decides is not None and fixed_mask(self.m, decides),
        )

    def _follows(self, name: str, args: Args) -> None:
        """An index with as many elements as values say: so many are taken, or written."""
        for arg, thing in args.pairs:
            if thing.kind == "tensor" and thing.cause == "dynamic" and sureness(thing):
                self.reads.followed(arg.value, thing, name)
                return

    @staticmethod
    def is_dynamic(plain: str, rest: list[AbstractValue]) -> bool:
        """Return whether the shape of a result depends on values; `rest` are the further arguments."""
        if plain == "where":
            return not rest
        return plain in table.names("torch", "nonzero") | table.names("sizes", "by-values")

    def _grows(self, name: str, args: Args, node: ir.Call, result: AbstractValue) -> None:
        given = args.get(0, "tensors")
        if given is None or given.kind != "sequence":
            return
        held = given.items or ((given.element,) if given.element else ())
        for item in held:
            if item.kind not in ("tensor", "unknown"):
                continue
            if isinstance(item.trait, Carried) or (isinstance(item.trait, Picked) and _is_across(args)):
                self._mark(result, item, name, node)
                known = max((part.sure for part in held if part.kind == "tensor"), default=POSSIBLE)
                result.sure = max(result.sure, min(known, LIKELY))  # what is joined with tensors is one

    def _mark(self, result: AbstractValue, carried: AbstractValue, name: str, node: ir.Call) -> None:
        assert isinstance(carried.trait, Carried | Picked)
        result.trait = Grown(carried.trait.name)
        result.loop = carried.loop
        result.ref = Made(node, self.m.statement, name)

    def stacked(self, name: str, given: AbstractValue, args: Args, node: ir.Call) -> None:
        """A list that grows from round to round is stacked in each of them."""
        if given.kind != "sequence" or given.trait is not Mark.GROWS or element_of(given).kind != "tensor":
            return
        sure = sureness(element_of(given))
        active = any(loop.id == given.loop and loop.kind in STEPS for loop in self.m.loops)
        if sure and (active if given.loop else self.m.frequency == "step"):
            self.m.record(
                ChangingShape,
                node,
                sure,
                element_of(given).why,
                via="list",
                operation=name,
                cause="length",
                tensor=short(self.m.source(args.pairs[0][0].value)) if args.pairs else "",
            )

    def _numbers(
        self,
        name: str,
        plain: str,
        owner: AbstractValue | None,
        args: Args,
        node: ir.Call,
        result: AbstractValue,
    ) -> None:
        """Numbers that are baked into the graph, and tensors where a number has to be."""
        place = result if result.kind == "tensor" else element_of(result)
        sure = sureness(place)
        baked = table.number_arguments(plain)
        free = table.number_arguments(plain, "baked") or ()
        known = signatures.signature(name)
        parameters = (known.positional or known.keywords) if known is not None else ()
        read = table.number_arguments(plain, "read-as-number") or ()
        of_numbers = plain in table.names("torch", "of-numbers")
        first = table.number_first(plain, len(args.positional) - (owner is None))  # `w.add_(rate, step)`
        told: set[str] = set()
        if args.starred and not sure and baked is not None and "*" in baked:  # `x.new(*shape)`
            for item in args.positional:
                self._sized(result, item, name, node)
        for i, (arg, thing) in enumerate(args.pairs):
            counted = not args.starred and i < len(parameters)
            parameter = arg.keyword or (parameters[i] if counted else "*")
            any_place = arg.keyword is None and (known is None or parameter not in known.tensors)
            wanted = baked is not None and (parameter in baked or ("*" in baked and any_place))
            if i == 0 and owner is None and _is_only_method(plain):  # `einops.repeat(x, ...)`
                wanted = False
            takes_number = parameter in read or (first and arg is args.pairs[owner is None][0])
            number = wanted or takes_number
            for part, item in self._parts(arg.value, thing):
                plainly = item.scalar or of_numbers or takes_number or _stands_for_number(plain, item)
                here = number and item.kind == "tensor" and plainly
                if here:
                    self.reads.host(part, item, "number", name)
                    if wanted and sureness(item) > POSSIBLE:
                        cause = cause_of_read(self.m, part, item, sureness(item))
                        item = AbstractValue("number", cause=cause, sure=item.sure, why=item.why)
                if wanted and not sure:
                    self._sized(result, item, name, node)
                if wanted and sure:
                    item = number_of_sample(self.m, part, item, False) or item
                if (wanted or parameter in free) and sure and item.kind == "number":
                    if item.cause not in told:  # `arange(n, n + 1)` is one program for each n
                        self._baked(part, item, name, sure, "here" if here else "")
                    told.add(item.cause)
                    if of_numbers and item.cause in VALUE_SIZES | {"batch"} and item.sure > POSSIBLE:
                        result.cause = "dynamic"

    def _sized(self, result: AbstractValue, item: AbstractValue, name: str, node: ir.Call) -> None:
        """Take over from a size, a number or a 0-d tensor of the host, that it differs between batches."""
        number = self.sizes.read(item, node) if item.kind == "tensor" else item
        if number is not None:
            self.sizes.sized(result, number, name, node)

    @staticmethod
    def _parts(node: ir.Expr, thing: AbstractValue) -> list[tuple[ir.Expr, AbstractValue]]:
        if (
            isinstance(node, ir.Sequence)
            and thing.items is not None
            and len(thing.items) == len(node.elements)
        ):
            return list(zip(node.elements, thing.items, strict=True))
        return [(node, element_of(thing) if thing.kind == "sequence" else thing)]

    def _baked(self, part: ir.Expr, item: AbstractValue, name: str, sure: int, read: str) -> None:
        if item.kind != "number" or not item.cause:
            return
        text = short(self.m.source(part))
        if item.cause in VALUE_SIZES:
            self.reads.sized(part, part, item, sure, operation=name, read=read)
            return
        self.reads.changing(
            part,
            item.replace(sure=min(sure, item.sure)),
            ChangingConstant,
            via="attribute",
            operation=name,
            number=text,
        )


def _stands_for_number(plain: str, item: AbstractValue) -> bool:
    """Return whether a tensor whose shape is not known has one element because it is given as a number:
    anything else raises there, unless the function makes a tensor of data as well."""
    known = item.shape is not None or item.loose or sureness(item) <= POSSIBLE
    return not known and plain not in table.names("torch", "of-data-or-size")


def _is_only_method(plain: str) -> bool:
    """Return whether torch has a method of this name and no function, so that a function of the name is
    another library's, and gets the tensor as its first argument."""
    methods = signatures.signature(f"Tensor.{plain}")
    return methods is not None and signatures.signature(f"torch.{plain}") is None


def _is_across(args: Args) -> bool:
    """Return whether tensors are joined along another dimension than that of the rows."""
    dim = args.get(1, "dim") or args.keywords.get("axis")
    return dim is not None and dim.const not in _ROWS

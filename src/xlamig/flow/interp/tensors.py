"""Operations on tensors: what comes out, where it is, and what it costs."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import Transfer
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.costs import Costs
from xlamig.flow.interp.domain import (
    BOOL,
    CERTAIN,
    DEVICE,
    FOREIGN,
    LIKELY,
    MISSING,
    NONE,
    NUMBER,
    POSSIBLE,
    TEXT,
    TOP,
    AbstractValue,
    Cause,
    Grown,
    Mark,
    Residence,
    element_of,
    join_place,
    sequence,
)
from xlamig.flow.interp.domain.shapes import UNKNOWN
from xlamig.flow.interp.gradient_hooks import run_gradient_hook
from xlamig.flow.interp.kept import result_trait
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.number_origins import cause_of_read
from xlamig.flow.interp.on_host import computed_const, made_of, made_on_host, written
from xlamig.flow.interp.one_rank import note_updated
from xlamig.flow.interp.operand_checks import checks
from xlamig.flow.interp.reads import SIZES, Reads, keeps, sureness
from xlamig.flow.interp.receivers import record_receiver
from xlamig.flow.interp.results import (
    gives_several,
    is_whole,
    makes_of_none,
    of_unknown_method,
    result_dtype,
    result_shape,
    size_of,
    sizes_of,
)
from xlamig.flow.interp.sizes import Sizes
from xlamig.flow.interp.state import State
from xlamig.flow.interp.transfers import Transfers
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table
from xlamig.knowledge.results import result_of

_NO_RESULT = {
    "number": NUMBER,
    "bool": BOOL,
    "text": TEXT,
    "none": NONE,
    "dtype": AbstractValue("dtype"),
    "device": DEVICE,
}
_MOVES = frozenset({"to", "cuda", "xla", "type", "type_as"})


class Tensors:
    def __init__(self, state: State, reads: Reads, costs: Costs, sizes: Sizes, moves: Moves) -> None:
        self.m = state
        self.reads, self.costs, self.sizes, self.moves = reads, costs, sizes, moves
        self.transfers = Transfers(state, reads, sizes)

    def method(self, owner: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """Return the value of a call of a tensor's method."""
        assert isinstance(node.func, ir.Attribute)
        record_receiver(self.m, owner, name, node)
        via = table.read_by("methods", name)
        if via:
            return self._read(owner, name, via, node)
        if name in _MOVES:
            return self.transfers.move(owner, name, args, node)
        if name == "backward":
            self.m.effects.add(Effect.BACKWARD)
            self.m.work(owner.place)
            return NONE
        if name in ("register_hook", "register_post_accumulate_grad_hook"):
            self.moves.marked(owner, "hook", node)
            run_gradient_hook(self.m, owner, args, node)
            return TOP
        note_updated(self.m, node.func.value, owner, name)
        if name == "copy_":
            return self.transfers.record_copy(owner, args, node)
        if name in ("size", "dim", "numel", "nelement", "__len__"):
            return self._size(owner, name, args)
        if owner.loose and name in ("items", "keys", "values"):
            parts = {"items": sequence((TEXT, owner)), "values": owner, "keys": TEXT}
            return AbstractValue("sequence", element=parts[name])
        if owner.loose and name in ("pop", "get"):
            default = args.positional[1] if len(args.positional) > 1 else NONE
            return default.replace(const=MISSING) if default.kind in ("number", "bool", "text") else owner
        known = signatures.signature(f"Tensor.{name}")
        if known is None:
            return of_unknown_method(owner) if owner.loose else TOP
        if known.returns and "tensor" not in known.returns and "tensors" not in known.returns:
            for kind, thing in _NO_RESULT.items():
                if kind in known.returns:
                    return thing
            return TOP
        result = self.operation(f"Tensor.{name}", name, owner, args, node)
        if name.endswith("_") and not name.startswith("_"):
            path = path_of(node.func.value)
            resized = name in table.names("torch", "resizing")
            owner = written(self.m, path, owner, args.all)
            result = result.replace(shape=result.shape if resized else owner.shape)
            same = (result.place, result.shape, result.const) == (owner.place, owner.shape, owner.const)
            if path and (not same or owner.trait is Mark.SORTED_INDEX):  # that has its own value now
                self.m.put(path, result)
            return result.replace(source=owner.source)
        return result

    def _read(self, owner: AbstractValue, name: str, via: str, node: ir.Call) -> AbstractValue:
        assert isinstance(node.func, ir.Attribute)
        if via != "copy" or name == "cpu":
            inner = node.func.value
            self.reads.host(node, owner, via, f"Tensor.{name}", inner)
        if name == "cpu":
            return owner.replace(place="host", sure=CERTAIN, trait=None, const=MISSING, why=())
        if name == "numpy":
            self.reads.array(node.func.value, owner, "Tensor.numpy")
            return FOREIGN
        if via in ("truth", "builtin"):
            return BOOL
        cause = cause_of_read(self.m, node.func.value, owner, sureness(owner))
        number = self.sizes.read(owner, node) or AbstractValue(
            "number", sure=owner.sure, cause=cause, why=owner.why
        )
        return (
            number
            if name != "tolist" or owner.scalar
            else AbstractValue("sequence", element=number, cause="")
        )

    def _size(self, owner: AbstractValue, name: str, args: Args) -> AbstractValue:
        known = size_of(owner, args.positional[0].const) if name == "size" and args.positional else None
        if known is not None:
            return known
        if name == "size" and not args.all and owner.shape is not None:
            return sizes_of(owner)
        cause: Cause = SIZES.get(owner.cause, "") if name != "dim" else ""
        if name == "size" and args.positional and keeps(cause, args.positional[0].const):
            cause = ""
        number = AbstractValue(
            "number", cause=cause, loop=owner.loop if cause else 0, sure=owner.sure, why=owner.why
        )
        if name == "size" and owner.trait is Mark.LONGEST and not owner.cause:
            number = number.replace(cause="batch", sure=LIKELY, trait=Mark.LONGEST)
        elif owner.place == "host" and name != "dim":
            number = number.replace(trait=Mark.LENGTH)
        if name == "size" and not args.all:
            return AbstractValue("sequence", element=number, trait=Mark.SHAPE)
        return number

    # ------------------------------------------------------------------ operations

    def operation(
        self, name: str, last: str, owner: AbstractValue | None, args: Args, node: ir.Call
    ) -> AbstractValue:
        """A method, with its `owner`, or a function of torch that computes on tensors."""
        operands = [owner] if owner is not None else []
        first = args.get(0)
        copied = last == "tensor" and first is not None and first.kind == "unknown"
        operands += args.tensors() if not copied else []  # of a list, as a rule
        result = self._result(name, last, owner, operands, args, node)
        held = [one for one in operands if one.kind == "tensor"]
        self.m.prove(
            node,
            **checks(last, node, held, first, self._is_number),
            zero_repeats=last == "repeat" and self.sizes.may_repeat_zero(operands, args),
        )
        if owner is None and not operands:
            result = self._made(last, args, result, node)
        if self.costs.is_dynamic(last, args.all if owner is not None else args.all[1:]):
            dtype = "" if last == "masked_select" else "int"
            result = result.replace(cause="dynamic", shape=None, dtype=dtype)
            tupled = args.keywords.get("as_tuple")
            if last == "where" or (tupled is not None and tupled.const is True):
                result = AbstractValue("sequence", element=result.replace(shape=(UNKNOWN,)))
        result = self.sizes.shaped(result, last, owner, operands, args, node)
        self.costs.of(name, last, owner, args, node, result)
        if last not in ("detach", "requires_grad_"):  # these compute nothing
            self.m.work(result.place if result.kind == "tensor" else element_of(result).place)
        return result

    def _is_number(self, name: str) -> bool:
        return self.m.env.get(name, TOP).kind == "number"

    def _made(self, last: str, args: Args, result: AbstractValue, node: ir.Call) -> AbstractValue:
        """A tensor made of numbers: a leaf, or a constant."""
        grad = args.keywords.get("requires_grad")
        if grad is not None and grad.const is True:
            return result.replace(trait=Mark.LEAF)
        if last in table.names("torch", "constants") and result.place == "host":
            return made_on_host(result, args, last)
        data = args.get(0, "data")
        if last not in ("tensor", "as_tensor") or data is None:
            return result
        if result.place == "device":
            result = result.replace(const=made_of(data))
        if data.kind != "sequence" or not data.items:
            return result
        numbers = [item for part in data.items for item in (part.items or (part,))]
        if not all(n.kind in ("number", "bool") and isinstance(n.const, int | float) for n in numbers):
            return result
        if result.place == "device" and self.m.frequency == "step":
            name = f"torch.{last}"
            self.m.record(
                Transfer, node, LIKELY, (), via="constant", operation=name, tensor=short(self.m.source(node))
            )
        return made_on_host(result, args) if result.place == "host" else result

    def _result(
        self,
        name: str,
        last: str,
        owner: AbstractValue | None,
        operands: list[AbstractValue],
        args: Args,
        node: ir.Call,
    ) -> AbstractValue:
        place, lead = self._place(last, operands, args)
        plain = last.rstrip("_")
        first = operands[0] if operands else None
        whole = is_whole(owner, args)
        binary = plain in table.names("torch", "extrema") and len(operands) > 1
        shape = result_shape(name, owner, args)
        source = ""
        if plain in table.names("torch", "same-shape") and first is not None:
            where = (
                node.func.value if owner is not None and isinstance(node.func, ir.Attribute) else args.node(0)
            )
            source = first.source or (self.m.source(where) if where is not None else "")
        nan = plain in table.names("torch", "nan-checks")
        kept = plain in table.names("torch", "nan-keeping") and first is not None
        dynamic = any(o.cause == "dynamic" for o in operands) and shape != ()
        carried = result_trait(plain, first)
        result = AbstractValue(
            "tensor",
            place,
            sure=lead.sure if lead is not None else CERTAIN if place else POSSIBLE,
            dtype=result_dtype(name, first, args),
            shape=shape,
            cause="dynamic" if dynamic else "",
            trait=Mark.NAN if nan or (kept and first is not None and first.trait is Mark.NAN) else carried,
            loop=first.loop if first is not None and carried is not None else 0,
            ref=first.ref if first is not None and isinstance(carried, Grown) else None,
            source=source,
            const=computed_const(plain, operands, args if place == "host" else None),
            why=lead.why if lead is not None else (),
        )
        pair = plain in table.names("torch", "sorted-pairs") or not (whole or binary)
        if plain in table.names("torch", "pairs") and pair:
            return sequence((result, result.replace(dtype="int", trait=Mark.SORTED_INDEX)))
        if result_of(name).pair:
            return sequence((result, result))
        if plain == "argsort":
            return result.replace(trait=Mark.SORTED_INDEX)
        if gives_several(name, plain, args):
            return AbstractValue("sequence", element=result.replace(shape=None))
        return result

    def _place(
        self, last: str, operands: list[AbstractValue], args: Args
    ) -> tuple[Residence, AbstractValue | None]:
        """Where the result is, and the operand that says so."""
        given = args.keywords.get("device")
        if given is not None and given.kind != "none":
            if given.kind == "device":  # who names one seldom means the host
                return given.place or "either", given.replace(sure=max(given.sure, LIKELY))
            if given.kind == "text":
                return (given.place or "device"), None
            return "device", AbstractValue("device", "device", sure=LIKELY)
        data = args.get(0, "data")
        if last in ("tensor", "as_tensor") and data is not None and data.kind == "sequence":
            return self.m.default_place, None  # of the elements' values
        place: Residence = ""
        lead: AbstractValue | None = None
        for operand in operands:
            if operand.place == "device" and (lead is None or lead.place != "device"):
                place, lead = "device", operand
            elif place != "device":
                place = join_place(place, operand.place)
                lead = lead or operand
        if not operands and makes_of_none(last):
            place = self.m.default_place
        return place, lead

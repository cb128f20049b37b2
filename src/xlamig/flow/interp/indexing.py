"""`x[i]`, `x[mask]`, `x[a:b] = y`: what an index of a tensor costs."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import ChangingConstant
from xlamig.flow.interp.apart import record_index_apart
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import (
    FOREIGN,
    LIKELY,
    NUMBER,
    POSSIBLE,
    TOP,
    AbstractValue,
    Carried,
    Mark,
    element_of,
    join,
    sequence,
)
from xlamig.flow.interp.elements import prove_positions, read_position, takes_element, takes_number
from xlamig.flow.interp.filled import is_filled_with
from xlamig.flow.interp.fixed_masks import fixed_mask
from xlamig.flow.interp.growth import record_growth_of
from xlamig.flow.interp.host_indices import record_host_indices
from xlamig.flow.interp.host_writes import record_host_write
from xlamig.flow.interp.kept import carried_by_rows, entry_name, is_carried, kept_entry
from xlamig.flow.interp.lengths import as_the_longest
from xlamig.flow.interp.masks import as_compared, as_mask, has_mask, masked_base, record_mask
from xlamig.flow.interp.named_lengths import number_of_sample
from xlamig.flow.interp.on_host import as_entry, picked_const, written
from xlamig.flow.interp.picked_parts import pick_part, record_pick
from xlamig.flow.interp.reads import VALUE_SIZES, Reads, sureness
from xlamig.flow.interp.results import dimension_size, indexed_shape
from xlamig.flow.interp.sizes import Sizes
from xlamig.flow.interp.slices import Slices, bounds_of, keeps_dimension, unpacked
from xlamig.flow.interp.state import State
from xlamig.flow.interp.written_in_loops import is_read_again
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table

_UNKNOWN = ("unknown", "none")


class Indexing:
    def __init__(self, state: State, reads: Reads, sizes: Sizes) -> None:
        self.m = state
        self.reads, self.sizes = reads, sizes
        self.slices = Slices(state)

    def read(self, node: ir.Subscript, base: AbstractValue) -> AbstractValue:
        """Return the value of `base[index]`."""
        node, base, index = self._parts(node, base)
        match base.kind:
            case "tensor":
                return self._tensor(node, base, index)
            case "sequence":
                return self._element(node, base, index)
            case "mapping":
                return self._value(node, base, index[0].const)
            case "module":
                return pick_part(self.m, self.reads, node, base, index[0])
            case "dataset":
                return AbstractValue("tensor", "host", sure=LIKELY, loose=True)
            case "instance":
                method = self.m.semantics.method_of(base, "__getitem__")
                return self.m.semantics.call(method, Args(index), None) if method is not None else TOP
            case "foreign":
                return FOREIGN
            case "text":
                return base.replace(const=TOP.const)
        if base.kind == "unknown" and (base.place or base.trait is Mark.LONGEST):
            return base
        if index and index[0].kind == "tensor" and index[0].scalar:
            self.reads.host(node.index[0], index[0], "number", "index")
        return self._entry(node, base, index[0].const) if base.kind in _UNKNOWN else TOP

    def _parts(
        self, node: ir.Subscript, base: AbstractValue
    ) -> tuple[ir.Subscript, AbstractValue, list[AbstractValue]]:
        """Return a subscript, what is indexed, a tensor if a mask indexes it, and the indices."""
        index = [self.sizes.bounded(as_compared(base, self.m.semantics.evaluate(p)), p) for p in node.index]
        prove_positions(self.m, node, base, index)
        if base.kind == "unknown" and has_mask(index):
            base = masked_base(base)
        if base.kind == "tensor":
            node, index = unpacked(node, index)
        return node, base, index

    def _value(self, node: ir.Subscript, base: AbstractValue, key: object) -> AbstractValue:
        """Return the value of a mapping under a key; a tensor kept there remembers it."""
        found = base.fields.get(key) if base.fields is not None and isinstance(key, str) else None
        stored = self.m.env.get(f"{path_of(node.value)}[{key!r}]")  # in this call, so not by an earlier step
        found = found or stored
        if found is None:
            found = base.element or TOP if base.fields and isinstance(key, str) else element_of(base)
        if stored is not None or self.m.frequency != "step" or base.ref == self.m.birth:
            return found
        if found.kind == "tensor" and found.trait is None and isinstance(key, str):
            return found.replace(trait=Carried(f".{key}"))
        return self._entry(node, base, key) if found.kind in _UNKNOWN else found

    def _entry(self, node: ir.Subscript, base: AbstractValue, key: object = None) -> AbstractValue:
        """Return an entry that was given in this call, or of which perhaps only that it is kept is known."""
        given = self.m.env.get(f"{path_of(node.value)}[{key!r}]") if isinstance(key, str) else None
        return given or kept_entry(self.m, node.value, base, key) or TOP

    def _element(self, node: ir.Subscript, base: AbstractValue, index: list[AbstractValue]) -> AbstractValue:
        part, first = node.index[0], index[0]
        if isinstance(part, ir.Slice):
            read_position(self.reads, node, first)
            start = first.items[0].const if first.items else None
            if base.trait is Mark.SHAPE and start not in (None, 0):
                return AbstractValue("sequence", element=dimension_size(base, start), trait=Mark.SHAPE_REST)
            return AbstractValue("sequence", element=element_of(base), cause=base.cause)
        items, at = base.items, first.const
        if items is not None and isinstance(at, int) and -len(items) <= at < len(items):
            return items[at]
        read_position(self.reads, node, first)
        if base.trait is Mark.SHAPE:
            return dimension_size(base, first.const)
        held = element_of(base)
        if held.kind == "module":
            record_pick(self.m, node, first)
        if base.trait is Mark.BY_LENGTH and first.const in (0, -1) and self.m.batching:
            return as_the_longest(held)
        if held.kind in _UNKNOWN and base.trait is None:
            return self._entry(node, base)
        if held.kind == "tensor" and held.trait is None and (kept := kept_entry(self.m, node.value, base)):
            return held.replace(trait=kept.trait)
        return held if base.element is not None or base.items is not None else TOP

    def _tensor(self, node: ir.Subscript, base: AbstractValue, index: list[AbstractValue]) -> AbstractValue:
        if takes_number(self.reads, node, base):
            return NUMBER
        key = index[0].const
        if base.loose and isinstance(key, str):
            if isinstance(base.trait, Carried):
                return base.replace(trait=Carried(f".{key}"))
            # Of a mapping that nobody knows, `out["num_frames"]` and `batch["text"]` are seldom tensors.
            return base.replace(sure=POSSIBLE) if table.name_like("python-entry").search(key) else base
        masked = self._costs(node, base, index, "read")
        scalar = takes_element(base, index, path_of(node.value), self.m.analysis.text)
        kept = list(map(keeps_dimension, node.index, index))
        if is_carried(base) and not any(kept):  # a part of a tuple that an earlier step returned
            return base
        shape = () if scalar else indexed_shape(base.shape, index)
        result = base.replace(
            dtype="" if base.dtype == "int" and sum(kept) > 1 else base.dtype,  # rows are no numbers
            shape=shape,
            cause="dynamic" if masked else base.cause if shape != () else "",
            sure=min(base.sure, LIKELY) if scalar else base.sure,
            loose=base.loose and not all(kept) and len(index) == 1,
            trait=None if masked or shape == () else carried_by_rows(base, index),
            source="",
            ref=None,
            const=picked_const(base, index),
        )
        return self.sizes.picked(base, result, index, node)

    def write(
        self,
        target: ir.Subscript,
        base: AbstractValue,
        thing: AbstractValue,
        value: ir.Expr | None,
        operator: str,
    ) -> None:
        """Record the write of a value to `base[index]`, and let the base hold it."""
        target, base, index = self._parts(target, base)
        name = path_of(target.value)
        if base.kind == "tensor":
            if base.loose and isinstance(base.trait, Carried):  # a container of tensors
                record_growth_of(self.m, thing, entry_name(target.value, base, index[0].const))
            self._costs(target, base, index, "write", thing, value, operator)
            record_host_write(self.m, self.reads, target, base, index, value, thing)
            moved = thing.kind == "tensor" and thing.place == "device"
            base = written(self.m, name, base, (thing, *index))
            if name and ((moved and base.place == "") or base.on_host):
                self.m.put(name, base.replace(place=base.place or "device", const=TOP.const))
            elif name and moved and base.loose and base.place == "host":  # its parts are moved one by one
                self.m.put(name, base.replace(place="either"))
            return
        if base.kind == "sequence":
            read_position(self.reads, target, index[0])
        if not name:
            return
        key, thing = index[0].const, as_entry(thing, value)
        record_growth_of(self.m, thing, entry_name(target.value, base, key))
        if base.kind == "mapping":
            if isinstance(key, str):
                self.m.put(f"{name}[{key!r}]", thing)
                if base.fields is not None or base.element is not None:
                    self.m.put(name, base.replace(fields={**(base.fields or {}), key: thing}))
                    return
            joined = thing if not base.fields and base.element is None else None
            self.m.put(name, AbstractValue("mapping", element=joined or thing, ref=base.ref))
        elif base.kind == "unknown" and isinstance(key, str):
            path = f"{name}[{key!r}]"
            if thing.kind == "tensor" or path in self.m.env:
                self.m.put(path, thing if thing.kind == "tensor" else TOP)
        elif base.kind == "sequence" and not operator:
            items = base.items
            if items is not None and isinstance(key, int) and -len(items) <= key < len(items):
                changed = list(items)
                changed[key] = thing
                self.m.put(name, sequence(changed).replace(trait=base.trait))
            elif is_filled_with(base, thing):
                held = join(element_of(base), thing)
                self.m.put(name, base.replace(items=None, element=held, const=TOP.const))

    # ------------------------------------------------------------------ costs

    def _costs(
        self,
        node: ir.Subscript,
        base: AbstractValue,
        index: list[AbstractValue],
        access: str,
        thing: AbstractValue | None = None,
        value: ir.Expr | None = None,
        operator: str = "",
    ) -> bool:
        """Records what the index costs; whether the shape depends on values."""
        masked = False
        record_index_apart(self.m, node, base, index)
        for part, value_at in zip(node.index, index, strict=True):
            if (number := number_of_sample(self.m, part, value_at, False)) is not None:
                self._changing(part, number, node, base, access, "index")
            found = as_mask(self.m, part, value_at, node.value)
            if found.trait is Mark.SLICE:
                masked |= self._slice(part, found, node, base, access)
            elif found.kind == "tensor" and found.dtype == "bool":
                fixed = fixed_mask(self.m, part)
                masked |= min(sureness(base), sureness(found)) > POSSIBLE and not fixed
                record_mask(self.m, node, part, base, found, index, access, thing, value, operator, fixed)
            elif found.kind == "tensor" and found.scalar and found.place == "host":
                self._changing(part, self.sizes.read(found, part) or NUMBER, node, base, access, "index")
            elif found.kind == "tensor" and found.scalar:
                self._read_number(part, found, base, "index")
            elif found.kind == "tensor" and found.cause == "dynamic" and not masked:
                masked = min(sureness(base), sureness(found)) > POSSIBLE
                self.reads.followed(part, found, "[]", short(self.m.source(node.value)))
            elif found.kind == "number":
                self._changing(part, found, node, base, access, "index")
            elif access == "read":
                masked |= record_host_indices(self.m, node, part, found, base)
        return masked

    def _slice(
        self, part: ir.Expr, bounds: AbstractValue, node: ir.Subscript, base: AbstractValue, access: str
    ) -> bool:
        dynamic, ends = False, (bounds.items or ())[:2]
        if isinstance(part, ir.Slice):
            self.slices.record(node, part, base, access)
        via = self.slices.moved(part, ends)
        for bound, found in zip(bounds_of(part), ends, strict=False):
            if (number := number_of_sample(self.m, bound, found, True)) is not None:
                self._changing(bound, number, node, base, access, via)
            if found.kind == "none":
                continue
            if found.kind == "tensor":
                self._read_number(bound, found, base, "slice")
            elif found.cause in VALUE_SIZES and sureness(base):
                dynamic |= min(found.sure, sureness(base)) > POSSIBLE
                tensor = short(self.m.source(node.value))
                self.reads.sized(node, bound, found, sureness(base), operation="slice", tensor=tensor)
            elif found.kind == "number":
                self._changing(bound, found, node, base, access, via)
        return dynamic

    def _read_number(self, part: ir.Expr, found: AbstractValue, base: AbstractValue, operation: str) -> None:
        if base.place != "host" or base.kind != "tensor" or found.place == "device":
            self.reads.host(part, found, "number", operation)

    def _changing(
        self, part: ir.Expr, size: AbstractValue, at: ir.Subscript, base: AbstractValue, access: str, via: str
    ) -> None:
        if not (sure := sureness(base)):
            return
        unneeded = access == "write" and not is_read_again(self.m, at)  # by any graph of the loop
        self.reads.changing(
            part,
            size.replace(sure=min(size.sure, POSSIBLE if unneeded else sure)),
            ChangingConstant,
            via=via,
            access=access,
            operation="[]",
            tensor=short(self.m.source(at.value)),
            number=short(self.m.source(part)),
        )

"""Functions and classes of torch and of the libraries around it, called by their names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from xlamig import ir
from xlamig.facts import Why
from xlamig.flow.interp.arguments import Args, mapped_place
from xlamig.flow.interp.checkpointed import run_checkpointed
from xlamig.flow.interp.collating import dataset_of
from xlamig.flow.interp.conventions import HOST_SIZES
from xlamig.flow.interp.distributions import checking
from xlamig.flow.interp.domain import (
    DEVICE,
    FOREIGN,
    LIKELY,
    NONE,
    NUMBER,
    TOP,
    AbstractValue,
    Clock,
    LibraryObject,
    Made,
    Mark,
    Residence,
    TorchModule,
    element_of,
    join_all,
    join_parameters,
    sequence,
)
from xlamig.flow.interp.frames import functions_of
from xlamig.flow.interp.host_batches import MAKERS, array, sample
from xlamig.flow.interp.kept import as_sparse
from xlamig.flow.interp.layers import with_weight_by
from xlamig.flow.interp.libraries import Libraries, is_array
from xlamig.flow.interp.loader_uses import loader_of
from xlamig.flow.interp.modules import Modules
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.opaque_calls import OpaqueCalls
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.sizes import Sizes
from xlamig.flow.interp.special_calls import SpecialCalls
from xlamig.flow.interp.state import State
from xlamig.flow.interp.tensors import Tensors
from xlamig.flow.interp.transformed import transformed
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import signatures
from xlamig.knowledge import values as table

_EMPTY = AbstractValue("sequence", items=())
_WORDS: dict[str, AbstractValue] = {
    "scheduler": AbstractValue("scheduler"),
    "plateau": AbstractValue("scheduler", trait=Mark.PLATEAU),
    "device-loader": AbstractValue("loader", "device", trait=Mark.DEVICE_LOADER),
    "device": DEVICE,
    "device-tensor": AbstractValue("tensor", "device", sure=LIKELY),
    "none": NONE,
    "number": NUMBER,
    "parameter-list": AbstractValue(
        "sequence", element=AbstractValue("tensor", trait=Mark.PARAMETER), trait=Mark.PARAMETER
    ),
    "ring": AbstractValue("sequence", items=(), trait=Mark.RING),
    "tokenizer": AbstractValue("foreign", trait=LibraryObject("tokenizer")),
    "foreign": FOREIGN,
    "of-numbers": FOREIGN,  # of anything else
}
_ROOTS = ("torch.", "torch_xla.")
_FUNCTIONAL = "torch.nn.functional."


@dataclass(eq=False, slots=True)
class TorchCalls:
    m: State
    reads: Reads
    sizes: Sizes
    tensors: Tensors
    modules: Modules
    opaque: OpaqueCalls
    libraries: Libraries
    moves: Moves
    special: SpecialCalls
    partials: dict[object, AbstractValue] = field(default_factory=dict)

    def call(self, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """Return the value of a call of a function of torch or torch_xla."""
        self.reads.one_rank.record_call(name, args, node)
        if name in table.names("collectives", "results") and args.tensors():
            return self.reads.one_rank.reduced_tensor(args.tensors()[-1], node)
        made = self.special.call(name, args, node) or self.libraries.made(name, args, node)
        if made is not None:
            return made
        if table.makes_arrays(name):
            self.reads.arrays(args, name)
        if table.makes_array_of_list(name):
            self.reads.lists_as_arrays(args, name)
        word = table.result_of(name)
        if word == "partial":
            return self._partial(args, node)
        if name.startswith(("numpy.", "cv2.")) and word in MAKERS:
            return array(self.sizes, word, args, node)
        if word in ("sample", "recording", "recorded-array"):
            return sample(self.sizes, word, node)
        if word and word != "signature":
            return self._by_word(word, name, args, node)
        if name.startswith("torch."):
            return self._by_signature(name, args, node)
        via = table.read_by("functions", name)
        if via:
            for arg, thing in args.pairs:
                self.reads.formatted(arg.value, thing, name, node)
        return self._unknown(name, args, node)

    def _is_global(self, args: Args) -> bool:
        """Return whether what is converted was made when the module was loaded."""
        first = args.node(0)
        inside = self.m.frame.parent is not None and isinstance(first, ir.Name) and first.id not in self.m.env
        return inside and isinstance(first, ir.Name) and first.id in self.m.frame.module.env

    # ------------------------------------------------------------------ by word

    def _by_word(self, word: str, name: str, args: Args, node: ir.Call) -> AbstractValue:
        plain = _WORDS.get(word)
        if plain is not None:
            return plain
        first = args.get(0) or TOP
        match word:
            case "host-tensor":
                place = self.m.plain_place if name == "torch.Tensor" else "host"
                made = AbstractValue("tensor", place, trait=Mark.CONSTANT if self._is_global(args) else None)
                return self.sizes.converted(made, name, args, node)
            case "module":
                return self._parts(self._module(name, args, node), args)
            case "wrapped-module":
                ids = args.get(1, "device_ids")
                self.m.prove(node, own_device=ids is not None and element_of(ids).kind == "device")
                return self.moves.wrap(first, name, node)
            case "optimizer":
                return self._optimizer(args.get(0, "params") or TOP, node)
            case "scaler" | "writer" | "logger" | "distribution":
                held = args.tensors()
                self.m.prove(node, on_host=bool(held) and all(t.place == "host" for t in held))
                place = held[0].place if held else "host"
                return AbstractValue(word, place, ref=checking(self.m, word, name, args))
            case "loader" | "dataset":
                divided = word == "loader" and self._is_divided(args)
                return dataset_of(args) if word == "dataset" else loader_of(self.m, args, node, name, divided)
            case "parameter":
                place = first.place if first.kind == "tensor" else ""
                return AbstractValue("tensor", place or "host", trait=Mark.PARAMETER)
            case "scalar":
                norm = element_of(first).place if first.kind == "parameters" else "device"
                return AbstractValue("tensor", norm or "either", sure=LIKELY, shape=())
            case "tensor" | "tensors" | "packed" | "with-lengths" | "sparse-tensor":
                result = self.tensors.operation(name, name.rpartition(".")[2], None, args, node)
                if word == "with-lengths":
                    return sequence((element_of(result), HOST_SIZES.replace(trait=Mark.LENGTHS)))
                several = AbstractValue("sequence", element=result)
                found = {"tensor": result, "tensors": several, "sparse-tensor": as_sparse(result)}
                return found.get(word) or sequence((result, TOP))
            case "checkpointed":
                return run_checkpointed(self.m, args, node) or self.modules.output(args, node, LIKELY)
            case "first" | "copy" | "with-weight":
                first = self.moves.copied(first) if word == "copy" else first
                return with_weight_by(name, first, args) if word == "with-weight" else first
            case "clock":
                return AbstractValue(
                    "number",
                    trait=Clock(self.m.device_op_count, self.m.waiting, self.m.wait_count),
                    ref=Made(node, self.m.statement, name),
                )
            case "chain" | "product":
                return join_parameters(args.positional) if word == "chain" else self._product(args)
            case "compiled" | "gradients":
                return transformed(first, word)
            case "random" if name.startswith("numpy.") and is_array(name, args):
                return FOREIGN
            case "random" | "drawn-element" if word == "random" or element_of(first).kind == "number":
                return self.sizes.drawn()
            case "mapping":
                of_lists = first.kind == "api" and first.ref == "list"
                return AbstractValue(
                    "mapping", fields=None if of_lists else {}, element=_EMPTY if of_lists else None
                )
        return TOP

    def _product(self, args: Args) -> AbstractValue:
        """Return what `itertools.product` gives: tuples of an element of each."""
        each = [self.m.semantics.iterate(thing) for thing in args.positional]
        if args.partial or args.keywords:
            return AbstractValue("sequence", element=AbstractValue("sequence", element=join_all(each)))
        return AbstractValue("sequence", element=sequence(each))

    def _module(self, name: str, args: Args, node: ir.Call) -> AbstractValue:
        if not name.startswith("torch.nn."):
            why = (Why(f"`{name}` makes a model", (node.start, node.end)),)
            return AbstractValue("module", mapped_place(args), ref=name, sure=LIKELY, loose=True, why=why)
        place = self.m.default_place
        return AbstractValue(
            "module", place, ref=f"{name}#{node.start}", trait=TorchModule(name.rpartition(".")[2])
        )

    @staticmethod
    def _parts(module: AbstractValue, args: Args) -> AbstractValue:
        """A ModuleList, ModuleDict or Sequential with what is in it."""
        kind = module.trait.class_name if isinstance(module.trait, TorchModule) else ""
        if kind not in ("ModuleList", "ModuleDict", "Sequential"):
            return module
        first = args.get(0)
        written = kind == "Sequential" and not args.partial
        if written and all(thing.kind == "module" for thing in args.positional):
            return module.replace(items=tuple(args.positional), element=join_all(args.positional))
        held = element_of(first) if first is not None and first.kind in ("sequence", "mapping") else first
        return module.replace(element=held) if held is not None and held.kind == "module" else module

    def _optimizer(self, first: AbstractValue, node: ir.Call) -> AbstractValue:
        place: Residence = ""
        for held in self._parameters(first):
            place = held.place or place
            if held.kind == "parameters":
                for module in held.items or ():
                    self.moves.depends(module, "optimizer", node)
            elif held.trait is Mark.PARAMETER and held.ref is not None:
                self.moves.listed(held, node)
        if node.args:
            self.moves.given(node.args[0].value, node)
        return AbstractValue("optimizer", place)

    def _parameters(self, given: AbstractValue) -> Iterator[AbstractValue]:
        """Yield the parameters that an optimizer gets: parameters, lists and groups of them."""
        if given.kind == "mapping":
            held = given.fields.get("params") if given.fields is not None else given.element
            if held is not None:
                yield from self._parameters(held)
        elif given.kind == "sequence":
            for item in given.items if given.items is not None else (element_of(given),):
                yield from self._parameters(item)
        else:
            yield given

    def _is_divided(self, args: Args) -> bool:
        """Return whether a dataset is made with the rank of its process: each reads a part of the data."""
        node = args.node(0, "dataset")
        made = self.m.frame.scope.lookup(node.id) if isinstance(node, ir.Name) else []
        nodes = [binding.value for binding in made] or [node]
        named = {
            a.keyword or path_of(a.value).rpartition(".")[2]
            for n in nodes
            if isinstance(n, ir.Call)
            for a in n.args
        }
        return any(map(table.name_like("divided").search, named))

    # ------------------------------------------------------------------ by signature

    def _by_signature(self, name: str, args: Args, node: ir.Call) -> AbstractValue:
        known = signatures.signature(name)
        if known is None:
            return self._unknown(name, args, node)
        last = name.rpartition(".")[2]
        via = table.read_by("functions", name)
        if via:
            for thing in args.tensors()[:1]:
                self.reads.host(node, thing, via, name)
            return AbstractValue("bool") if "bool" in known.returns else NUMBER
        if "module" in known.returns:
            return self._module(name, args, node)
        if known.returns and not known.returns & {"tensor", "tensors"}:
            if "number" in known.returns or "bool" in known.returns:
                return NUMBER
            return NONE if known.returns == {"none"} else TOP
        if not known.returns and not args.tensors():
            return TOP
        if name.startswith(_FUNCTIONAL):
            self.modules.left_on_host.beside_device(last, args, node)
        return self.tensors.operation(name, last, None, args, node)

    def _unknown(self, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """A function of another library: given tensors, it may give tensors."""
        if name.rpartition(".")[2][:1].isupper():
            return TOP
        return TOP if name.startswith(_ROOTS) else self.opaque.result(node, args)

    def _partial(self, args: Args, node: ir.Call) -> AbstractValue:
        """Return the function that `functools.partial(f, x)` gives; of other callables nothing is known."""
        first = args.get(0) or TOP
        functions = functions_of(first) if first.kind == "function" else []
        if len(functions) != 1:
            return TOP
        key = node, first.key(), tuple(thing.key() for thing in args.all)
        if key not in self.partials:  # one function, however often the statement runs
            function, preset = functions[0], replace(args, positional=args.positional[1:])
            preset = preset.after(function.preset) if function.preset is not None else preset
            self.partials[key] = first.replace(ref=replace(function, preset=preset))
        return self.partials[key]

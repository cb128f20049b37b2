"""Objects of other libraries whose methods compute on tensors or read them."""

from __future__ import annotations

from xlamig import ir
from xlamig.facts import ChangingConstant, ChangingShape, Why
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.domain import (
    FOREIGN,
    LIKELY,
    NONE,
    NUMBER,
    POSSIBLE,
    TEXT,
    AbstractValue,
    LibraryObject,
    Mark,
    Residence,
    constant,
    inside,
    sequence,
)
from xlamig.flow.interp.domain.shapes import UNKNOWN
from xlamig.flow.interp.frames import ClassInfo
from xlamig.flow.interp.lengths import encoded
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.setting import Setting
from xlamig.flow.interp.sizes import Sizes
from xlamig.flow.interp.state import State
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import values as table


class Libraries:
    """Such an object is a foreign thing; its trait is its kind in the table."""

    def __init__(self, state: State, reads: Reads, sizes: Sizes) -> None:
        self.m = state
        self.reads, self.sizes = reads, sizes
        self._fixed_caches: set[int] = set()  # calls that were given a cache of a fixed size

    def made(self, name: str, args: Args, node: ir.Call) -> AbstractValue | None:
        """Return the instance that a class of this canonical name, or a method such as `from_pretrained`,
        creates, or the arguments that a function returns; None if the table has neither."""
        if table.result_of(name) == "arguments" and args.positional:
            return sequence(args.positional) if len(args.positional) > 1 else args.positional[0]
        owner, _, last = name.rpartition(".")
        kind = table.object_of(owner if last.startswith("from_") else name)
        if kind == "framework":
            self.m.effects.add(Effect.FRAMEWORK)
        elif kind == "mixing" and _cuts_boxes(args):
            kind = "box-mixing"
        elif kind == "growing-cache":
            self._grows(node, owner.rpartition(".")[2] if last.startswith("from_") else last)
        elif kind == "metric":
            return self._metric(name, args, node) if last[:1].isupper() else None  # a function computes
        return library_object(kind) if kind else None

    def _metric(self, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """Return a module of a library's class, by the name of the class that its arguments choose."""
        package = name.partition(".")[0]
        for keyword, classes in table.variants(package).items():
            chosen = args.keywords.get(keyword)
            if chosen is not None and chosen.const in classes:
                name = classes[chosen.const] + name.rpartition(".")[2]
        off = table.switches(package).items()
        switched = any(key in args.keywords and args.keywords[key].const == value for key, value in off)
        why = Why(f"`{short(self.m.source(node.func))}` makes a model", (node.start, node.end))
        trait = None if switched else LibraryObject("metric")
        return AbstractValue("module", "host", ref=name, sure=LIKELY, loose=True, trait=trait, why=(why,))

    def called(self, owner: AbstractValue, args: Args, node: ir.Call) -> AbstractValue:
        """Return the value of a call of a library's object: what mixes the samples of a batch gives a batch
        like it."""
        kind = owner.trait.name if isinstance(owner.trait, LibraryObject) else ""
        if kind not in ("mixing", "box-mixing"):
            return FOREIGN
        given = args.tensors()
        on_device = next((t for t in given if t.place == "device" and t.sure > POSSIBLE), None)
        if kind == "box-mixing" and on_device is not None:
            operation = short(self.m.source(node.func))
            self.m.record(
                ChangingConstant, node, LIKELY, on_device.why, via="box", operation=operation, cause="random"
            )
        return sequence([tensor.replace(trait=None) for tensor in given]) if len(given) > 1 else FOREIGN

    def method(self, owner: AbstractValue, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """Return the value of a call of a method of a library's object."""
        assert isinstance(owner.trait, LibraryObject)
        kind = owner.trait.name
        word = table.method_of("cache" if kind == "growing-cache" else kind, name)
        given = args.tensors()
        match word:
            case "tensor" | "scalar":
                text = short(self.m.source(node))
                why = Why(f"`{text}` is computed from device tensors", (node.start, node.end))
                loose = word == "tensor"
                return AbstractValue(
                    "tensor", "device", sure=LIKELY, loose=loose, shape=None if loose else (), why=(why,)
                )
            case "format":
                for arg, thing in args.pairs:
                    self.reads.formatted(arg.value, thing, name, node)
                return NONE
            case "grows":
                if any(tensor.place != "host" and tensor.sure > POSSIBLE for tensor in given):
                    self._grows(node, f"{self._receiver(node)}.{name}")
                return (
                    sequence([tensor.replace(trait=None) for tensor in given[:2]])
                    if len(given) > 1
                    else FOREIGN
                )
            case "position":
                text = short(self.m.source(node))
                why = Why(f"`{text}` grows with the tokens so far", (node.start, node.end))
                sure = LIKELY if self._decodes() else POSSIBLE  # it is empty in training
                return AbstractValue("number", cause="position", sure=sure, why=(why,))
            case "prepares" if args.positional:
                moved = [_on_device(thing) for thing in args.positional]
                return sequence(moved) if len(moved) != 1 else moved[0]
            case "backward":
                self.m.effects.add(Effect.BACKWARD, Effect.FRAMEWORK)
            case "number":
                return NUMBER
            case "draws" if not is_array(name, args):
                return self.sizes.drawn()
            case "encodes":
                return encoded(args, node)
            case "decodes":
                return self.decoded(name, args, node)
        return FOREIGN

    def observe(self, owner: AbstractValue, name: str, args: Args, node: ir.Call) -> None:
        """Record what a method of a library's object reads of its arguments, or where it puts a tensor that
        the object keeps; what else the method does is not known."""
        if not isinstance(owner.trait, LibraryObject) or not isinstance(node.func, ir.Attribute):
            return
        match table.method_of(owner.trait.name, name).split():
            case ["reads", index, keyword]:
                given, part = args.get(int(index), keyword), args.node(int(index), keyword)
                if given is not None and part is not None:
                    self.reads.host(part, given, "number", f"{self._receiver(node)}.{name}", part)
            case ["places", attribute, index, keyword]:
                device, path = args.get(int(index), keyword), path_of(node.func.value)
                on_host = device is None or device.kind == "none"
                place = "host" if on_host or device is None else device.place or "either"
                if path:
                    kept = AbstractValue("tensor", place, sure=LIKELY, shape=(UNKNOWN,))
                    self.m.put(path, owner.replace(fields={**(owner.fields or {}), attribute: kept}))
                    self.m.put(f"{path}.{attribute}", kept)

    def decoded(self, name: str, args: Args, node: ir.Call) -> AbstractValue:
        """`tokenizer.batch_decode(ids)` makes lists of the numbers first. Of ids that `generate` returned,
        which reads each token itself, nothing but the last one is left to be computed."""
        for i, thing in enumerate(args.positional[:1]):
            done = _takes_first(self.m.statement, node) and self._is_generated(args.node(i))
            with Setting(self.m, "synced", self.m.synced or done):
                self.reads.host(node, thing, "copy", name, args.node(i))
        return TEXT if name == "decode" else AbstractValue("sequence", element=TEXT)

    def _is_generated(self, node: ir.Expr | None) -> bool:
        """Return whether a name stands for what a method `generate` returned, or for a part of it."""
        while isinstance(node, ir.Subscript):
            node = node.value
        bound = self.m.frame.scope.lookup(node.id) if isinstance(node, ir.Name) else []
        calls = [binding.value for binding in bound if isinstance(binding.value, ir.Call)]
        return any(path_of(call.func).endswith(".generate") for call in calls)

    def logged(self, name: str, args: Args, node: ir.Call) -> None:
        """`self.log("loss", loss, prog_bar=True)` of a LightningModule: its progress bar shows every step, or
        only the epoch's mean."""
        method = self.m.frame.scope.name.rpartition(".")[2]
        evaluates = table.name_like("evaluation-hook").search(method) is not None
        shown = args.keywords.get("prog_bar", NONE).const is True
        each_step = args.keywords.get("on_step", constant(not evaluates)).const is not False
        if shown and each_step:
            for arg, thing in args.pairs:
                held = inside(thing)
                if held.kind == "tensor" and held.place == "device":
                    thing = held.replace(sure=max(held.sure, LIKELY))  # a metric, whatever it is made of
                self.reads.formatted(arg.value, thing, f"LightningModule.{name}", node)

    def generated(self, args: Args, node: ir.Call, module: AbstractValue | None, place: Residence) -> None:
        """`model.generate(ids, max_new_tokens=9)` of transformers: its usual cache grows by each token."""
        given = args.keywords.keys()
        of_library = module is not None and is_generating(module)
        known = of_library or bool(given & table.names("generate", "known-by"))
        if not known or given & table.names("generate", "fixed-by") or place == "host":
            return
        length = args.keywords.get("max_new_tokens")
        if length is not None and length.const == 1:  # one call of the model, as a classifier
            return
        if of_library or not self._has_own_generate():  # with arguments of the same names
            use = "processed" if given & table.names("generate", "every-token") else ""
            operation = f"{self._receiver(node)}.generate"
            self.m.record(
                ChangingShape, node, LIKELY, via="generate", operation=operation, cause="length", use=use
            )

    def fed_back(self, args: Args, node: ir.Call) -> None:
        """`model(ids, past_key_values=past)` of a decoding loop: a cache that the model made grows."""
        given = [args.keywords[name] for name in table.names("generate", "caches") if name in args.keywords]
        if any(one.trait == LibraryObject("cache") for one in given):  # the model returns it, too
            self._fixed_caches.add(node.start)
        grown = any(
            one.trait == LibraryObject("growing-cache") or (one.kind == "tensor" and one.place == "device")
            for one in given
        )
        if grown and node.start not in self._fixed_caches and self._decodes():
            operation = short(self.m.source(node.func))
            self.m.record(ChangingShape, node, LIKELY, via="generate", operation=operation, cause="length")

    def _decodes(self) -> bool:
        return any(loop.kind == "decoding" for loop in self.m.loops)

    def _has_own_generate(self) -> bool:
        """Return whether a class of the project has a decoding loop, and not that of a base in
        transformers."""
        of_transformers = table.name_like("generating")
        held = [t.ref for t in self.m.frame.module.env.values() if isinstance(t.ref, ClassInfo)]
        own = any("generate" in c.methods and not any(map(of_transformers.search, c.outside)) for c in held)
        return own or self.m.analysis.names.project.has_method("generate", of_transformers)

    def _grows(self, node: ir.Call, operation: str) -> None:
        self.m.record(ChangingShape, node, LIKELY, via="cache", operation=operation, cause="length")

    def _receiver(self, node: ir.Call) -> str:
        return self.m.source(node.func.value) if isinstance(node.func, ir.Attribute) else ""


def library_object(kind: str) -> AbstractValue:
    """Return an object of a library; of some kinds the table knows a few methods only."""
    if kind in table.names("open-objects", "kinds"):
        return AbstractValue("unknown", trait=LibraryObject(kind))
    return AbstractValue("foreign", trait=LibraryObject(kind))


def _on_device(thing: AbstractValue) -> AbstractValue:
    """Return what a framework makes of a module or a loader: one on the device, which ends each step."""
    if thing.kind == "module":
        return thing.replace(place="device", sure=min(thing.sure, LIKELY))
    return thing.replace(place="device", trait=Mark.DEVICE_LOADER) if thing.kind == "loader" else thing


def is_generating(module: AbstractValue) -> bool:
    """Return whether a module's class is one of transformers, or has a base there that generates."""
    if isinstance(module.ref, ClassInfo):
        bases = [base for cls in module.ref.lineage() for base in cls.outside]
        return any(map(table.name_like("generating").search, bases))
    return isinstance(module.ref, str) and module.ref.startswith(tuple(table.names("generate", "packages")))


def _cuts_boxes(args: Args) -> bool:
    """Return whether an object that mixes samples pastes boxes of one into the other."""
    given = [value for name, value in args.keywords.items() if name in table.names("mixing", "boxes")]
    return any(value.const is not None and value.const != 0 for value in given)


def is_array(name: str, args: Args) -> bool:
    """Return whether numpy draws several numbers: a size is given, by position or by name."""
    size = args.keywords.get("size")
    given = len(args.positional)
    if size is not None:
        return size.kind != "none"
    return args.starred or given > table.single_draw(name.rpartition(".")[2])


def _takes_first(statement: ir.Stmt, node: ir.Call) -> bool:
    """Return whether a statement takes the first element of what a call returns, as of a batch of one."""
    parts = (part for part in ir.walk(statement) if isinstance(part, ir.Subscript) and part.value is node)
    return any(isinstance(i, ir.Const) and i.value == 0 for part in parts for i in part.index)

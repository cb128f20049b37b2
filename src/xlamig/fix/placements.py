"""Rewrites placements on CUDA so that they hold for XLA too: `.cuda()`, "cuda", tensor types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from xlamig import ir
from xlamig.facts import Span
from xlamig.findings import Create, Edit
from xlamig.fix.context import Expression, FixContext, FixDeclined
from xlamig.fix.device import index_of
from xlamig.fix.scopes import bindings, dotted_name, path_to, reads
from xlamig.fix.strategies.device_literal import device_text
from xlamig.knowledge import values

_CUDA = re.compile(r"cuda(?::\d+)?")
_ASK_TYPES = frozenset({"isinstance", "issubclass", "print", "str", "repr", "type"})
Device = Callable[[Span, str], Expression]
"""The device at a place, with the index of the CUDA device that was meant."""


@dataclass(slots=True)
class Placements:
    """The edits that `rewrite` collects. `trusting`: also where it is not proven that nothing else is meant,
    which `FixDeclined` says otherwise; `defaults`: also where a type is a default, for which callers may give
    another one."""

    context: FixContext
    device: Device
    trusting: bool = False
    defaults: bool = False
    edits: dict[Edit, None] = field(default_factory=dict)
    creates: tuple[Create, ...] = ()
    count: int = 0
    aliases: set[str] = field(default_factory=set)

    def rewrite(self, root: ir.Node, decided: Callable[[ir.IfExp], str | None]) -> None:
        """Rewrite what is below `root`. `decided` returns how to write the test of a selection: "" if the
        device alone decides it; None for selections by something else."""
        covered: set[int] = set()
        for node in ir.walk(root):
            if id(node) in covered:
                continue
            match node:
                case ir.IfExp() if (test := decided(node)) is not None and self._selection(node, test):
                    covered.update(id(inner) for inner in ir.walk(node))
                case ir.IfExp(body=ir.Attribute(), orelse=ir.Attribute()) if self._type_selection(node):
                    covered.update(id(inner) for inner in ir.walk(node))
                case ir.Call(func=ir.Attribute(attr="cuda") as func) if dotted_name(func.value) != "torch":
                    self._move(node, func)
                case ir.Attribute() if dotted_name(node).startswith("torch.cuda."):
                    self._member(node)
                case ir.Const(value=str(text)) if _CUDA.fullmatch(text):
                    self._literal(node, text)
                case ir.FString() if any(isinstance(p, str) and p.startswith("cuda") for p in node.parts):
                    self._unproven(node)

    # ------------------------------------------------------------------ devices

    def _selection(self, node: ir.IfExp, test: str) -> bool:
        """`"cuda" if flag else "cpu"`, also in `torch.device(...)`."""
        values = [side.value if isinstance(side, ir.Const) else None for side in (node.body, node.orelse)]
        cuda = next((value for value in values if isinstance(value, str) and _CUDA.fullmatch(value)), None)
        if cuda is None or "cpu" not in values:
            return False
        call = self._device_call(node)
        index = index_of(cuda)
        place = (call.start, call.end) if call else (node.start, node.end)
        if test and not call:
            return False  # the literal alone is replaced
        device = self._use(place, index)
        text = device if call else device_text(device, index)
        if test:
            host = f'{self.context.text_of(call.func)}("cpu")' if call else '"cpu"'
            text = f"{text} if {test} else {host}" if values[1] == "cpu" else f"{host} if {test} else {text}"
        self._edit(place, text)
        return True

    def _literal(self, node: ir.Const, text: str) -> None:
        path = path_to(self.context.module, node.start, node.end)
        call = self._device_call(node)
        if call is not None:
            index = index_of(text)
            if len(call.args) > 1:
                index = self.context.text_of(call.args[1].value)
            self._edit((call.start, call.end), self._use((call.start, call.end), index))
            return
        place, index = (node.start, node.end), index_of(text)
        device = self._use(place, index)
        match path[-2:]:
            case [ir.Arg(keyword=None | "device"), _]:
                self._edit(place, device)
            case [ir.Compare() | ir.Bool(), _]:
                self._unproven(node)
            case _:
                self._edit(place, device_text(device, index))

    def _device_call(self, node: ir.Expr) -> ir.Call | None:
        """The `torch.device(...)` whose first argument `node` is."""
        match path_to(self.context.module, node.start, node.end)[-3:]:
            case [ir.Call() as call, ir.Arg(), _] if dotted_name(call.func) in ("torch.device", "device"):
                return call if call.args[0].value is node and len(call.args) <= 2 else None
        return None

    def _move(self, call: ir.Call, func: ir.Attribute) -> None:
        """`x.cuda(...)` as `x.to(device, ...)`."""
        first = next((a for a in call.args if a.keyword in (None, "device")), None)
        rest = [a for a in call.args if a is not first]
        if any(a.star for a in call.args) or any(a.keyword not in ("non_blocking", "async_") for a in rest):
            self._unproven(call)
            return
        index = ""
        if first is not None:
            constant = first.value.value if isinstance(first.value, ir.Const) else ...
            if constant not in (..., None):
                index = "" if constant == "cuda" else str(constant).removeprefix("cuda:")
            elif constant is ...:
                index = self.context.text_of(first.value)
        device = self._use((call.start, call.end), index)
        self._edit((func.attr_start, func.end), "to")
        if first is not None:
            self._edit((first.start, first.end), device)
        else:
            self._edit((call.args_start, call.args_start), f"{device}, " if call.args else device)

    # ------------------------------------------------------------------ torch.cuda

    def _member(self, node: ir.Attribute) -> None:
        """`torch.cuda.FloatTensor`, or a function that knows CUDA alone."""
        name = dotted_name(node).removeprefix("torch.cuda.").partition(".")[0]
        if not _dtype(name):
            if name not in values.names("placing", "without-cuda"):
                self._unproven(node)
            return
        if dotted_name(node) != f"torch.cuda.{name}":
            return
        self._type(node, name)

    def _type_selection(self, node: ir.IfExp) -> bool:
        """`torch.cuda.FloatTensor if flag else torch.FloatTensor`."""
        types = [dotted_name(side).removeprefix("torch.") for side in (node.body, node.orelse)]
        name = next((type_.removeprefix("cuda.") for type_ in types if type_.startswith("cuda.")), "")
        if not _dtype(name) or not {*types} <= {f"cuda.{name}", name, "Tensor"}:
            return False
        self._type(node, name)
        return True

    def _type(self, node: ir.Expr, name: str) -> None:
        """A tensor type as the host's, what it makes or converts to moved to the device."""
        self.count += 1
        match path_to(self.context.module, node.start, node.end)[-3:]:
            case [*_, ir.Call() as call, ir.Arg(), _] if _converts(call):
                self._conversion(call, name)
                return
            case [*_, ir.Call(func=func) as call, _] if func is node:
                self._creation(call)
            case [*_, ir.Assign(targets=(ir.Name(id=alias),)), _]:
                self._alias(alias, name)
            case _:
                raise FixDeclined(f"`torch.cuda.{name}` is passed on")
        self._edit((node.start, node.end), f"torch.{name}")

    def _alias(self, alias: str, name: str) -> None:
        """Uses of a name for a tensor type."""
        module = self.context.module
        if alias in self.aliases:
            return
        self.aliases.add(alias)
        if not all(_is_type(node, name) for node in bindings(module, alias)):
            raise FixDeclined(f"`{alias}` has other values")
        for use in reads(module, alias):
            match path_to(module, use.start, use.end)[-3:]:
                case [*_, ir.Assign(targets=targets), _] if any(t is use for t in targets):
                    continue
                case [*_, ir.Assign(targets=(ir.Name(id=other),), value=value), _] if value is use:
                    self._alias(other, name)
                case [*_, ir.Call(func=func) as call, _] if func is use:
                    self._creation(call)
                case [*_, ir.Call() as call, ir.Arg(), _] if _converts(call):
                    self._conversion(call, name)
                case [ir.FunctionDef() as function, ir.Param() as param, _] if param.default is use:
                    self._default(function, param)
                case [*_, ir.Call() as call, ir.Arg(star=""), _] if self.trusting and self._may_call(call):
                    device = self._use((use.start, use.end), "")
                    self._edit((use.start, use.end), f"lambda *data: {alias}(*data).to({device})")
                case _:
                    raise FixDeclined(f"`{alias}` is passed on")

    def _default(self, function: ir.FunctionDef, param: ir.Param) -> None:
        """Uses of a parameter whose default is a tensor type: callers may give another one, of the host."""
        module, name = self.context.module, param.name
        others = "types" in self.context.elsewhere or len(bindings(function, name)) != 1
        if not (self.trusting or self.defaults) or others:
            raise FixDeclined(f"`{name}` may be another type")
        for use in reads(function, name):
            match path_to(module, use.start, use.end)[-3:]:
                case [*_, ir.Call(func=func) as call, _] if func is use and _is_no_tensor(call):
                    pass
                case [*_, ir.Call() as call, ir.Arg(), _] if _converts(call):
                    pass
                case _:
                    raise FixDeclined(f"`{name}` is passed on")
            self._edit((call.end, call.end), f".to({self._use((call.start, call.end), '')})")

    def _may_call(self, call: ir.Call) -> bool:
        """Return whether a function that is given a tensor type may only call it: nothing in the program
        converts to a type by a name that is a parameter, or asks what has one."""
        nodes = list(ir.walk(self.context.module))
        parameters = {node.name for node in nodes if isinstance(node, ir.Param)}
        named = [node.args[0].value for node in nodes if isinstance(node, ir.Call) and _converts(node)]
        theirs = any(isinstance(value, ir.Name) and value.id in parameters for value in named)
        function = dotted_name(call.func)
        ours = function and not function.startswith(("torch.", ".")) and function not in _ASK_TYPES
        return bool(ours) and not theirs and "types" not in self.context.elsewhere

    def _creation(self, call: ir.Call) -> None:
        """`Tensor(n, m)` and `Tensor(array)`: on the host, then moved. A tensor on the device is refused."""
        if not self.trusting and not _is_no_tensor(call):
            raise FixDeclined(f"`{self.context.text_of(call)}` may convert a tensor")
        self._edit((call.end, call.end), f".to({self._use((call.start, call.end), '')})")

    def _conversion(self, call: ir.Call, name: str) -> None:
        """`x.type(Tensor)` as `x.to(device, torch.float32)`."""
        func = call.func
        assert isinstance(func, ir.Attribute)
        self._edit((func.attr_start, func.end), "to")
        argument = call.args[0]
        device = self._use((call.start, call.end), "")
        self._edit((argument.start, argument.end), f"{device}, torch.{_dtype(name)}")

    # ------------------------------------------------------------------ edits

    def _use(self, place: Span, index: str) -> str:
        found = self.device(place, index)
        self.edits.update(dict.fromkeys(found.edits))
        self.creates = found.creates or self.creates
        self.count += 1
        return found.text

    def _edit(self, place: Span, text: str) -> None:
        self.edits[self.context.edit(*place, text)] = None

    def _unproven(self, node: ir.Node) -> None:
        if not self.trusting:
            raise FixDeclined(f"`{self.context.text_of(node)[:60]}` needs CUDA")


def _dtype(name: str) -> str:
    """Return the dtype of a tensor class of torch.cuda; "" for other names."""
    return values.dtype_of_class(f"torch.cuda.{name}")


def _is_type(binding: ir.Node, name: str) -> bool:
    """Return whether a binding gives a tensor type of this element type, or another name for one."""
    match binding:
        case ir.Assign(value=ir.IfExp(body=body, orelse=orelse)):
            given = [body, orelse]
        case ir.Assign(value=value):
            given = [value]
        case _:
            return False
    types = {f"torch.{name}", f"torch.cuda.{name}", "torch.Tensor"}
    return all(isinstance(side, ir.Name) or dotted_name(side) in types for side in given)


def _converts(call: ir.Call) -> bool:
    return isinstance(call.func, ir.Attribute) and call.func.attr == "type" and len(call.args) == 1


def _is_no_tensor(call: ir.Call) -> bool:
    """The arguments are sizes, or what NumPy or a list holds."""
    return len(call.args) != 1 or any(a.star for a in call.args) or _is_data(call.args[0].value)


def _is_data(node: ir.Expr) -> bool:
    match node:
        case ir.Const() | ir.Sequence() | ir.Comprehension() | ir.Binary(left=ir.Const()):
            return True
        case ir.Subscript(value=ir.Attribute(attr="shape")):
            return True
        case ir.Call(func=func):
            dotted = dotted_name(func)
            return dotted.partition(".")[0] in ("np", "numpy") or dotted.rpartition(".")[2] in values.names(
                "placing", "sizes"
            )
    return False


def placed_below(node: ir.Node) -> Iterator[ir.Node]:
    """Yield the placements on CUDA below a node."""
    for inner in ir.walk(node):
        match inner:
            case ir.Call(func=ir.Attribute(attr="cuda")):
                yield inner
            case ir.Attribute() if dotted_name(inner).startswith("torch.cuda."):
                yield inner
            case ir.Const(value=str(text)) if text.startswith("cuda"):
                yield inner

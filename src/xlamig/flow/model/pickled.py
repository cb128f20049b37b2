"""Find what a module puts into files that `torch.load` takes back only with `weights_only=False`."""

from __future__ import annotations

import collections
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from xlamig import ir
from xlamig.flow.model.by_kind import of_kind, scope_around
from xlamig.flow.model.known import short
from xlamig.flow.model.scopes import Binding, Scope, ScopeTable, path_of
from xlamig.flow.model.tensor_methods import is_of_tensors
from xlamig.knowledge import values as table
from xlamig.per_file import per_file
from xlamig.source.phrases import Phrases

KEYS, FILE = "keys", "file"
TRUSTS = "unpickles"
"""The habit of a program that allows classes in files, or everything."""
HABIT = "unpicklable"
ALLOWS_OBJECTS = Phrases(
    ("safe_globals(", "NO_WEIGHTS_ONLY_LOAD", "torch.load", "torch_geometric"),
    re.compile(
        r"safe_globals\(|TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD|\btorch\.load = |[\"']torch\.load[\"']"
        r"|torch_geometric"
    ),
)
_PLAIN = (
    dict,
    list,
    tuple,
    set,
    str,
    int,
    float,
    bytes,
    complex,
    collections.Counter,
    collections.OrderedDict,
)
_ALL_HAVE = frozenset(dir(object())) - {"__dict__"}
_RETURN_PLAIN = frozenset({"shape", "ndim", "size", "load", "iinfo", "finfo", "isscalar", "may_share_memory"})
_CLASS = re.compile(r"[A-Z]\w*[a-z]\w*")
_PLAIN_CLASS = re.compile(
    r"Dict$|Counter$|Tensor$|Variable$|Parameter$|Buffer$|\.Size$|\.Generator$|^torch\.(?!nn|optim)"
)
_KEEP = frozenset({"to", "cuda", "cpu", "eval", "train", "float", "half", "requires_grad_"})
_DEPTH = 3  # names and calls around what is saved


def habits_of(module: ir.Module, scopes: ScopeTable, text: str) -> frozenset[str]:
    """Return what a module saves that other modules of the program may load, see Pickled."""
    saves = "torch.save(" in text or "state_dict()" in text
    return frozenset(Pickled(module, scopes, text).habits()) if saves else frozenset()


class Pickled:
    """Reads the values that the functions of a module save; `scopes` are those of the module."""

    def __init__(self, module: ir.Module, scopes: ScopeTable, text: str) -> None:
        self.module, self.scopes, self.text = module, scopes, text

    def habits(self) -> Iterator[str]:
        """Yield what the module saves that other modules of the program may load, see `written`."""
        if ALLOWS_OBJECTS.are_in(self.text):
            yield TRUSTS
        for kind, where, what in self.written():
            yield f"{HABIT}|{kind}|{where}|{what}"

    def written(self) -> Iterator[tuple[str, str, str]]:
        """Yield the files with objects: "keys" with those of a dictionary that also holds a state, or "file"
        with the file's constant name; and in both cases the object in words."""
        for node in of_kind(self.module, ir.Dict):
            entries = self.entries(node)
            if any(map(is_state, entries.values())):
                for key, value in entries.items():
                    if what := self.object_in(value, self.scope_at(node)):
                        yield KEYS, ",".join(sorted(entries)), f"{what} under `{short(key)}`"
                        break
        for call in self.saves():
            saved, name = call.args[0].value, _constant_name(call.args[1].value)
            if name and (what := self.object_in(saved, self.scope_at(call))):
                yield FILE, name, what

    def saves(self) -> Iterator[ir.Call]:
        """Yield the calls of `torch.save` with two arguments by position."""
        names = table.names("collectives", "saves")
        for call in of_kind(self.module, ir.Call) if "torch" in self.text else ():
            plain = len(call.args) > 1 and not any(arg.star or arg.keyword for arg in call.args[:2])
            if plain and self.dotted(call.func, self.scope_at(call)) in names:
                yield call

    def entries(self, node: ir.Dict) -> dict[str, ir.Expr]:
        """Return the entries of a dictionary, with those that its function adds to its name."""
        found = _written_out(node)
        around = self.scope_at(node).node
        if isinstance(around, ir.FunctionDef):
            filled = _filled_in(around)
            for start, entries in filled.added.get(filled.names.get(node.start, ""), ()):
                if start > node.start:
                    found |= entries
        return found

    # ------------------------------------------------------------------ what is saved

    def object_in(self, node: ir.Expr, scope: Scope, depth: int = _DEPTH) -> str:
        """Return in words the first object in a value that is no tensor, container or number; "" if none is
        known."""
        if not depth:
            return ""
        match node:
            case ir.Dict(values=parts) | ir.Sequence(elements=parts):
                return next(filter(None, (self.object_in(part, scope, depth) for part in parts)), "")
            case ir.Comprehension(kind="list", element=element):
                return self.object_in(element, scope, depth - 1)
            case ir.IfExp(body=body, orelse=orelse):
                return self.object_in(body, scope, depth) and self.object_in(orelse, scope, depth)
            case ir.Call():
                return self._made(node, scope, depth)
            case ir.Name() | ir.Attribute() if path := path_of(node):
                return self._named(path, scope, depth)
        return ""

    def _named(self, path: str, scope: Scope, depth: int) -> str:
        """Return what a name holds, by what it is bound to and by the attributes that are asked of it."""
        owner = scope.class_scope
        if path == "self":
            return f"the object of `{owner.name}` itself" if owner is not None else ""
        if path.endswith(".module"):  # of DistributedDataParallel
            path = path.removesuffix(".module")
        bound = [binding for binding in scope.find(path) if binding.kind != "param"]
        if any(binding.kind in ("import", "class", "function") for binding in bound):
            return ""
        values = [binding.value for binding in bound if binding.value is not None]
        made = [self._bound(value, binding, depth) for binding in bound if (value := binding.value)]
        if made and all(made) and len(made) == len(bound):
            return made[0]
        if any(isinstance(value, ir.Call) and _takes_apart(value) for value in values):
            return ""
        if any(isinstance(value, ir.Attribute) and value.attr == "__dict__" for value in values):
            return ""
        return self._used(path, scope)

    def _bound(self, value: ir.Expr, binding: Binding, depth: int) -> str:
        """Return what a value is that a name is bound to; of a list also what is appended."""
        found = self.object_in(value, binding.scope, depth - 1)
        around = binding.scope.node
        if found or not isinstance(value, ir.Sequence) or value.elements or around is None:
            return found
        for call in ir.walk(around):
            match call:
                case ir.Call(
                    func=ir.Attribute(value=ir.Name() as filled, attr="append"), args=(ir.Arg(value=added),)
                ) if binding in binding.scope.find(filled.id):
                    found = found or self.object_in(added, binding.scope, depth - 1)
        return found

    def _used(self, path: str, scope: Scope) -> str:
        """Return what a name is whose attributes no plain value and no tensor has."""
        around = scope.class_scope if path.startswith("self.") else scope
        node = around.node if around is not None else None
        asked = False
        for part in ir.walk(node if node is not None else self.module):
            match part:
                case ir.Attribute(value=ir.Name() | ir.Attribute() as value, attr=attr):
                    if path_of(value) == path and is_of_objects(attr):
                        asked = True
                case ir.Call(func=ir.Name(id="isinstance" | "hasattr"), args=(first, *_)):
                    if path_of(first.value) == path:
                        return ""
        return f"the object `{path}`" if asked else ""

    def _made(self, node: ir.Call, scope: Scope, depth: int) -> str:
        """Return what a call makes."""
        text = short(self.text[node.start : node.end])
        if isinstance(node.func, ir.Attribute):
            if node.func.attr == "parse_args":
                return "an `argparse.Namespace`"
            if node.func.attr in _KEEP:
                return self.object_in(node.func.value, scope, depth - 1)
        name = self.dotted(node.func, scope)
        last = name.rpartition(".")[2]
        if name.startswith("numpy.") and last not in _RETURN_PLAIN:
            return f"a value of NumPy, `{text}`"
        if name in table.names("pickled", "classes"):
            return f"what `{text}` returns"
        if _CLASS.fullmatch(last) and not _PLAIN_CLASS.search(name):
            return f"an object of `{last}`"
        bound = scope.find(path_of(node.func)) if path_of(node.func) else []
        match bound:
            case [Binding(kind="class", node=ir.ClassDef(name=own))]:
                return f"an object of `{own}`"
            case [Binding(kind="function", node=ir.FunctionDef() as function, inner=inner)] if inner:
                returned = [
                    part.value
                    for part in ir.own_statements(function.body)
                    if isinstance(part, ir.Return) and part.value is not None
                ]
                found = [self.object_in(value, inner, depth - 1) for value in returned]
                return found[0] if found and all(found) else ""
        return ""

    # ------------------------------------------------------------------ names

    def dotted(self, node: ir.Expr, scope: Scope) -> str:
        """Return the name of what a module imports, "" for anything else."""
        first, _, rest = path_of(node).partition(".")
        bound = scope.lookup(first) if first else []
        if not bound or bound[-1].kind != "import":
            return ""
        return f"{bound[-1].dotted}.{rest}" if rest else bound[-1].dotted

    def scope_at(self, node: ir.Node) -> Scope:
        """Return the scope of the innermost function around a node."""
        return scope_around(self.module, self.scopes, node)


@cache
def is_of_objects(attr: str) -> bool:
    """Return whether an attribute is of objects that a file of plain values does not hold."""
    if attr == "__dict__":
        return True
    return (
        attr not in _ALL_HAVE and not any(hasattr(kind, attr) for kind in _PLAIN) and not is_of_tensors(attr)
    )


class _Filled(NamedTuple):
    """The names that dictionaries are given in a function, by where they start, and by name the entries that
    are added later, with the place."""

    names: Mapping[int, str]
    added: Mapping[str, Sequence[tuple[int, Mapping[str, ir.Expr]]]]


@per_file
@cache
def _filled_in(function: ir.FunctionDef) -> _Filled:
    names: dict[int, str] = {}
    added: dict[str, list[tuple[int, Mapping[str, ir.Expr]]]] = {}
    for node in ir.walk(function):
        match node:
            case ir.Assign(targets=(ir.Name(id=name),), value=ir.Dict(start=start)):
                names[start] = name
            case ir.Assign(
                targets=(ir.Subscript(value=ir.Name(id=name), index=(ir.Const(value=str(key)),)),),
                value=value,
            ):
                added.setdefault(name, []).append((node.start, {key: value}))
            case ir.Call(
                func=ir.Attribute(value=ir.Name(id=name), attr="update"),
                args=(ir.Arg(value=ir.Dict() as more),),
            ):
                added.setdefault(name, []).append((node.start, _written_out(more)))
    return _Filled(names, added)


def _written_out(node: ir.Dict) -> dict[str, ir.Expr]:
    """Return the entries of a dictionary with constant keys."""
    return {
        key.value: value
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ir.Const) and isinstance(key.value, str)
    }


def is_state(node: ir.Expr) -> bool:
    """Return whether a value is the state of something: `model.state_dict()`."""
    return isinstance(node, ir.Call) and path_of(node.func).endswith("state_dict")


def _takes_apart(call: ir.Call) -> bool:
    """Return whether a call makes a plain value of an object: `vars(args)`, `args.to_dict()`."""
    return re.search(r"vars|dict|json|item|list|float|int|str", path_of(call.func)) is not None


def _constant_name(node: ir.Expr) -> str:
    """Return the constant name of the file at the end of a path, "" if it is not written there."""
    match node:
        case ir.Const(value=str(text)):
            return text.rpartition("/")[2]
        case ir.Binary(op="/", right=right):
            return _constant_name(right)
        case ir.Call(func=func, args=(*_, last)) if path_of(func).endswith("path.join"):
            return _constant_name(last.value)
    return ""

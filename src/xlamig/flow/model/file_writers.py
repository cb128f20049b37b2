"""Find the functions and classes of a module that write files when they are called, for those who load."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from xlamig import ir
from xlamig.flow.model.by_kind import function_around, of_kind
from xlamig.flow.model.saved_paths import file_argument, file_name, only_value
from xlamig.flow.model.scopes import Binding, Scope, ScopeTable, path_of
from xlamig.per_file import per_file

WRITES, SAVED_FIRST, LOADS_ALONE = "writes", "saved-first", "loads-alone"  # habits
_LOADS = re.compile(r"(?<![a-z])load(?=_|$)")
_HOPS = 2  # methods between a call and the one that saves


class Writer(NamedTuple):
    """A function `name`, or method as in "EarlyStopping.__call__", that writes `file`, or the file that its
    argument `parameter` names, the one at `position`; of a class that of the constructor."""

    name: str
    file: str
    parameter: str
    position: int

    @classmethod
    def of(cls, habit: str) -> Writer | None:
        """Return the writer that a habit tells of."""
        match habit.split("|"):
            case [kind, name, file, parameter, position] if kind == WRITES:
                return cls(name, file, parameter, int(position))
        return None


def habits_of(module: ir.Module, scopes: ScopeTable, text: str) -> Iterator[str]:
    """Yield the habits of a module that writes files, and of one that calls such functions."""
    if "torch.save(" in text:
        for one in writers(module, scopes):
            yield "|".join((WRITES, one.name, one.file, one.parameter, str(one.position)))
    if "load" in text:
        yield from _orders(module, text)


# ---------------------------------------------------------------------- functions that write


def writers(module: ir.Module, scopes: ScopeTable) -> Iterator[Writer]:
    """Yield what the functions of a module write whose calls of `torch.save` no flag turns off."""
    for call in of_kind(module, ir.Call):
        function = function_around(module, call) if path_of(call.func) == "torch.save" else None
        path = file_argument(call, 1) if function is not None else None
        if function is None or path is None or _is_flagged(function, call):
            continue
        scope = scopes.of(function)
        owner = scope.parent if scope.parent is not None and scope.parent.kind == "class" else None
        file = file_name(path, scope)
        if owner is None or not path_of(path).startswith("self."):
            given = _parameter(function, path)
            if file or given is not None:
                yield Writer(function.name, file or _default(given), *_place(function, given))
        if owner is not None:
            yield from _of_class(owner, function, path, file)


def _of_class(owner: Scope, saver: ir.FunctionDef, path: ir.Expr, file: str) -> Iterator[Writer]:
    """Yield what the methods of a class write that come to the one that saves."""
    parameter, position = "", -1
    if path_of(path).startswith("self."):
        bound = only_value(path, owner)
        given = _made_with(bound)
        if bound is not None and given is not None and isinstance(bound.scope.node, ir.FunctionDef):
            parameter, position = _place(bound.scope.node, given)
            file = file or _default(given)
    if not file and not parameter:
        return
    bindings = (binding for bound in owner.bindings.values() for binding in bound)
    methods = [one.node for one in bindings if isinstance(one.node, ir.FunctionDef)]
    reached = {saver.name}
    for _ in range(_HOPS):
        reached |= {one.name for one in methods if _calls_one_of(one, reached)}
    for name in sorted(reached):
        yield Writer(f"{owner.name}.{name}", file, parameter, position)


def _made_with(bound: Binding | None) -> ir.Param | None:
    """Return the parameter of the constructor that an attribute is."""
    function = bound.scope.node if bound is not None else None
    if bound is None or bound.value is None or not isinstance(function, ir.FunctionDef):
        return None
    return _parameter(function, bound.value) if function.name == "__init__" else None


def _calls_one_of(method: ir.FunctionDef, names: set[str]) -> bool:
    """Return whether a method calls one of others where no flag turns it off."""
    for node in ir.walk(method):
        path = path_of(node.func) if isinstance(node, ir.Call) else ""
        is_called = path.startswith("self.") and path.removeprefix("self.") in names
        if is_called and not _is_flagged(method, node):
            return True
    return False


def _is_flagged(function: ir.FunctionDef, node: ir.Node) -> bool:
    """Return whether a flag decides about a statement: `if self.verbose`, `if not args.save`."""
    for above in ir.path_down(function, node):
        if isinstance(above, ir.If) and not ir.encloses(above.test, node):
            test = above.test.operand if isinstance(above.test, ir.Unary) else above.test
            if path_of(test):
                return True
    return False


def _parameter(function: ir.FunctionDef, node: ir.Expr) -> ir.Param | None:
    """Return the parameter that an expression is."""
    if not isinstance(node, ir.Name):
        return None
    return next((param for param in function.params if param.name == node.id), None)


def _default(param: ir.Param | None) -> str:
    """Return the name of the file that a parameter has without an argument."""
    match param.default if param is not None else None:
        case ir.Const(value=str(text)):
            return text.rpartition("/")[2]
    return ""


def _place(function: ir.FunctionDef, param: ir.Param | None) -> tuple[str, int]:
    """Return the name of a parameter and its place among the arguments."""
    if param is None:
        return "", -1
    names = [one.name for one in function.params]
    return param.name, names.index(param.name) - (names[:1] == ["self"])


# ---------------------------------------------------------------------- who calls them


def _orders(module: ir.Module, text: str) -> Iterator[str]:
    """Yield of each function with "load" in its name that the module calls whether the same function has
    called the one with "save" in its name before, with its arguments, in a loop or in any case."""
    for call in of_kind(module, ir.Call):
        name = path_of(call.func).rpartition(".")[2]
        if _LOADS.search(name) and name != "load":
            saved = _LOADS.sub("save", name)
            others = _calls_by_function(module).get((function_around(module, call), saved), ())
            first = any(_is_before(module, text, other, call) for other in others)
            yield f"{SAVED_FIRST if first else LOADS_ALONE}|{name}"


@per_file
@cache
def _calls_by_function(module: ir.Module) -> Mapping[tuple[ir.FunctionDef | None, str], Sequence[ir.Call]]:
    """Return the calls of a module by the function around and the last word of what they call."""
    found: dict[tuple[ir.FunctionDef | None, str], list[ir.Call]] = {}
    for call in of_kind(module, ir.Call):
        name = path_of(call.func).rpartition(".")[2]
        found.setdefault((function_around(module, call), name), []).append(call)
    return found


def _is_before(module: ir.Module, text: str, save: ir.Call, load: ir.Call) -> bool:
    given = {" ".join(text[arg.value.start : arg.value.end].split()) for arg in save.args}
    used = {" ".join(text[arg.value.start : arg.value.end].split()) for arg in load.args}
    return used <= given and comes_before(function_around(module, load) or module, save, load)


def comes_before(top: ir.Node, first: ir.Node, then: ir.Node) -> bool:
    """Return whether a run that comes to a node has come to another of the same function by then: one in a
    loop above it, or one that no test decides about."""
    if first.end > then.start:
        return False
    beside = {id(node) for node in ir.path_down(top, then)}
    for node in ir.path_down(top, first):
        if id(node) in beside:
            if isinstance(node, ir.If) and _is_in(node.body, first) and _is_in(node.orelse, then):
                return False
        elif isinstance(node, ir.If | ir.For | ir.While):
            return not isinstance(node, ir.If)
    return True


def _is_in(block: ir.Block, node: ir.Node) -> bool:
    return any(ir.encloses(statement, node) for statement in block)

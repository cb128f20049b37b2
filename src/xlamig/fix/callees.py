"""Find the function of a file that a call there runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from xlamig import ir
from xlamig.fix.names import last_name
from xlamig.fix.scopes import bindings, dotted_name, path_to
from xlamig.per_file import per_file


def callee_of(module: ir.Module, call: ir.Call) -> ir.FunctionDef | None:
    """Return the function that a call runs, where the file shows which, else None: `f()` of the module,
    `self.f()` of the class around, or `x.f()` where every `x` is an object of one class of the file."""
    match call.func:
        case ir.Name(id=name):
            methods = [m for node in ir.walk(module) if isinstance(node, ir.ClassDef) for m in node.body]
            found = [b for b in bindings(module, name) if not any(b is m for m in methods)]
            if len(found) != 1 or not any(statement is found[0] for statement in module.body):
                return None
            return found[0] if isinstance(found[0], ir.FunctionDef) and not found[0].decorators else None
        case ir.Attribute(value=owner, attr=name):
            made_by = _class_of(module, owner)
            body = made_by.body if made_by else ()
            named = [m for m in body if isinstance(m, ir.FunctionDef) and m.name == name]
            return named[0] if len(named) == 1 and not named[0].decorators else None
    return None


def _class_of(module: ir.Module, owner: ir.Expr) -> ir.ClassDef | None:
    """Return the class whose object an expression is."""
    path = dotted_name(owner)
    around = [n for n in path_to(module, owner.start, owner.end) if isinstance(n, ir.ClassDef)]
    if path == "self":
        return around[-1] if around else None
    values = _values(around[-1] if path.startswith("self.") and around else module, path)
    names = {last_name(v.func) if isinstance(v, ir.Call) else "" for v in values}
    classes = [n for n in module.body if isinstance(n, ir.ClassDef) and n.name in names]
    return classes[0] if len(names) == len(classes) == 1 else None


@per_file
@lru_cache(maxsize=64)  # the fixes of one file ask again and again about the same few objects
def _values(root: ir.Node, path: str) -> tuple[ir.Expr | None, ...]:
    return tuple(_assigned(root, path))


def _assigned(root: ir.Node, path: str) -> Iterator[ir.Expr | None]:
    """Yield what is given to a name or path below a node; None for what is no plain assignment."""
    for node in ir.walk(root):
        match node:
            case ir.Assign(targets=targets, value=value):
                for target in targets:
                    if any(dotted_name(part) == path for part in ir.walk(target)):
                        yield value if dotted_name(target) == path else None
            case ir.Param(name=name) if name == path:
                yield None
            case ir.For(target=target) if any(dotted_name(part) == path for part in ir.walk(target)):
                yield None

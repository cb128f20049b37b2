"""Names that a program puts together and looks up while it runs: `getattr(models, name)`."""

from __future__ import annotations

import re
from typing import NamedTuple

from xlamig import ir
from xlamig.flow.model.scopes import Scope, ScopeTable, path_of

HERE = "."
_FEWEST = 3  # characters of a part of a name, but for the "_" of private ones
_DEEPEST = 2  # names for names
_HOLE = re.compile(r"%s|\{\w*\}")


class Pick(NamedTuple):
    """A look-up of a name that ends with what a program computes: in a module, HERE for its own, in any
    object where that is ""; with what stands before and after the computed part."""

    where: str
    before: str
    after: str


def looked_up(node: ir.Node) -> tuple[ir.Expr | None, ir.Expr] | None:
    """Return where and by which expression a name is looked up: `getattr(models, name)`,
    `models.__dict__[name]` and, in the module itself, `globals()[name]`, `eval(name)`."""
    match node:
        case ir.Call(func=ir.Name(id="eval"), args=(name, *_)):
            return None, name.value
        case ir.Call(
            func=ir.Name(id="getattr"), args=(ir.Arg(value=ir.Subscript(value=modules)), name, *_)
        ) if path_of(modules) == "sys.modules":
            return None, name.value
        case ir.Call(func=ir.Name(id="getattr"), args=(subject, name, *_)):
            return subject.value, name.value
        case ir.Subscript(value=ir.Attribute(value=subject, attr="__dict__"), index=(name,)):
            return subject, name
        case ir.Subscript(value=ir.Call(func=ir.Name(id="globals" | "locals" | "vars")), index=(name,)):
            return None, name
        case ir.Call(func=func, args=args) if path_of(func) in ("fire.Fire", "Fire"):
            return (None, node) if isinstance(node, ir.Call) and not args else None
    return None


def module_of(subject: ir.Expr | None, scopes: ScopeTable) -> str:
    """Return the module that names are looked up in, "" for another object."""
    if subject is None:
        return HERE
    first, _, rest = path_of(subject).partition(".")
    bound = next((b.dotted for b in scopes.module.bindings.get(first, ()) if b.kind == "import"), "")
    return ".".join(filter(None, (bound, rest))) if bound else ""


def parts_of(node: ir.Expr) -> list[str]:
    """Return the constant ends of a name that is put together, and a name that is written out."""
    match node:
        case ir.FString(parts=texts):
            found = [text for text in texts if isinstance(text, str)]
        case ir.Binary(op="+", left=left, right=right):
            found = [str(side.value) for side in (left, right) if isinstance(side, ir.Const)]
        case ir.Const(value=str(text)):
            found = [text]
        case _:
            found = []
    return [text for text in found if len(text) >= _FEWEST or text == "_"]


def pick_of(subject: ir.Expr | None, name: ir.Expr, scope: Scope, scopes: ScopeTable) -> Pick | None:
    """Return the look-up of a name of which one part is computed; None for others, and in objects for a name
    that no constant part tells from others."""
    where = module_of(subject, scopes)
    ends = _ends(name, scope)
    if ends is None or (not where and not any(len(end) >= _FEWEST for end in ends)):
        return None
    return Pick(where, *ends)


def _ends(name: ir.Expr, scope: Scope, depth: int = 0) -> tuple[str, str] | None:
    """Return the constant ends of a name around its one computed part."""
    match name:
        case ir.FString(parts=parts):
            holes = [i for i, part in enumerate(parts) if not isinstance(part, str)]
            return (
                ("".join(map(str, parts[: holes[0]])), "".join(map(str, parts[holes[0] + 1 :])))
                if (len(holes) == 1)
                else None
            )
        case ir.Binary(op="+", left=ir.Const(value=str(before)), right=right):
            inner = _ends(right, scope, depth)
            return (before + inner[0], inner[1]) if inner is not None else None
        case ir.Binary(op="+", left=left, right=ir.Const(value=str(after))):
            inner = _ends(left, scope, depth)
            return (inner[0], inner[1] + after) if inner is not None else None
        case (
            ir.Binary(op="%", left=ir.Const(value=str(text)))
            | ir.Call(func=ir.Attribute(value=ir.Const(value=str(text)), attr="format"))
        ):
            pieces = _HOLE.split(text)
            return (pieces[0], pieces[1]) if len(pieces) == 2 else None
        case ir.Binary() | ir.Const() | ir.IfExp() | ir.Bool():
            return None
        case ir.Name(id=bound):
            values = [b.value for b in scope.lookup(bound) if b.kind == "value"]
            if len(values) == 1 and values[0] is not None and depth < _DEEPEST:
                return _ends(values[0], scope, depth + 1)
            return None if len(values) > 1 else ("", "")
    return "", ""

"""Names that a program puts together and looks up while it runs: `getattr(models, name)`."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.scopes import ScopeTable, path_of

HERE = "."
_FEWEST = 3  # characters of a part of a name, but for the "_" of private ones


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

"""Read the paths of files that a module saves and loads."""

from __future__ import annotations

from collections.abc import Iterable

from xlamig import ir
from xlamig.flow.model.scopes import Binding, Scope, path_of

_HEADS = frozenset({"Path", "str", "abspath", "realpath", "expanduser"})
_FOLLOWED = 4  # names and calls around a path


def file_argument(call: ir.Call, index: int) -> ir.Expr | None:
    """Return the argument that is the file of a load or save."""
    named = next((arg.value for arg in call.args if arg.keyword == "f"), None)
    plain = [arg.value for arg in call.args if arg.keyword is None and not arg.star]
    return named or (plain[index] if len(plain) > index else None)


def opened(file: ir.Expr, around: Iterable[ir.Node]) -> ir.Expr:
    """Return the path of a file that a statement around opens, `with open(path, "wb") as f`, or the file."""
    for node in around:
        for item in node.items if isinstance(node, ir.With) else ():
            match item:
                case ir.WithItem(
                    value=ir.Call(func=ir.Name(id="open"), args=(ir.Arg(value=path), *_)),
                    target=ir.Name(id=name),
                ) if path_of(file) == name:
                    return path
    return file


def only_value(node: ir.Expr, scope: Scope) -> Binding | None:
    """Return the only value that a name or attribute is bound to, with its scope."""
    path = path_of(node)
    bound = scope.find(path) if path else []
    return bound[0] if len(bound) == 1 and bound[0].kind == "value" else None


def file_name(node: ir.Expr, scope: Scope, depth: int = _FOLLOWED) -> str:
    """Return the constant name of the file at the end of a path, "" if it is not known as a whole."""
    if not depth:
        return ""
    match node:
        case ir.Const(value=str(text)):
            return text.rpartition("/")[2]
        case ir.FString(parts=(*_, str(text))) if "/" in text:
            return text.rpartition("/")[2]
        case ir.Binary(op="/", right=right):
            return file_name(right, scope, depth - 1)
        case ir.Binary(op="+", left=left, right=right):
            whole = _ends_in_slash(left) or any("/" in text for text in _texts(right))
            return file_name(right, scope, depth - 1) if whole else ""
        case ir.Binary(op="%", left=left) | ir.Call(func=ir.Attribute(value=left, attr="format")):
            last = _name_in(left)
            return "" if "{" in last or "%" in last else last
        case ir.Call(func=func, args=(*_, last)) if path_of(func).endswith("path.join"):
            return file_name(last.value, scope, depth - 1)
        case ir.Call(func=func, args=(only,)) if path_of(func).rpartition(".")[2] in _HEADS:
            return file_name(only.value, scope, depth - 1)
        case ir.Name() | ir.Attribute():
            bound = only_value(node, scope)
            value = bound.value if bound is not None else None
            return file_name(value, bound.scope, depth - 1) if bound is not None and value is not None else ""
    return ""


def _ends_in_slash(node: ir.Expr) -> bool:
    """Return whether a text ends in a slash: `folder + "/"`."""
    match node:
        case ir.Binary(op="+", right=right):
            return _ends_in_slash(right)
        case ir.Const(value=str(text)) | ir.FString(parts=(*_, str(text))):
            return text.endswith("/")
    return False


def _texts(node: ir.Expr) -> Iterable[str]:
    return (
        part.value for part in ir.walk(node) if isinstance(part, ir.Const) and isinstance(part.value, str)
    )


def _name_in(node: ir.Expr) -> str:
    """Return what a text has after its last slash, "" without one."""
    text = node.value if isinstance(node, ir.Const) and isinstance(node.value, str) else ""
    return text.rpartition("/")[2] if "/" in text else ""

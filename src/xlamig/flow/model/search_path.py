"""Find the folders that a script adds to `sys.path`, from which it imports."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from xlamig import ir
from xlamig.flow.model.scopes import path_of

_ADDS = frozenset({"sys.path.append", "sys.path.insert", "sys.path.extend"})
_MOST_NAMES = 4  # a folder is made of folders that are made of others


def search_path(module: ir.Module, text: str) -> tuple[str, ...]:
    """Return the folders that a module adds to the search path, with dots: "core" of
    `sys.path.append("core")`, of `sys.path.insert(0, os.path.join(here, "core"))`, and where a function or
    a variable stands between."""
    if "sys.path" not in text:
        return ()
    assigned = {
        path_of(node.targets[0]): node.value
        for node in module.body
        if isinstance(node, ir.Assign) and len(node.targets) == 1
    }
    return tuple(dict.fromkeys(filter(None, (_dotted(folder, assigned) for folder in _added(module)))))


def _added(module: ir.Module) -> Iterator[ir.Expr]:
    """Yield the folders that are added, by the module or by calls of its functions that add one."""
    adding = {node.name for node in module.body if isinstance(node, ir.FunctionDef) and _adds_argument(node)}
    for node in ir.walk(module):
        match node:
            case ir.Call(func=func, args=(*_, last)) if path_of(func) in _ADDS or path_of(func) in adding:
                yield from last.value.elements if isinstance(last.value, ir.Sequence) else (last.value,)


def _adds_argument(function: ir.FunctionDef) -> bool:
    """Return whether a function adds its last parameter to the search path."""
    calls = (node for node in ir.walk(function) if isinstance(node, ir.Call) and path_of(node.func) in _ADDS)
    names = {path_of(node) for call in calls for node in ir.walk(call) if isinstance(node, ir.Name)}
    return bool(function.params) and function.params[-1].name in names


def _dotted(folder: ir.Expr, assigned: Mapping[str, ir.Expr], depth: int = 0) -> str:
    """Return the constant parts of a path, with dots."""
    parts: list[str] = []
    for node in ir.walk(folder):
        if isinstance(node, ir.Const) and isinstance(node.value, str):
            parts += node.value.split("/")
        elif isinstance(node, ir.Name) and node.id in assigned and depth < _MOST_NAMES:
            parts.append(_dotted(assigned[node.id], assigned, depth + 1))
    return ".".join(part for part in parts if part not in ("", ".", ".."))


def exactly(folder: str) -> str:
    """Return the entry of a search path that means this folder of the project alone."""
    return f".{folder}"


def folders_named(added: Iterable[str], folders: Collection[str]) -> Iterator[str]:
    """Yield the project's folders that a search path may mean: relative to where the script starts, unless it
    says which one."""
    for name in added:
        if name.startswith("."):
            yield from {name[1:]}.intersection(folders)
            continue
        yield from (folder for folder in sorted(folders) if folder == name or folder.endswith(f".{name}"))

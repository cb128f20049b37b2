"""Find the folders that a script adds to `sys.path`, from which it imports."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from xlamig import ir
from xlamig.flow.model.scopes import path_of

_ADDS = frozenset({"sys.path.append", "sys.path.insert", "sys.path.extend"})


def search_path(module: ir.Module, text: str) -> tuple[str, ...]:
    """Return the folders that a module adds to the search path, with dots: "core" of
    `sys.path.append("core")` and of `sys.path.insert(0, os.path.join(here, "core"))`."""
    return tuple(dict.fromkeys(filter(None, _added(module)))) if "sys.path" in text else ()


def _added(module: ir.Module) -> Iterator[str]:
    for node in ir.walk(module):
        match node:
            case ir.Call(func=func, args=args) if args and path_of(func) in _ADDS:
                added = args[-1].value
                yield from map(_dotted, added.elements if isinstance(added, ir.Sequence) else (added,))


def _dotted(folder: ir.Expr) -> str:
    """Return the constant parts of a path, with dots."""
    texts = [node.value for node in ir.walk(folder) if isinstance(node, ir.Const)]
    parts = [part for text in texts if isinstance(text, str) for part in text.split("/")]
    return ".".join(part for part in parts if part not in ("", ".", ".."))


def folders_named(added: Iterable[str], folders: Collection[str]) -> Iterator[str]:
    """Yield the project's folders that a search path may mean: relative to where the script starts."""
    for name in added:
        yield from (folder for folder in sorted(folders) if folder == name or folder.endswith(f".{name}"))

"""Classes that need attention kernels for GPUs, where the class above them does without."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from xlamig import ir
from xlamig.flow.model.scopes import path_of


def gpu_classes(module: ir.Module, packages: Collection[str]) -> Mapping[str, str]:
    """Return the classes whose `forward` calls a package on every way, which is imported if it is there, each
    with the package, and what nothing but such classes uses: `LlamaFlashAttention2`."""
    imported = dict(_imported_at_times(module, packages))
    classes = {node.name: node for node in module.body if isinstance(node, ir.ClassDef)} if imported else {}
    needs = {name: _needed(node, imported) for name, node in classes.items()}
    found = {
        name: needs[name]
        for name, node in classes.items()
        if needs[name] and any(needs.get(path_of(base.value)) == "" for base in node.args)
    }
    functions = {node.name for node in module.body if isinstance(node, ir.FunctionDef)} if found else set()
    grown = True
    while grown:
        more = {name: package for name in functions - found.keys() if (package := _user(module, name, found))}
        found |= more
        grown = bool(more)
    return found


def _imported_at_times(module: ir.Module, packages: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the names that stand for parts of packages, each with its package, where an import may fail."""
    for statement in module.body:
        if not isinstance(statement, ir.If | ir.Try):
            continue
        for node in ir.walk(statement):
            if isinstance(node, ir.ImportFrom) and node.module.partition(".")[0] in packages:
                yield from ((one.asname or one.name, node.module.partition(".")[0]) for one in node.names)


def _needed(node: ir.ClassDef, imported: Mapping[str, str]) -> str:
    """Return the package that the forward pass of a class calls on every way; "" for none."""
    methods = {one.name: one for one in node.body if isinstance(one, ir.FunctionDef)}
    needs = dict(imported)
    for _ in methods:  # one calls the other
        needs |= {
            f"self.{name}": package for name, one in methods.items() if (package := _on_all(one.body, needs))
        }
    return needs.get("self.forward", "")


def _on_all(block: ir.Block, needs: Mapping[str, str]) -> str:
    """Return the package that a block calls, directly or by a method, whichever branches it takes."""
    for statement in block:
        if isinstance(statement, ir.If):
            ways = {_on_all(statement.body, needs), _on_all(statement.orelse, needs)}
            if "" not in ways:
                return min(ways)
            continue
        called = (path_of(part.func) for part in ir.walk(statement) if isinstance(part, ir.Call))
        if package := next((needs[name] for name in called if name in needs), ""):
            return package
    return ""


def _user(module: ir.Module, name: str, found: Mapping[str, str]) -> str:
    """Return the package of what is found so far, if nothing else in a module mentions a function."""
    mentions = [
        getattr(statement, "name", "")
        for statement in module.body
        if any(isinstance(node, ir.Name) and node.id == name for node in ir.walk(statement))
    ]
    return found[mentions[0]] if mentions and all(one in found for one in mentions) else ""

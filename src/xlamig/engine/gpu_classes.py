"""Classes that need attention kernels for GPUs, where the class above them does without."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from xlamig import ir
from xlamig.flow.model.scopes import path_of


def gpu_classes(module: ir.Module, packages: Collection[str]) -> Mapping[str, str]:
    """Return the classes whose `forward` calls an optional package on every path, and the functions that
    nothing but such classes uses, each with the package: `LlamaFlashAttention2`."""
    imported = dict(_imported_at_times(module, packages))
    classes = {node.name: node for node in module.body if isinstance(node, ir.ClassDef)} if imported else {}
    needs = {name: _needed(node, imported) for name, node in classes.items()}
    found = {
        name: needs[name]
        for name, node in classes.items()
        if needs[name] and any(needs.get(path_of(base.value)) == "" for base in node.args)
    }
    users = _users_of_functions(module) if found else {}
    grown = True
    while grown:
        left = ((name, mentions) for name, mentions in users.items() if name not in found)
        more = {
            name: found[min(mentions)] for name, mentions in left if mentions and mentions <= found.keys()
        }
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
    """Return the package that the forward pass of a class calls on every path; "" for none."""
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


def _users_of_functions(module: ir.Module) -> Mapping[str, set[str]]:
    """Return the names of the statements of a module that mention its functions, "" for those without one."""
    users = {node.name: set[str]() for node in module.body if isinstance(node, ir.FunctionDef)}
    for statement in module.body:
        for node in ir.walk(statement):
            if isinstance(node, ir.Name) and node.id in users:
                users[node.id].add(getattr(statement, "name", ""))
    return users

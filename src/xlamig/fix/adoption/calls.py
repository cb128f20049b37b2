"""Classify the results of the calls of one file: a module, a tensor on the host, a loader ..."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from xlamig import ir
from xlamig.fix.names import last_name, names_bound
from xlamig.fix.scopes import all_bindings, dotted_name
from xlamig.knowledge import signatures, values

Kind = Literal["module", "tensor", "dataset", "loader", "optimizer", "foreign", "function", ""]

_KINDS: dict[str, Kind] = {
    "module": "module", "wrapped-module": "module", "host-tensor": "tensor", "dataset": "dataset",
    "loader": "loader", "optimizer": "optimizer", "foreign": "foreign", "of-numbers": "foreign",
}  # fmt: skip


class Calls:
    """Classifies the calls of `module` by its imports and by the classes of the file."""

    def __init__(self, module: ir.Module) -> None:
        self.module = module

    def canonical(self, node: ir.Expr) -> str:
        """Return the dotted name behind an expression; "" if it is not an imported one."""
        root, dot, rest = dotted_name(node).partition(".")
        found, local = self._imported.get(root, ("", ()))
        if not found or any(function.start <= node.start < function.end for function in local):
            return ""
        return f"{found}{dot}{rest}"

    def kind(self, node: ir.Node) -> Kind:
        """Return the kind of result of a call; "" for other nodes."""
        if not isinstance(node, ir.Call):
            return ""
        if isinstance(node.func, ir.Name) and node.func.id in self.classes:
            return self.kind_of_class(self.classes[node.func.id])
        name = self.canonical(node.func)
        if _makes_tensor(name):
            return "tensor"
        found = _KINDS.get(values.result_of(name), "") if name else ""
        if name.startswith("torch.") and not found:
            return "function"
        return found

    def kind_of_class(self, node: ir.ClassDef, depth: int = 5) -> Kind:
        """Return "module" or "dataset" for a class that inherits from one."""
        for base in (arg.value for arg in node.args if arg.keyword is None):
            name = dotted_name(base)
            own = self.classes.get(name)
            if (
                own not in (None, node)
                and depth
                and (found := self.kind_of_class(self.classes[name], depth - 1))
            ):
                return found
            if last_name(base).endswith(("Dataset", "Sampler")):
                return "dataset"
            if values.result_of(self.canonical(base)) == "module":
                return "module"
        return ""

    @cached_property
    def classes(self) -> dict[str, ir.ClassDef]:
        """The classes of the file, by name."""
        return {n.name: n for n in ir.walk(self.module) if isinstance(n, ir.ClassDef)}

    @cached_property
    def functions(self) -> dict[str, list[ir.FunctionDef]]:
        """The functions and methods of the file, by name."""
        found: dict[str, list[ir.FunctionDef]] = {}
        for node in ir.walk(self.module):
            if isinstance(node, ir.FunctionDef):
                found.setdefault(node.name, []).append(node)
        return found

    @cached_property
    def _imported(self) -> dict[str, tuple[str, tuple[ir.FunctionDef, ...]]]:
        """Return the meaning of each imported name, and the functions in which it is something else."""
        found: dict[str, str] = {}
        for node in ir.walk(self.module):
            match node:
                case ir.Import(names=names):
                    for alias in names:
                        bound = alias.asname or alias.name.partition(".")[0]
                        found[bound] = alias.name if alias.asname else bound
                case ir.ImportFrom(module=module, level=0, names=names):
                    found.update((a.asname or a.name, f"{module}.{a.name}") for a in names)
        local: dict[str, list[ir.FunctionDef]] = {}
        for functions in self.functions.values():
            for function in functions:
                for name in all_bindings(function).keys() & found:
                    if not all(isinstance(node, ir.Alias) for node in all_bindings(function)[name]):
                        local.setdefault(name, []).append(function)
        outside = {n for node in self.module.body for n in names_bound(node)}
        return {
            name: (dotted, tuple(local.get(name, ())))
            for name, dotted in found.items()
            if name not in outside
        }


def _makes_tensor(name: str) -> bool:
    """Return whether a function of torch makes a tensor, and not out of another tensor."""
    if name in values.names("placing", "for-host") or name.endswith("_like"):
        return False
    if values.result_of(name) == "host-tensor":
        return name.count(".") == 1
    known = signatures.signature(name) if name.startswith("torch.") else None
    if known is None or "device" not in (*known.positional, *known.keywords) or "tensor" not in known.returns:
        return False
    return not known.positional or known.positional[0] not in known.tensors


def follows_tensor(attribute: str) -> bool:
    """Return whether a method gives a tensor that lies where its own does."""
    known = signatures.signature(f"Tensor.{attribute}")
    return (
        known is not None
        and attribute not in values.names("placing", "host")
        and bool(known.returns & {"tensor", "tensors"})
    )

"""Process groups, packages and environment variables: what surrounds the tensors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from xlamig import ir
from xlamig.facts import Environment, Launch, Package, Why
from xlamig.flow.scopes import path_of
from xlamig.flow.site import Analysis, Place

_BACKEND_NAME = re.compile(r"(?:^|[_-])backend$", re.IGNORECASE)
_GPU_BACKENDS = frozenset({"nccl"})


def _is_gpu_backend(node: ir.Expr | None) -> bool:
    """ "nccl", also one part of "cpu:gloo,cuda:nccl"."""
    if not isinstance(node, ir.Const) or not isinstance(node.value, str):
        return False
    return any(name in re.split(r"[:,]", node.value) for name in _GPU_BACKENDS)


class Backends:
    """Launch facts: a process group backend as an option, a default or a setting."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis

    def in_call(self, node: ir.Call, dotted: str | None, place: Place) -> Iterator[Launch]:
        method = node.func.attr if isinstance(node.func, ir.Attribute) else path_of(node.func)
        if method in ("add_argument", "option"):
            named = any(
                isinstance(a.value, ir.Const) and _BACKEND_NAME.search(str(a.value.value))
                for a in node.args
                if a.keyword in (None, "dest")
            )
            for arg in node.args:
                if named and arg.keyword == "default" and _is_gpu_backend(arg.value):
                    yield self._fact(arg.value, "option", place)
            return
        if dotted is not None and self.analysis.names.interest.wants(dotted):
            return  # the call itself is a fact with its arguments
        for arg in node.args:
            if arg.keyword and _BACKEND_NAME.search(arg.keyword) and _is_gpu_backend(arg.value):
                yield self._fact(arg.value, "setting", place)

    def in_defaults(self, params: tuple[ir.Param, ...], place: Place) -> Iterator[Launch]:
        for param in params:
            if (
                param.default is not None
                and _BACKEND_NAME.search(param.name)
                and _is_gpu_backend(param.default)
            ):
                yield self._fact(param.default, "default", place)

    def in_assignment(self, target: ir.Expr, value: ir.Expr, place: Place) -> Iterator[Launch]:
        if _BACKEND_NAME.search(path_of(target).rpartition(".")[2]) and _is_gpu_backend(value):
            yield self._fact(value, "setting", place)

    def _fact(self, node: ir.Expr, via: Literal["option", "default", "setting"], place: Place) -> Launch:
        assert isinstance(node, ir.Const)
        return Launch(**place.fields(node), backend=str(node.value), via=via)


class Packages:
    """Package facts: one per import statement and package."""

    def __init__(self, analysis: Analysis) -> None:
        self.packages = analysis.names.interest.packages

    def imported(self, names: Iterable[str], node: ir.Stmt, place: Place) -> Iterator[Package]:
        found: dict[str, str] = {}
        for dotted in names:
            parts = dotted.split(".")
            above = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
            package = next((name for name in above if name in self.packages), None)
            if package is not None:
                found.setdefault(package, dotted)
        for package, dotted in found.items():
            yield Package(**place.fields(node), package=package, name=dotted)


class Variables:
    """Environment facts: writes to variables of interest."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.variables = analysis.names.interest.variables

    def assigned(self, target: ir.Expr, value: ir.Expr | None, place: Place) -> Iterator[Environment]:
        """`os.environ["X"] = ...`; a variable that is switched off asks for nothing."""
        off = isinstance(value, ir.Const) and value.value in ("0", "", "false", "False")
        if isinstance(target, ir.Subscript) and not off and self._is_environ(target.value, place):
            yield from self._named(target.index[0], target, place)

    def in_call(self, node: ir.Call, dotted: str | None, place: Place) -> Iterator[Environment]:
        """`os.environ.setdefault("X", ...)`, `os.putenv("X", ...)`"""
        func = node.func
        if not isinstance(func, ir.Attribute) or not node.args:
            return
        writes = func.attr == "setdefault" and self._is_environ(func.value, place)
        if writes or dotted == "os.putenv":
            yield from self._named(node.args[0].value, node, place)
        elif func.attr == "update" and self._is_environ(func.value, place):
            first = node.args[0].value
            for key in first.keys if isinstance(first, ir.Dict) else ():
                if key is not None:
                    yield from self._named(key, key, place)

    def _is_environ(self, node: ir.Expr, place: Place) -> bool:
        return self.analysis.names.dotted(node, place.scope) == "os.environ"

    def _named(self, key: ir.Expr, node: ir.Expr, place: Place) -> Iterator[Environment]:
        if isinstance(key, ir.Const) and key.value in self.variables:
            fields = place.fields(node)
            why = Why(f"writes the environment variable {key.value}", (key.start, key.end))
            fields["reasons"] = (*place.reasons, why)
            yield Environment(**fields, variable=str(key.value), access="write")

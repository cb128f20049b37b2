"""Process groups, packages and environment variables: what surrounds the tensors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from xlamig import ir
from xlamig.facts import Environment, Launch, Package, Why
from xlamig.flow.model.scopes import path_of
from xlamig.flow.model.site import Analysis, CodeContext
from xlamig.knowledge import values as table

_BACKEND_NAME = re.compile(r"(?:^|[_-])backend$", re.IGNORECASE)
_GPU_BACKENDS = frozenset({"nccl"})
_CPU_BACKENDS = frozenset({"gloo"})
_BY_DEFAULT = re.compile(r"\.get\([^()]*[\"'](gloo)[\"']\)")
_ON_GPU = re.compile(r"cuda|gpu", re.IGNORECASE)  # false on a TPU host
# The same on a TPU host as on a machine with GPUs.
_LINUX = re.compile(r"os\.name\b|sys\.platform|platform\.system|is_nccl_available")
_METHODS = frozenset({"setdefault", "update", "pop"})
_FUNCTIONS = {"os.putenv": "setdefault", "os.unsetenv": "pop"}  # and the methods that do the same

Access = Literal["write", "delete"]


def _is_gpu_backend(node: ir.Expr | None) -> bool:
    """ "nccl", also one part of "cpu:gloo,cuda:nccl"."""
    if not isinstance(node, ir.Const) or not isinstance(node.value, str):
        return False
    return any(name in re.split(r"[:,]", node.value) for name in _GPU_BACKENDS)


class Backends:
    """Launch facts: a process group backend as an option, a default or a setting."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis

    def in_call(self, node: ir.Call, dotted: str | None, place: CodeContext) -> Iterator[Launch]:
        """Yield the GPU backends that a call's arguments name."""
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
        if dotted in table.names("backends", "replaced"):
            return
        for arg in node.args:
            if arg.keyword and _BACKEND_NAME.search(arg.keyword) and _is_gpu_backend(arg.value):
                yield self._fact(arg.value, "setting", place)

    def in_defaults(self, params: tuple[ir.Param, ...], place: CodeContext) -> Iterator[Launch]:
        """Yield the GPU backends that are defaults of parameters."""
        for param in params:
            if (
                param.default is not None
                and _BACKEND_NAME.search(param.name)
                and _is_gpu_backend(param.default)
            ):
                yield self._fact(param.default, "default", place)

    def in_assignment(self, target: ir.Expr, value: ir.Expr, place: CodeContext) -> Iterator[Launch]:
        """Yield the GPU backend that a name for a backend is set to."""
        if _BACKEND_NAME.search(path_of(target).rpartition(".")[2]) and _is_gpu_backend(value):
            yield self._fact(value, "setting", place)

    def choice(self, node: ir.IfExp, place: CodeContext) -> Iterator[Launch]:
        """Yield the backend that a choice between that of GPUs and another takes on a TPU host."""
        arms = [arm.value for arm in (node.body, node.orelse) if isinstance(arm, ir.Const)]
        others = [str(name) for name in arms if name in _CPU_BACKENDS]
        test = self.analysis.source(node.test)
        if len(arms) != 2 or not others or not any(map(_is_gpu_backend, (node.body, node.orelse))):
            return
        if _LINUX.search(test):
            backend = next(str(name) for name in arms if name not in _CPU_BACKENDS)
        elif _ON_GPU.search(test):
            backend = others[0]
        else:
            return
        yield Launch(**place.fields(node), backend=backend, via="choice")

    def by_device(self, node: ir.Dict, place: CodeContext) -> Iterator[Launch]:
        """Yield the backend that `{"cuda": "nccl"}` leaves to a device which it does not name."""
        keys = [key.value if isinstance(key, ir.Const) else None for key in node.keys]
        gpu = any(k == "cuda" and _is_gpu_backend(v) for k, v in zip(keys, node.values, strict=True))
        default = _BY_DEFAULT.search(self.analysis.text) if gpu and "xla" not in keys else None
        if default is not None:
            yield Launch(**place.fields(node), backend=default[1], via="choice")

    def _fact(
        self, node: ir.Expr, via: Literal["option", "default", "setting"], place: CodeContext
    ) -> Launch:
        assert isinstance(node, ir.Const)
        return Launch(**place.fields(node), backend=str(node.value), via=via)


class Packages:
    """Package facts: one per import statement and package."""

    def __init__(self, analysis: Analysis) -> None:
        self.packages = analysis.names.interest.packages

    def imported(self, names: Iterable[str], node: ir.Stmt, place: CodeContext) -> Iterator[Package]:
        """Yield the packages that an import statement names, each once."""
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
    """Environment facts: changes of variables of interest."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.interest = analysis.names.interest

    def assigned(self, target: ir.Expr, value: ir.Expr | None, place: CodeContext) -> Iterator[Environment]:
        """`os.environ["X"] = ...`"""
        if isinstance(target, ir.Subscript) and self._is_environ(target.value, place):
            yield from self._named(target.index[0], value, target, place)

    def changed(self, node: ir.AugAssign | ir.Delete, place: CodeContext) -> Iterator[Environment]:
        """`os.environ |= {"X": ...}`, `del os.environ["X"]`"""
        if isinstance(node, ir.AugAssign):
            if node.op == "|" and self._is_environ(node.target, place):
                yield from self._entries(node.value, place)
            return
        for target in node.targets:
            if isinstance(target, ir.Subscript) and self._is_environ(target.value, place):
                yield from self._named(target.index[0], None, target, place, "delete")

    def in_call(self, node: ir.Call, dotted: str | None, place: CodeContext) -> Iterator[Environment]:
        """`os.putenv("X", ...)` and the methods of `os.environ`."""
        func = node.func
        if dotted in _FUNCTIONS:
            method = _FUNCTIONS[dotted]
        elif isinstance(func, ir.Attribute) and func.attr in _METHODS and self._is_environ(func.value, place):
            method = func.attr
        else:
            return
        first = node.args[0].value
        if method == "setdefault":
            value = node.args[1].value if len(node.args) > 1 else None
            yield from self._named(first, value, node, place)
        elif method == "pop":
            yield from self._named(first, None, node, place, "delete")
        else:
            for arg in node.args:
                if arg.keyword is None:
                    yield from self._entries(arg.value, place)
                else:
                    yield from self._fact(arg.keyword, arg, arg.value, arg, place)

    def _entries(self, node: ir.Expr, place: CodeContext) -> Iterator[Environment]:
        """The entries of a dictionary that is written out, also as `dict(X=...)`."""
        if isinstance(node, ir.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if key is not None:
                    yield from self._named(key, value, key, place)
        elif isinstance(node, ir.Call) and path_of(node.func) == "dict":
            for arg in node.args:
                if arg.keyword is not None:
                    yield from self._fact(arg.keyword, arg, arg.value, arg, place)

    def _is_environ(self, node: ir.Expr, place: CodeContext) -> bool:
        return self.analysis.names.dotted(node, place.scope) == "os.environ"

    def _named(
        self, key: ir.Expr, value: ir.Expr | None, node: ir.Node, place: CodeContext, access: Access = "write"
    ) -> Iterator[Environment]:
        known = self.analysis.values.of(key, place.scope).value
        if known.kind == "constant" and isinstance(known.value, str):
            yield from self._fact(known.value, key, value, node, place, access)

    def _fact(
        self,
        name: str,
        key: ir.Node,
        value: ir.Expr | None,
        node: ir.Node,
        place: CodeContext,
        access: Access = "write",
    ) -> Iterator[Environment]:
        if not self.interest.wants_variable(name):
            return
        fields = place.fields(node)
        why = Why(f"this line {access}s the environment variable {name}", (key.start, key.end))
        fields["reasons"] = (*place.reasons, why)
        known = None if value is None else self.analysis.values.of(value, place.scope).value
        yield Environment(**fields, variable=name, access=access, value=known)

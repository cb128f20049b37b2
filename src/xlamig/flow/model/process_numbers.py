"""Names that hold the number of a process, by what the program does with them."""

from __future__ import annotations

from xlamig import ir
from xlamig.flow.model.by_kind import of_kind
from xlamig.flow.model.scopes import Scope, path_of
from xlamig.flow.model.site import Analysis

_STARTS = ("init_process_group", "spawn")


class ProcessNumbers:
    """Knows the names in `init_process_group(rank=args.gpu)`, and the first parameters of functions that
    `spawn` starts."""

    def __init__(self, analysis: Analysis) -> None:
        self.paths: set[str] = set()
        self.started: set[str] = set()
        if any(word in analysis.text for word in _STARTS):
            for node in of_kind(analysis.module, ir.Call):
                self._read(node)

    def _read(self, node: ir.Call) -> None:
        called = path_of(node.func).rpartition(".")[2]
        if called == "init_process_group":
            given = (path_of(arg.value) for arg in node.args if arg.keyword == "rank")
            self.paths.update(path for path in given if path)
        elif called == "spawn":
            given = (path_of(a.value) for i, a in enumerate(node.args) if a.keyword == "fn" or i == 0)
            self.started.update(path for path in given if path)

    def holds(self, node: ir.Expr, scope: Scope) -> bool:
        """Return whether a name or attribute holds the number of a process."""
        path = path_of(node)
        if path in self.paths:
            return True
        function = scope.node
        return (
            isinstance(function, ir.FunctionDef)
            and function.name in self.started
            and bool(function.params)
            and path == function.params[0].name
        )

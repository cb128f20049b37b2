"""Names that the code does not show: `o(...)` is `torchdiffeq.odeint`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from xlamig import ir
from xlamig.facts import Interest, Why
from xlamig.flow.model.scopes import path_of


class Spellings:
    """Says why an expression is a name that its text does not end in."""

    def __init__(self, interest: Interest) -> None:
        self.interest = interest

    def reasons(self, node: ir.Expr, name: str) -> tuple[Why, ...]:
        """Return the reason for a name, none where the code shows it."""
        spelled = path_of(node)
        if (
            not spelled
            or spelled == name
            or not self.interest.wants(name)  # only a keyword of it matters
            or "." not in name
            or name.startswith(("Tensor.", "Module.", "unknown."))
            or self._ends_in(name, spelled.rpartition(".")[2])
        ):
            return ()
        return (Why(f"`{spelled}` is `{name}`", (node.start, node.end)),)

    def _ends_in(self, name: str, last: str) -> bool:
        """Return whether the name, or one that a table's alias led from, ends so: `nn.LSTM` says enough."""
        names = (name, *self._aliases.get(name, ()))
        return any(one.rpartition(".")[2] == last for one in names)

    @cached_property
    def _aliases(self) -> Mapping[str, list[str]]:
        """Return the aliases of each name that has some."""
        found: dict[str, list[str]] = {}
        for alias, name in self.interest.aliases.items():
            found.setdefault(name, []).append(alias)
        return found

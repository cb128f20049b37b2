"""What a call is given."""

from __future__ import annotations

from dataclasses import dataclass, field

from xlamig import ir
from xlamig.flow.interp.domain import AbstractValue


@dataclass(slots=True)
class Args:
    """Evaluated arguments. `pairs` are those that are written out, as they stand in the call; those of
    `*args` and `**kwargs` are in `positional` and `keywords` alone."""

    positional: list[AbstractValue] = field(default_factory=list)
    keywords: dict[str, AbstractValue] = field(default_factory=dict)
    pairs: list[tuple[ir.Arg, AbstractValue]] = field(default_factory=list)
    starred: bool = False
    rest: AbstractValue | None = None  # what `*args` goes on with

    def get(self, index: int, keyword: str = "") -> AbstractValue | None:
        if keyword and keyword in self.keywords:
            return self.keywords[keyword]
        return self.positional[index] if 0 <= index < len(self.positional) else None

    def node(self, index: int, keyword: str = "") -> ir.Expr | None:
        """The expression at a position or of a keyword."""
        for node, _ in self.pairs:
            if keyword and node.keyword == keyword:
                return node.value
        plain = [node for node, _ in self.pairs if node.keyword is None]
        return plain[index].value if 0 <= index < len(plain) else None

    @property
    def all(self) -> list[AbstractValue]:
        return [*self.positional, *self.keywords.values()]

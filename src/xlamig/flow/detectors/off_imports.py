"""Imports that a program uses only under an option that nothing turns on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from xlamig import ir
from xlamig.facts import ApiUse, Fact, Guard, Span


class OffImports:
    """Collects the blocks that such options guard, and says which imports only they use."""

    def __init__(self, module: ir.Module, text: str) -> None:
        self.module = module
        self.text = text
        self._blocks: list[tuple[Guard, Span]] = []

    def note(self, guards: tuple[Guard, ...], body: ir.Block) -> None:
        """Note a block under guards."""
        off = next((guard for guard in guards if guard.kind == "off"), None)
        if off is not None and body:
            self._blocks.append((off, (body[0].start, body[-1].end)))

    def proof(self, fact: Fact) -> Mapping[str, str]:
        """Return the option that is to be turned on before an import is used, `{"off": "args.x"}`."""
        if not self._blocks:
            return {}
        uses = [at for name in self._bound(fact) for at in self._uses(name, fact.statement)]
        around = [next((g for g, (start, end) in self._blocks if start <= at < end), None) for at in uses]
        first = next(iter(around), None)
        return {"off": first.text} if first is not None and None not in around else {}

    def _bound(self, fact: Fact) -> Iterator[str]:
        for node in self.module.body:
            if (node.start, node.end) == fact.statement and isinstance(node, ir.Import | ir.ImportFrom):
                for alias in node.names:
                    if not isinstance(fact, ApiUse) or alias.name == fact.name.rpartition(".")[2]:
                        yield alias.asname or alias.name.partition(".")[0]

    def _uses(self, name: str, statement: Span) -> Iterator[int]:
        """Yield where a name stands, comments and texts included."""
        for found in re.finditer(rf"\b{re.escape(name)}\b", self.text):
            if not statement[0] <= found.start() < statement[1]:
                yield found.start()

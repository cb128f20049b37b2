"""The input of every reader of a file: its text, and how to place facts in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from xlamig.facts import ContextTags, Environment, Span, ToolEvent, Value

NO_PARTS: Mapping[str, Span] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Page:
    """`kind` is that of `source.kinds`; `context` holds for every fact of the file."""

    text: str
    kind: str
    context: ContextTags = frozenset()
    optional: bool = False  # what it requires is an extra: requirements.dev.txt

    def fields(self, start: int, end: int) -> dict[str, Any]:
        """Return the fields that every fact at `start:end` carries; its statement is the line."""
        first = self.text.rfind("\n", 0, start) + 1
        last = self.text.find("\n", end)
        statement = (first, len(self.text) if last < 0 else last)
        return {
            "span": (start, end),
            "statement": statement,
            "context": self.context,
            "frequency": "once",
        }

    def as_malformed(self, message: str, start: int, end: int | None = None) -> ToolEvent:
        """The fact that the file, or this line of it, cannot be read."""
        start = min(start, max(0, len(self.text) - 1))
        span: Span = (start, max(end or 0, min(start + 1, len(self.text))))
        detail = "template" if is_template(self.text) else "artifact"
        return ToolEvent(span=span, statement=span, event="unparsable-file", subject=message, detail=detail)

    def setting(
        self,
        name: str,
        value: str,
        span: Span,
        what: Any,
        path: str = "",
        parts: Mapping[str, Span] = NO_PARTS,
    ) -> Environment:
        return Environment(
            **self.fields(*span),
            parts=dict(parts),
            access="file",
            what=what,
            name=name,
            variable=name if what == "variable" else "",
            value=Value("constant", value),
            path=path,
            file=self.kind,
        )

    def offset(self, row: int, column: int = 1) -> int:
        """Return the offset of a row and column as a parser counts them: from 1, by newlines alone."""
        at = 0
        for _ in range(row - 1):
            found = self.text.find("\n", at)
            if found < 0:
                break
            at = found + 1
        return min(at + column - 1, len(self.text))


def is_template(text: str) -> bool:
    """Return whether another program makes the file from this: Helm, Jinja, cookiecutter."""
    return "{{" in text or "{%" in text

"""The text of a C++ source, by the nodes of its tree."""

from __future__ import annotations

from tree_sitter import Node

from xlamig.facts import Span

_NAMES = ("identifier", "field_identifier", "qualified_identifier", "template_function", "operator_name")


class Source:
    """Offsets of bytes, in which the parser counts, as offsets of code points."""

    def __init__(self, text: str, data: bytes) -> None:
        self.text_of_all = text
        self.data = data
        self._plain = len(text) == len(data)

    def text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def span(self, node: Node) -> Span:
        return self.at(node.start_byte), self.at(node.end_byte)

    def byte(self, offset: int) -> int:
        return offset if self._plain else len(self.text_of_all[:offset].encode("utf-8", "surrogatepass"))

    def at(self, offset: int) -> int:
        return offset if self._plain else len(self.data[:offset].decode("utf-8", "replace"))


def declared_name(node: Node) -> Node | None:
    """The name a function definition or declaration declares."""
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type not in _NAMES:
        inner = declarator.child_by_field_name("declarator") or declarator.child_by_field_name("name")
        if inner is None:
            inner = next((c for c in declarator.named_children if c.type in _NAMES), None)
        declarator = inner
    return declarator


def base_name(name: str) -> str:
    """ "ns::f<float, 4>" is f."""
    return name.partition("<")[0].rpartition("::")[2].strip().lstrip("&")

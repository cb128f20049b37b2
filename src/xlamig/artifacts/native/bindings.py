"""Functions of C++ that a source registers for Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from tree_sitter import Node

from xlamig.artifacts.native.source import Source, base_name
from xlamig.artifacts.native.summary import Binding

_HIDDEN_BINDING = re.compile(r"\bm\.(?:def|impl)\([\s\\]*\"([\w:]+)\"\s*(#)?[^,;]*(?:,[\s\\]*&?([\w:]+))?")
_SCHEMA = re.compile(r"\s*(?:\w+\s*\(\s*)?(?:L|u8|R)?\"\s*([\w:.]+)")
_TARGET = re.compile(r"&?\s*((?:\w+::)*\w+)\s*(?:<.*>)?\s*$", re.DOTALL)
_OLD_REGISTRATION = re.compile(r"RegisterOperators\s*\(\s*\)?")
LIBRARY = re.compile(r"(PYBIND11_MODULE|TORCH_LIBRARY\w*|PYBIND11_EMBEDDED_MODULE)\s*\(\s*([\w:]+)")
_NO_FUNCTIONS = ("true", "false", "nullptr")


def bindings(source: Source, calls: list[Node]) -> Iterator[Binding]:
    """`m.def("name", &f)` in PYBIND11_MODULE; `m.def("schema")`, `m.impl("name", f)` in TORCH_LIBRARY."""
    for call in calls:
        function = call.child_by_field_name("function")
        if function is None or function.type != "field_expression":
            continue
        method = function.child_by_field_name("field")
        if method is None or source.text(method) not in ("def", "impl", "op"):
            continue
        library = _library(source, call)
        arguments = call.child_by_field_name("arguments")
        if library is None or arguments is None or not arguments.named_children:
            continue
        first, *rest = [c for c in arguments.named_children if c.type != "comment"]
        name = _SCHEMA.match(source.text(first))
        if name is None or (library[0] == "PYBIND11_MODULE" and not _is_module(source, function)):
            continue
        target = next((m[1] for c in rest if (m := _TARGET.match(source.text(c))) and _is_function(m[1])), "")
        torch = library[0].startswith("TORCH_LIBRARY") or library[0] == "op"
        operator = name[1].rpartition(".")[0] if torch and "." in name[1] else name[1]
        if torch and "::" not in operator and library[1] != "_":
            operator = f"{library[1]}::{operator}"
        via: Literal["torch-library", "pybind11"] = "torch-library" if torch else "pybind11"
        yield Binding(operator, base_name(target), source.span(first), via)


def hidden_bindings(source: Source, macros: list[Node]) -> Iterator[Binding]:
    """A name that a macro completes, `"softmax_" #dtype`, ends in "*"."""
    for macro in macros:
        start = source.at(macro.start_byte)
        for match in _HIDDEN_BINDING.finditer(source.text(macro)):
            span = (start + match.start(1), start + match.end(1))
            yield Binding(match[1] + ("*" if match[2] else ""), base_name(match[3] or ""), span, "pybind11")


def _is_function(text: str) -> bool:
    return (
        not text.startswith(("torch::k", "c10::", "at::k", "py::", "pybind11::"))
        and text not in _NO_FUNCTIONS
    )


def _is_module(source: Source, function: Node) -> bool:
    """Not a method of a class that is bound: `py::class_<T>(m, "T").def(...)`."""
    owner = function.child_by_field_name("argument")
    text = source.text(owner) if owner is not None else ""
    return "class_" not in text and "enum_" not in text


def _library(source: Source, node: Node) -> tuple[str, str] | None:
    """The macro around a registration, and its first argument."""
    above: Node | None = node
    while above is not None:
        if above.type == "function_definition" or above.type == "ERROR":
            found = LIBRARY.search(source.text(above)[:200])
            if found:
                return found[1], found[2]
        if above.type == "call_expression" and _OLD_REGISTRATION.search(source.text(above)[:80]):
            return "op", "_"
        above = above.parent
    return None

"""Find the arguments that the calls in a file pass for a parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from xlamig import ir
from xlamig.fix.names import last_name
from xlamig.per_file import per_file


def passed_for(module: ir.Module, path: Sequence[ir.Node], name: str) -> Iterator[ir.Expr]:
    """Yield what the calls in the file pass for `name`, a parameter of the innermost function around a place
    that has one, or for `self.name` to the constructor of the class around it."""
    owner = next((node for node in reversed(path) if isinstance(node, ir.ClassDef)), None)
    first, _, attribute = name.rpartition(".")
    methods = [node for node in owner.body if isinstance(node, ir.FunctionDef)] if owner else []
    if first == "self":
        functions = [node for node in methods if node.name == "__init__"]
    else:
        around = (node for node in reversed(path) if isinstance(node, ir.FunctionDef))
        functions = [node for node in around if any(p.name == attribute for p in node.params)][:1]
    for function in functions:
        names = [param.name for param in function.params]
        called = (
            owner.name if owner and function in methods and function.name == "__init__" else function.name
        )
        if attribute in names:
            yield from _passed_arguments(
                module, called, attribute, names.index(attribute) - (names[0] in ("self", "cls"))
            )


def _passed_arguments(module: ir.Module, called: str, name: str, position: int) -> Iterator[ir.Expr]:
    for call in _calls(module).get(called, ()):
        positional = [arg for arg in call.args if arg.keyword is None]
        if position < len(positional) and not any(arg.star for arg in positional[: position + 1]):
            yield positional[position].value
        yield from (arg.value for arg in call.args if arg.keyword == name)


@per_file
@lru_cache(maxsize=2)
def _calls(module: ir.Module) -> Mapping[str, Sequence[ir.Call]]:
    """Return the calls of a module by the last name of what they call."""
    found: dict[str, list[ir.Call]] = {}
    for node in ir.walk(module):
        if isinstance(node, ir.Call):
            found.setdefault(last_name(node.func), []).append(node)
    return found

"""Find options that a module only compares where CUDA is available: their defaults reach no tensor."""

from __future__ import annotations

from collections.abc import Iterator

from xlamig import ir
from xlamig.flow.model.scopes import path_of
from xlamig.knowledge import helpers
from xlamig.knowledge import values as table


def is_only_asked(module: ir.Module, name: str) -> bool:
    """Return whether a module reads an option, `args.name`, and only in tests such as
    `torch.cuda.is_available() and args.name == "cuda"`."""
    reads = {node.start for node in ir.walk(module) if _reads(node, name)}
    asked = {node.start for test in ir.walk(module) for node in _asked(test) if _reads(node, name)}
    return bool(reads) and reads == asked


def _asked(test: ir.Node) -> Iterator[ir.Node]:
    """Yield what comparisons hold beside `torch.cuda.is_available()`, or before the helper that fixes write
    for that: `default_device(0) if args.name == "cuda" else cpu`."""
    match test:
        case ir.IfExp(test=ir.Compare() as asked, body=ir.Call(func=func)):
            if path_of(func).rpartition(".")[2] == helpers.DEVICE:
                yield from ir.walk(asked)
    if isinstance(test, ir.Bool) and test.op == "and" and any(map(_is_cuda_test, test.values)):
        for value in test.values:
            if isinstance(value, ir.Compare):
                yield from ir.walk(value)


def _is_cuda_test(node: ir.Expr) -> bool:
    return isinstance(node, ir.Call) and path_of(node.func).endswith("cuda.is_available")


def _reads(node: ir.Node, name: str) -> bool:
    return (
        isinstance(node, ir.Attribute)
        and node.attr == name
        and table.name_like("settings").search(path_of(node.value).rpartition(".")[2]) is not None
    )

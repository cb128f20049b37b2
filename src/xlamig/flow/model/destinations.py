"""The names under which parsers of command lines keep their options."""

from __future__ import annotations

from xlamig import ir


def destination(call: ir.Call) -> str:
    """Return the name under which a parser keeps an option: `dest`, or the first long flag, as in argparse
    ("--lr/--no-lr" of click is one). "" where neither is written out."""
    dest = next((arg.value for arg in call.args if arg.keyword == "dest"), None)
    given = [arg.value for arg in call.args if arg.keyword is None] if dest is None else [dest]
    flags = [node.value for node in given if isinstance(node, ir.Const) and isinstance(node.value, str)]
    first = next((flag for flag in flags if flag.startswith("--")), flags[0] if flags else "")
    return first.partition("/")[0].lstrip("-").replace("-", "_")

"""Which texts a native parser may overflow its stack on, or take minutes for.

LibCST builds its tree by recursion, in time quadratic in the depth. A long sum is as deep as it has
terms, so neither brackets nor indentation alone tell the depth.
"""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache

_SIZE = 1_000_000
_BRACKETS = 90
_LINKS = 1_000
_LEVELS = 1_500
"""LibCST takes seconds for a tree this deep, and people never write one a fifth as deep."""

_NOT_BRACKETS = re.compile(r"[^()\[\]{}]+")
_TOP_LEVEL = re.compile(r"\n(?=(?:def|class|import|from|if|for|@)\b)")
_STATEMENT = re.compile(
    r"\n[ \t]*(?=(?:def|class|import|from|if|for|while|with|return|raise|assert|yield|@)\b|[\w.\[\]]+ = )"
)
# What adds a level without a bracket around it: operators but for the sign of a number in a table,
# words, attributes, calls of calls.
_LINK = re.compile(
    r"[^\s,(\[{:=]\s*[-+*/%@&|^~]|\b(?:and|or|not|if|for|lambda|await)\b|\.[^\W\d]|[\])]\s*[(\[]"
)


def is_risky(text: str) -> bool:
    """Return whether a parser should get this text in a process of its own. Quick, and seldom wrong."""
    if len(text) > _SIZE or text.count("elif ") > _LINKS:
        return True
    return any(map(_is_risky_piece, _TOP_LEVEL.split(text)))


@lru_cache(maxsize=1_000)  # most of a text is the same after an edit
def _is_risky_piece(piece: str) -> bool:
    return _deepest(piece) > _BRACKETS or _longest(piece) > _LINKS


def _deepest(piece: str) -> int:
    if sum(map(piece.count, "([{")) <= _BRACKETS:
        return 0  # not deep enough to matter
    depth = deepest = 0
    for bracket in _NOT_BRACKETS.sub("", piece):
        if bracket in "([{":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    return deepest


def _longest(piece: str) -> int:
    """Links in the longest chain that one statement may hold."""
    if len(piece) <= 2 * _LINKS:
        return 0
    long = (part for part in _STATEMENT.split(piece) if len(part) > 2 * _LINKS)
    return max((len(_LINK.findall(part)) for part in long), default=0)


def too_deep(text: str) -> str | None:
    """Why a text is not even to be tried, by the word of Python's own parser, which has limits
    where LibCST has none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        return error.msg if error.msg.startswith("too many") else None
    except (RecursionError, MemoryError):
        return "nested too deeply to be parsed"
    except ValueError:
        return None
    levels = _levels(tree)
    return f"nested {levels} levels deep; above {_LEVELS} it is not parsed" if levels > _LEVELS else None


def _levels(tree: ast.AST) -> int:
    deepest = 0
    waiting = [(tree, 0)]
    while waiting:
        node, level = waiting.pop()
        level += _own_levels(node)
        deepest = max(deepest, level)
        waiting += [(child, level) for child in ast.iter_child_nodes(node)]
    return deepest


def _own_levels(node: ast.AST) -> int:
    """Levels of a node in LibCST's tree; Python's keeps these chains flat."""
    match node:
        case ast.BoolOp():
            return len(node.values)
        case ast.alias():
            return 1 + node.name.count(".")
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return 1 + len(node.generators)
    return 1

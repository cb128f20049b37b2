"""Show above a loop what happens every step."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence

from xlamig.findings import Finding, Mechanism
from xlamig.report.numbers import number

_COUNTED: dict[Mechanism, str] = {
    "host-sync": "host read",
    "recompile": "recompilation",
    "cpu-fallback": "CPU fallback",
}
_Block = ast.For | ast.AsyncFor | ast.While | ast.FunctionDef | ast.AsyncFunctionDef


def step_lenses(text: str, findings: Sequence[Finding]) -> Iterator[tuple[int, str]]:
    """Rows of loops and functions, with what each step costs there. Text that does not parse has none."""
    wanted = [f for f in findings if f.frequency == "step" and f.mechanism in _COUNTED and f.cell is None]
    if not wanted:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    blocks = sorted((n for n in ast.walk(tree) if isinstance(n, _Block)), key=lambda n: n.lineno)
    counted: dict[_Block, Counter[str]] = {}
    for finding in wanted:
        block = _innermost(blocks, finding.place.location.row)
        if block is not None:
            counted.setdefault(block, Counter())[_COUNTED[finding.mechanism]] += 1
    for block, counts in counted.items():
        what = ", ".join(number(count, word) for word, count in counts.items())
        where = "this function" if isinstance(block, ast.FunctionDef | ast.AsyncFunctionDef) else "this loop"
        yield block.lineno, f"{where}: {what} per step"


def _innermost(blocks: Sequence[_Block], row: int) -> _Block | None:
    """The innermost loop around a row, or the function where there is none in it."""
    around = [block for block in blocks if block.lineno <= row <= (block.end_lineno or block.lineno)]
    return around[-1] if around else None

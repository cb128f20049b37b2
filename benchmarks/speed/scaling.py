"""Measure whether the time of an analysis grows in step with the length of a module.

For generated modules of several kinds and lengths: CPU microseconds per line of parsing and of the
analysis after it. Constant columns mean linear growth; the last column is the longest against the
shortest.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable

from xlamig import syntax
from xlamig.facts import Interest
from xlamig.flow import facts_of, summary_of

TORCH = "import torch\nfrom torch import nn\n"


def straight(lines: int) -> str:
    body = "".join(f"    x{i + 1} = torch.relu(x{i})\n" for i in range(lines))
    return f"{TORCH}def f(x0):\n{body}"


def branches(lines: int) -> str:
    body = "".join(f"    if x > {i}:\n        y{i} = x * {i}\n" for i in range(lines // 2))
    return f"{TORCH}def f(x):\n{body}"


def loops(lines: int) -> str:
    body = "".join(f"    for i in range(9):\n        x = x + {i}\n" for i in range(lines // 2))
    return f"{TORCH}def f(x):\n{body}"


def nested(lines: int) -> str:
    """Loops twelve deep, one after the other."""
    nest = (
        "".join(f"{' ' * depth}for i{depth} in range(9):\n" for depth in range(1, 13))
        + f"{' ' * 13}x = x + 1\n"
    )
    return f"{TORCH}def f(x):\n{nest * (lines // 13)}"


def chain(lines: int) -> str:
    """Functions that call the one before."""
    body = "".join(f"def f{i + 1}(x):\n    y = f{i}(x)\n    return y.relu()\n" for i in range(lines // 3))
    return f"{TORCH}def f0(x):\n    return x\n{body}"


def recursive(lines: int) -> str:
    body = "".join(
        f"def f{i}(x):\n    return f{i}(g{i}(x))\ndef g{i}(x):\n    return f{i}(x + 1)\n"
        for i in range(lines // 4)
    )
    return f"{TORCH}{body}"


def classes(lines: int) -> str:
    one = """class C{}(nn.Module):
    def __init__(self):
        self.a = nn.Linear(3, 3)
    def forward(self, x):
        return self.a(x).item()
"""
    return TORCH + "".join(one.format(i) for i in range(lines // 5))


def calls(lines: int) -> str:
    body = "".join(f"a{i} = g(torch.ones({i}, device='cuda'))\n" for i in range(lines))
    return f"{TORCH}def g(x):\n    return x.relu()\n{body}"


FORMS: tuple[Callable[[int], str], ...] = (
    straight,
    branches,
    loops,
    nested,
    chain,
    recursive,
    classes,
    calls,
)


def cost(text: str) -> tuple[float, float]:
    """CPU seconds of parsing and of the analysis."""
    begin = time.process_time()
    module = syntax.module_from_text(text)
    parsed = time.process_time()
    summary_of(module, text, "generated", False)
    facts_of(module, text, "generated", False, Interest(), {})
    return parsed - begin, time.process_time() - parsed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    options = parser.parse_args()
    gc.disable()  # the command collects garbage seldom, too
    cost(straight(200))  # what is loaded once
    lengths = ", ".join(f"{lines:,}" for lines in options.lines)
    print(f"microseconds per line of {lengths} lines: parse | analysis")
    growth = {}
    for form in FORMS:
        costs = [[1e6 * part / lines for part in cost(form(lines))] for lines in options.lines]
        growth[form.__name__] = round(costs[-1][1] / costs[0][1], 2)
        parsing, analysis = (" ".join(f"{c[i]:7.1f}" for c in costs) for i in (0, 1))
        print(f"{form.__name__:10} {parsing} | {analysis}   x {growth[form.__name__]}", flush=True)
    print(json.dumps({"lines": options.lines, "growth": growth}))


if __name__ == "__main__":
    main()

"""Measure whether the time of a check, and of `--fix`, grows in step with the number of findings.

For generated files in which every few lines hold a finding: CPU milliseconds per repetition of a whole
process, start-up subtracted. The last column is the longest against the shortest; above 1.5 the command
exits with 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FORMS = {
    "cuda-method": "y = torch.ones(2).cuda()\n",
    "cuda-or-cpu": "device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n",
    "half": "x = torch.ones(3).cuda().half()\n",
    "autocast": "with torch.cuda.amp.autocast():\n    pass\n",
    "synchronize": "torch.cuda.synchronize()\n",
    "seed": "torch.cuda.manual_seed_all({i})\n",
    "nccl": "torch.distributed.init_process_group('nccl')\n",
    "mask-write": "def f{i}(x: torch.Tensor):\n    x[x > 0] = 1\n    return x\n",
    "step": (
        "for x in loader:\n    loss = model(x).sum()\n    loss.backward()\n    opt.step()\n"
        "    print(loss.item())\n"
    ),
    "forward": (
        "class C{i}(torch.nn.Module):\n    def forward(self, x):\n"
        "        if x.sum() > 0:\n            return x[x > 0]\n        return x.nonzero()\n"
    ),
}


def cpu_seconds(text: str, *arguments: str) -> float:
    """CPU seconds of one `xlamig check` of a file with this text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "generated.py")
        path.write_text(f"import torch\n{text}")
        command = [sys.executable, "-c", "from xlamig.cli import script; script()", "check", "-j1"]
        options = ["--no-cache", "--isolated", "--exit-zero", *arguments, str(path)]
        before = os.times()
        subprocess.run([*command, *options], check=True, capture_output=True)
        after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def growth(form: str, counts: list[int], *arguments: str) -> tuple[list[float], float]:
    """Milliseconds per repetition at each count, and how much more the last one takes than the first."""
    start = cpu_seconds("", *arguments)
    costs = [
        1e3
        * (cpu_seconds("".join(FORMS[form].replace("{i}", str(i)) for i in range(n)), *arguments) - start)
        / n
        for n in counts
    ]
    return costs, costs[-1] / costs[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--counts", type=int, nargs="+", default=[2_000, 20_000])
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    options = parser.parse_args()
    ratios = {}
    for form in options.forms:
        for name, arguments in (("check", ()), ("fix", ("--fix", "--unsafe-fixes"))):
            costs, ratio = growth(form, options.counts, *arguments)
            ratios[f"{form} {name}"] = round(ratio, 2)
            figures = " ".join(f"{cost:8.2f}" for cost in costs)
            print(f"{form:12} {name:6} {figures}   x {ratio:.2f}", flush=True)
    print(json.dumps({"counts": options.counts, "growth": ratios}))
    sys.exit(any(ratio > 1.5 for ratio in ratios.values()))


if __name__ == "__main__":
    main()

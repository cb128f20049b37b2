"""Measure whether the time of a check grows in step with a program.

    python -m benchmarks.speed.scaling                                  # all kinds, up to 100,000 lines
    python -m benchmarks.speed.scaling --kinds findings files --lines 5000 20000

For generated programs of several kinds and sizes, most with a finding or a fix in nearly each line: CPU
microseconds per line of the whole check, in one process without a cache. The last column is the longest
program against the shortest; above `--most` the command fails.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from xlamig import engine
from xlamig.engine import Options

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


def findings(lines: int) -> str:
    return TORCH + "y = torch.ones(2).cuda()\n" * lines


def names(lines: int) -> str:
    return TORCH + "".join(f"x{i} = torch.ones({i}).cuda()\n" for i in range(lines))


def imports(lines: int) -> str:
    one = "from torch import cuda as c{0}\nc{0}.synchronize()\n"
    return TORCH + "".join(one.format(i) for i in range(lines // 2))


def depth(lines: int) -> str:
    """Branches twelve deep with a finding in each, one after the other."""
    nest = "".join(
        f"{' ' * depth}if n > {depth}:\n{' ' * (depth + 1)}x = x.cuda()\n" for depth in range(1, 13)
    )
    return f"{TORCH}def f(x, n):\n{nest * (lines // 24)}"


def training(lines: int) -> str:
    """Functions with a training loop that reads its loss."""
    one = """def train{}(model, loader, optimizer):
    for images, labels in loader:
        loss = model(images.cuda(), labels.cuda())
        loss.backward()
        optimizer.step()
        print(loss.item())
"""
    return TORCH + "".join(one.format(i) for i in range(lines // 6))


def reads(lines: int) -> str:
    """One loop that reads a tensor in each line, into a name of its own."""
    body = "".join(f"    v{i} = x.sum().item()\n" for i in range(lines))
    return f"{TORCH}x = torch.ones(4, device='cuda')\nfor step in range(9):\n    x = x * 2\n{body}"


def flags(lines: int) -> str:
    """Training loops of one function that ask for one flag."""
    one = """    for images in loader:
        if use_cuda:
            images = images.cuda()
        loss = model(images)
        loss.backward()
        optimizer.step()
"""
    head = "use_cuda = torch.cuda.is_available()\ndef train(model, loader, optimizer):\n"
    return f"{TORCH}{head}{one * (lines // 6)}"


def methods(lines: int) -> str:
    """Methods of one class that keep a loss and read it."""
    one = """    def step{0}(self, x, i):
        self.loss{0} = self.net(x.cuda()).sum()
        if i % 10 == 0:
            print(self.loss{0}.item())
        self.total += self.loss{0}.item()
"""
    head = "class Trainer:\n    def __init__(self, net):\n        self.net = net\n"
    return TORCH + head + "".join(one.format(i) for i in range(lines // 5))


def masks(lines: int) -> str:
    """One function that selects by a mask of its own in each group of lines."""
    one = "    m{0} = x > {0}\n    y{0} = x[m{0}]\n    if y{0}.sum() > 0:\n        x = x + 1\n"
    return f"{TORCH}def f(x):\n    x = x.cuda()\n" + "".join(one.format(i) for i in range(lines // 4))


def lengths(lines: int) -> str:
    """One loop that cuts a tensor at many lengths."""
    one = "        n{0} = int(lengths[{0}])\n        out{0} = h[:n{0}]\n"
    head = "def f(model, loader):\n    for x, lengths in loader:\n        h = model(x.cuda())\n"
    return TORCH + head + "".join(one.format(i) for i in range(lines // 2))


def counters(lines: int) -> str:
    """One loop that reads a tensor in some iterations, by a test for each read."""
    one = "    if step % {0} == 3:\n        print(x.sum().item())\n    step += 1\n"
    head = "x = torch.ones(3).cuda()\nstep = 0\nfor b in loader:\n"
    return TORCH + head + "".join(one.format(i + 2) for i in range(lines // 3))


def loads(lines: int) -> str:
    """Functions that load a file, and others that save it."""
    one = """def load{0}(path, model):
    state = torch.load(path + '{0}')
    model.load_state_dict(state['model'])
def save{0}(path, model):
    torch.save(dict(model=model.state_dict()), path + '{0}')
"""
    return TORCH + "".join(one.format(i) for i in range(lines // 5))


def suppressed(lines: int) -> str:
    return TORCH + "torch.cuda.synchronize()  # xlamig: ignore[XLA005]\n" * lines


Files = Mapping[str, str]


def one_file(form: Callable[[int], str]) -> Callable[[int], Files]:
    return lambda lines: {"train.py": form(lines)}


def files(lines: int) -> Files:
    """Files of five lines, each imported by ten others: 20,000 for 100,000 lines."""
    body = "import torch\nfrom pack.m{0} import g{0}\n\ndef g{1}(x):\n    return g{0}(x.cuda())\n"
    return {f"pack/m{i}.py": body.format(i // 10, i) for i in range(lines // 5)}


FORMS = (
    straight, branches, loops, nested, chain, recursive, classes, calls,
    findings, names, imports, depth, training, reads, flags, methods,
    masks, lengths, counters, loads, suppressed,
)  # fmt: skip
KINDS: dict[str, Callable[[int], Files]] = {form.__name__: one_file(form) for form in FORMS}
KINDS["files"] = files
KINDS["fixes"] = one_file(findings)


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and its children: a large file is parsed in one of these."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def cost(kind: str, lines: int) -> tuple[float, int]:
    """CPU seconds of a check, for "fixes" of fixing, and the number of findings."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in KINDS[kind](lines).items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        options = Options({"max-file-size": 1_000_000_000}, isolated=True, cache=False, jobs=1)
        begin = cpu_seconds()
        if kind == "fixes":
            report = engine.fix([Path(folder)], options, {"safe", "unsafe"}, write=False).before
        else:
            report = engine.check([Path(folder)], options)
        spent = cpu_seconds() - begin
    unread = [finding.message for finding in report.findings if finding.code == "XLA000"]
    if report.skipped or report.rule_errors or unread:
        raise SystemExit(f"{kind}: {(*report.skipped, *report.rule_errors, *unread)[:3]}")
    return spent, sum(len(file.findings) for file in report.files)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, nargs="+", default=[5_000, 20_000, 100_000])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), metavar="KIND")
    parser.add_argument("--most", type=float, default=1.5, help="growth that fails (default: 1.5)")
    asked = parser.parse_args()
    gc.set_threshold(1_000_000, 10, 50)  # as the command does
    cost("findings", 200)  # what is loaded once
    print(f"CPU microseconds per line of {', '.join(f'{lines:,}' for lines in asked.lines)} lines")
    growth: dict[str, float] = {}
    for kind in asked.kinds:
        spent, found = zip(*(cost(kind, lines) for lines in asked.lines), strict=True)
        per_line = [1e6 * seconds / lines for seconds, lines in zip(spent, asked.lines, strict=True)]
        growth[kind] = round(per_line[-1] / per_line[0], 2)
        columns = " ".join(f"{each:8.1f}" for each in per_line)
        print(f"{kind:10} {columns}   x {growth[kind]:.2f}, {found[-1]:,} findings", flush=True)
    print(json.dumps({"lines": asked.lines, "growth": growth}))
    over = [kind for kind, times in growth.items() if times > asked.most]
    if over:
        print(f"more than x {asked.most}: {', '.join(over)}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())

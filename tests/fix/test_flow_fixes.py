"""Fixes that rest on the flow of values, from source to source, and where they hold back."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from xlamig import engine

HEAD = """import torch
from torch import nn

device = torch.device("cuda")
model = nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""


def fixed(code: str, *rules: str) -> list[str]:
    """The lines that differ after all fixes of these rules, without imports."""
    source = HEAD + textwrap.dedent(code)
    overrides = {"select": list(rules)}
    options = engine.Options(overrides, isolated=True, jobs=1, cache=False, stdin=("a.py", source.encode()))
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe", "unsafe"}), write=False)
    assert outcome.stdin is not None and not outcome.problems
    old = source.splitlines()
    return [s.strip() for s in outcome.stdin.text.splitlines() if s not in old and "import" not in s]


EVALUATE = """
def evaluate(loader):
    total = 0
    with torch.no_grad():
        for x in loader:
            total += model(x.to(device)).sum().item(){factor}
            {inside}
    return total
"""


def test_sums_stay_on_the_device() -> None:
    code = EVALUATE.format(factor=" * len(x)", inside="print('.')")
    assert fixed(code, "XLA101") == [
        "total += model(x.to(device)).sum().detach() * len(x)",
        "step_boundary()",
        "total = torch.as_tensor(total).item()",
    ]


@pytest.mark.parametrize(
    "start", ["total, count = 0, 1.0", "total = count = 0", "count = 1\n    total = 0.0"]
)
def test_sums_that_start_beside_others(start: str) -> None:
    code = EVALUATE.format(factor="", inside="count += len(x)").replace("total = 0", start)
    assert len(fixed(code, "XLA101")) == 3


@pytest.mark.parametrize(
    "start", ["total, count = start()", "count, total = 0, None", "total, count = zeros"]
)
def test_sums_that_may_not_start_as_numbers(start: str) -> None:
    code = EVALUATE.format(factor="", inside="count += len(x)").replace("total = 0", start)
    assert fixed(code, "XLA101") == []


@pytest.mark.parametrize("inside", ["print(total)", "if total > 3: break", "if len(x) < 3: continue"])
def test_sums_that_the_loop_needs(inside: str) -> None:
    assert fixed(EVALUATE.format(factor="", inside=inside), "XLA101") == []


COLLECT = """
def evaluate(loader):
    losses = []
    sums = {{"loss": 0.0, "right": 0}}
    {before}
    for x in loader:
        y = model(x.to(device))
        {inside}
    return losses, sums
"""


@pytest.mark.parametrize(
    ("inside", "written"),
    [
        (
            "losses.append(y.sum().item())",
            [
                "losses.append(y.sum().detach().clone())",
                "step_boundary()",
                "losses = [value.item() for value in losses]",
            ],
        ),
        (
            'sums["right"] += (y > 0).sum().item()',
            [
                'sums["right"] += (y > 0).sum().detach()',
                "step_boundary()",
                'sums["right"] = torch.as_tensor(sums["right"]).item()',
            ],
        ),
        ("losses.append(y.sum().item()); print(losses[-1])", []),
        ("losses.append(y.sum().item() + 1)", []),
        ('sums["right"] += y.sum().item(); print(sums)', []),
        ('sums["other"] += y.sum().item()', []),
    ],
)
def test_lists_and_entries_stay_on_the_device(inside: str, written: list[str]) -> None:
    assert fixed(COLLECT.format(before="", inside=inside), "XLA101") == written


@pytest.mark.parametrize("before", ["losses.append(1.0)", "f(losses)", "kept = losses", "losses = [2.0]"])
def test_lists_that_hold_something_before_the_loop(before: str) -> None:
    assert fixed(COLLECT.format(before=before, inside="losses.append(y.sum().item())"), "XLA101") == []


def test_lists_that_grow_over_epochs() -> None:
    code = """
    losses = []
    for epoch in range(3):
        for x in loader:
            y = model(x.to(device))
            losses.append(y.sum().item())
    """
    assert fixed(code, "XLA101") == []


def test_sums_in_training_without_a_boundary() -> None:
    loop = """
    total = 0.0
    for x in loader:
        loss = model(x.to(device)).sum()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(total)
    """
    assert fixed(loop, "XLA101") == []
    assert fixed(loop, "XLA101", "XLA401") == [
        "step_boundary()",
        "total += loss.detach()",
        "total = torch.as_tensor(total).item()",
    ]


WRITE = """
def f(loader):
    for x in loader:
        y = model(x.to(device))
        {}
        y.sum().backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("statement", "written"),
    [
        ("y[y < 0] = 0", ["y.masked_fill_(y < 0, 0)"]),
        ("y[torch.isnan(y)] = 0.0", ["y.masked_fill_(torch.isnan(y), 0.0)"]),
        ("y[(y < 0) | ~(y < 3)] = -1.0", ["y.masked_fill_((y < 0) | ~(y < 3), -1.0)"]),
        ("y[y < y.mean()] = float('-inf')", ["y.masked_fill_(y < y.mean(), float('-inf'))"]),
        ("y[x.to(device) < 0] = 0", []),  # another tensor: it may be a mask of rows
        ("y[y[:, 0] < 0] = 0", []),
        ("y[y < 0] = y.mean()", []),
        ("y[y < 0] += 1", []),
    ],
)
def test_masks(statement: str, written: list[str]) -> None:
    assert fixed(WRITE.format(statement), "XLA203") == written


SETTING = """
class Fill(nn.Module):
    def __init__(self, value):
        super().__init__()
        self.value = value
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        y = self.layer(x)
        y[y < 0] = self.value
        return y

net = Fill({}).to(device)
for x in loader:
    net(x.to(device)).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("0.5", ["y.masked_fill_(y < 0, self.value)"]),
        ("torch.ones(4)", []),
        ("load()", []),
    ],
)
def test_a_setting_that_is_known_to_be_a_number(value: str, written: list[str]) -> None:
    assert fixed(SETTING.format(value), "XLA203") == written


READ = """
data = torch.zeros(100, 4).to(device)
for i in range(0, 100, 4):
    y = {}
    loss = model(y).sum()
    loss.backward()
    optimizer.step()
"""
INDEX = "torch.tensor({}, device=data.device)"
RANGE = "torch.arange({}, min({}, data.size({}))).to(data.device)"


@pytest.mark.parametrize(
    ("read", "written"),
    [
        ("data[i]", f"y = data.index_select(0, {INDEX.format('[i]')}).squeeze(0)"),
        ("data[:, i]", f"y = data.index_select(1, {INDEX.format('[i]')}).squeeze(1)"),
        ("data[:i]", ""),
        ("data[i:]", ""),
        ("data[0:i]", ""),
        ("data[i : i + 4]", f"y = data.index_select(0, {RANGE.format('i', 'i + 4', 0)})"),
        ("data[:, i:i+4]", f"y = data.index_select(1, {RANGE.format('i', 'i+4', 1)})"),
        (
            "data[4 * i : 4 * i + 4, 0]",
            f"y = data.index_select(0, {RANGE.format('4 * i', '4 * i + 4', 0)})[:, 0]",
        ),
        ("data[i - 1 : i + 1]", ""),
        ("data[i].cpu()", ""),
        ("data[..., i]", f"y = data.index_select(-1, {INDEX.format('[i]')}).squeeze(-1)"),
        ("data[i:i+4:2]", ""),
        ("data[0, i:i+4]", f"y = data.index_select(1, {RANGE.format('i', 'i+4', 1)})[0, :]"),
        ("data[0, ..., i]", ""),
        ("data[None, i]", ""),
        ("data[i, mask]", ""),
        ("data[i, i : i + 2]", ""),
        ("data[i, :2]", f"y = data.index_select(0, {INDEX.format('[i]')}).squeeze(0)[:2]"),
        ("data[:2, i]", f"y = data.index_select(1, {INDEX.format('[i]')}).squeeze(1)[:2]"),
        ("data[..., i, 0]", f"y = data.index_select(-2, {INDEX.format('[i]')}).squeeze(-2)[..., 0]"),
    ],
)
def test_reads_at_a_position(read: str, written: str) -> None:
    assert fixed(READ.format(read), "XLA301") == ([written] if written else [])


AT_TIMES = """
def train(args):
    images = load(args.path)
    if args.batching:
        images = torch.Tensor(images).to(device)
    for i in range(100):
        {}
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
"""


def test_what_is_a_tensor_after_one_branch_alone_is_indexed_as_before() -> None:
    at_times = AT_TIMES.format("x = torch.as_tensor(images[i]).to(device)")
    always = at_times.replace("    if args.batching:\n        images", "    images")
    assert not any("index_select" in line for line in fixed(at_times, "XLA301"))
    assert any("index_select" in line for line in fixed(always, "XLA301"))


LENGTH = """
def train(data, args, chosen):
    data = data.to(device)
    for i in range(0, 100, 4):
        n = {}
        y = data[i : i + n]
        loss = model(y).sum()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    "length", ["chosen", "random.randint(2, 5)", "min(chosen, 8)", "lengths[i]", "n if n else 4"]
)
def test_a_slice_whose_length_may_vary_is_left_to_its_finding(length: str) -> None:
    assert fixed("import random\n" + LENGTH.format(length), "XLA301") == []


@pytest.mark.parametrize(
    "length", ["4", "min(4, len(data) - 1 - i)", "min(BATCH, data.size(0) - i)", "min(args.n, len(data))"]
)
def test_a_slice_that_only_the_last_batch_cuts_short(length: str) -> None:
    after = f"y = data.index_select(0, {RANGE.format('i', 'i + n', 0)})"
    assert fixed("BATCH = 4\n" + LENGTH.format(length), "XLA301") == [after]


MOVE = """
def main():
    net = nn.Linear(4, 4)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    {}
    net.to(device)  # to the GPU
    return opt
"""
FLAG = "torch.__future__.set_swap_module_params_on_conversion({})"


def test_a_module_moves_before_its_optimizer_is_built() -> None:
    source = MOVE.format("print(1)")
    options = engine.Options(
        {"select": ["XLA405"]}, isolated=True, jobs=1, cache=False, stdin=("a.py", (HEAD + source).encode())
    )
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe"}), write=False)
    assert outcome.stdin is not None
    text = outcome.stdin.text
    assert text.index("net.to(device)  # to the GPU") < text.index("opt = torch") < text.index("print(1)")


def test_a_module_that_is_used_between() -> None:
    assert fixed(MOVE.format("net.eval()"), "XLA405") == [FLAG.format(True), FLAG.format(False)]


def test_a_module_that_is_returned_as_it_moves() -> None:
    returned = MOVE.replace("net.to(device)  # to the GPU\n    return opt", "return net.to(device), opt")
    assert returned != MOVE
    assert fixed(returned.format("net.eval()"), "XLA405") == []


def test_the_flag_of_one_move_says_nothing_of_the_next() -> None:
    both = MOVE.format("net.eval()").replace("return opt", "return opt, main2()") + MOVE.replace(
        "main", "main2"
    ).format("net.eval()")
    assert fixed(both, "XLA405").count(FLAG.format(True)) == 2


def test_a_boundary_on_a_shared_line_stands_right_behind_the_update() -> None:
    loop = """
    for x in loader:
        loss = model(x.to(device)).sum()
        loss.backward()
        optimizer.step(); seen = len(x)
    """
    assert fixed(loop, "XLA401") == ["optimizer.step(); step_boundary(); seen = len(x)"]

"""Severities and advice that the use of a value decides: each with its look-alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options
from xlamig.findings import Finding

MODEL = """import math
import numpy as np
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("r", torch.tensor(1))
        self.fc = nn.Linear(8, 8)

    def forward(self, x, lens):
        ok = lens > 0
        y = self.fc(x)
        LINE
        return y.sum()

def train(loader, optimizer):
    model = Net().cuda()
    for x, lens in loader:
        model(x.cuda(), lens.cuda()).backward()
        optimizer.step()
"""


def found(text: str, code: str) -> list[Finding]:
    options = Options({"select": [code]}, isolated=True, stdin=("train.py", text.encode()))
    return list(engine.check([Path("train.py")], options).findings)


def advice(line: str, code: str) -> str:
    (finding,) = found(MODEL.replace("LINE", line), code)
    return finding.help


@pytest.mark.parametrize("bound", ["lens.min()", "self.fc(x).argmax()"])
def test_masks_where_the_device_computes_a_bound(bound: str) -> None:
    assert "torch.arange(length)" in advice(f"y = y[:, :{bound}]", "XLA109")


@pytest.mark.parametrize("cut", ["start : start + n", ":, start : start + n", "..., start : start + n, :"])
def test_reads_a_window_by_positions(cut: str) -> None:
    line = f"n = int(lens.min())\n        start = int(lens[0])\n        y = y[{cut}]"
    (finding,) = found(MODEL.replace("LINE", line), "XLA205")
    assert finding.help.startswith("Read a window of fixed length by positions")


OF_OPTION = MODEL.replace("__init__(self)", "__init__(self, width)").replace("tensor(1)", "tensor(width)")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("y = y[:, :self.r]", "XLA109"),
        ("y = y.view(-1, self.r.item())", "XLA101"),
        ("y = y * float(lens.sum()) * self.r.item()", "XLA103"),
    ],
)
def test_uses_the_number_of_the_constructor(line: str, code: str) -> None:
    helps = [finding.help or "" for finding in found(OF_OPTION.replace("LINE", line), code)]
    assert any("the Python number that `__init__` puts there, `width`" in help_ for help_ in helps)


@pytest.mark.parametrize("line", ["y = y.view(-1, self.r.item())", "y = y.view(-1, int(self.r))"])
def test_the_number_of_the_constructor_is_one_size(line: str) -> None:
    assert not found(OF_OPTION.replace("LINE", line), "XLA205")


def test_keeps_a_setting_as_a_number() -> None:
    assert advice("y = y[:, :self.r]", "XLA109").startswith("Keep `self.r` as a Python number")


HOST_DATA = """shapes = torch.tensor([(2, 4)], device=x.device)
        LINE"""


@pytest.mark.parametrize(
    ("test", "help_"),
    [
        ("assert (shapes[:, 0] * shapes[:, 1]).sum() == len(y)", "Test the Python numbers that the tensor"),
        ("if (lens > 3).any(): y = y * 2", "or test the CPU's copy of the data, before the move"),
        ("if (y > 3).any(): y = y * 2", "Drop the test, and compute with the mask"),
    ],
)
def test_tests_what_the_host_has_there(test: str, help_: str) -> None:
    assert help_ in advice(HOST_DATA.replace("LINE", test), "XLA106")


@pytest.mark.parametrize(
    ("count", "message"),
    [
        ("lens.bincount(minlength=9)", "runs on the CPU in each call"),
        ("torch.bincount(lens, minlength=self.fc.out_features)", "runs on the CPU in each call"),
        ("torch.bincount(lens)", "the length of its result depends on values"),
        ("torch.bincount(lens, minlength=0)", "the length of its result depends on values"),
    ],
)
def test_a_given_length_does_not_depend_on_values(count: str, message: str) -> None:
    (finding,) = found(MODEL.replace("LINE", f"y = y * {count}.max()"), "XLA204")
    assert message in finding.message


def test_uses_the_largest_size_for_what_is_not_written_at_the_mask() -> None:
    line = "y = y.sum() + torch.zeros(int(ok.sum()), device=x.device).sum()"
    assert "largest size" in advice(line, "XLA205")


def test_counts_nothing_to_write_at_a_mask() -> None:
    assert "masked_fill" in advice("y[ok] = torch.zeros((ok.sum(), 8), device=x.device)", "XLA205")


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("if math.isnan(y.sum()): y = x", "XLA113"),
        ("if np.isnan(y.sum().item()): y = x", "XLA113"),
        ("if np.isnan(y.detach().cpu().numpy()).any(): y = x", "XLA113"),
        ("if np.isnan(y.sum()): y = x", "XLA107"),
    ],
)
def test_reports_no_other_check_for_nan(line: str, code: str) -> None:
    assert found(MODEL.replace("LINE", line), code) == []


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("if math.isnan(y.sum()): y = x", "XLA107"),
        ("if np.isnan(y.sum().item()): y = x", "XLA107"),
        ("if np.isnan(y.sum()): y = x", "XLA113"),
    ],
)
def test_numpy_raises_where_math_reads(line: str, code: str) -> None:
    assert [finding.code for finding in found(MODEL.replace("LINE", line), code)] == [code]


@pytest.mark.parametrize(("call", "help"), [("np.exp", "Pass `"), ("np.isnan", "Check by `torch`")])
def test_checks_for_nan_by_torch(call: str, help: str) -> None:
    assert advice(f"y = y + float({call}(y.sum()))", "XLA113").startswith(help)


@pytest.mark.parametrize(
    ("test", "severity"),
    [
        ("x.data_ptr() == y.data_ptr()", "error"),
        ("x.data_ptr() % y.data_ptr() == 0", "error"),
        ("x.data_ptr() % 16 == 0", "info"),
        ("x.data_ptr() % bytes_of != 0", "info"),
    ],
)
def test_every_alignment_holds(test: str, severity: str) -> None:
    assert found(MODEL.replace("LINE", f"if {test}: y = x"), "XLA016")[0].severity == severity


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("memory_efficient_attention", "scaled_dot_product_attention"),
        ("SwiGLU", "F.silu"),
    ],
)
def test_names_what_takes_the_place_of_what_is_imported(name: str, help: str) -> None:
    (finding,) = found(f"from xformers.ops import {name}\n", "XLA605")
    assert help in finding.help


ONE_BY_ONE = """import librosa
import torch
from torch import nn

model = nn.Linear(8, 8).cuda()
model.eval()
for name in names:
    y = model(load(name).cuda())
    LINE
"""
WRITES = "librosa.output.write_wav(name, y.cpu().numpy(), sr=rate)"


@pytest.mark.parametrize(
    ("line", "severities"),
    [
        (WRITES, ["info"]),
        (f"{WRITES}\n    print(y.sum().item())", ["warning"]),
        (f"print(y.sum().item())\n    {WRITES}", ["warning"]),
        (f"{WRITES}\n    y.sum().backward()\n    optimizer.step()", ["warning"]),
    ],
)
def test_the_only_copy_for_a_library_ends_the_iteration(line: str, severities: list[str]) -> None:
    assert [f.severity for f in found(ONE_BY_ONE.replace("LINE", line), "XLA102")] == severities


@pytest.mark.parametrize(
    ("line", "severities"),
    [
        ("kept.append(y.cpu())", ["warning"]),
        ("torch.save(y.cpu(), name)\n    print(y.sum().item())", ["warning"]),
        ("torch.save(y.cpu(), name)\n    y.sum().backward()\n    optimizer.step()", ["warning"]),
        ("torch.save(y.cpu(), name)", ["info"]),
        ("y = y.cpu()\n    if pictures: save_image(y, name)", ["info"]),
    ],
)
def test_the_only_copy_for_a_file_ends_the_iteration(line: str, severities: list[str]) -> None:
    assert [f.severity for f in found(ONE_BY_ONE.replace("LINE", line), "XLA102")] == severities


LOSSES = """import torch
from torch import nn

model = nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for i, x in enumerate(loader):
    y = model(x.cuda())
    FIRST
    if loss != 0:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
OF_A_NUMBER = "Test what decides whether a tensor is computed here"


@pytest.mark.parametrize(
    ("first", "of_a_number"),
    [
        ("loss = 0\n    if i > 9:\n        loss = y.sum()", True),
        ("loss, more = 0, 0\n    if i > 9:\n        loss, more = y.sum(), y", True),
        ("if i > 9:\n        loss = y.sum()\n    else:\n        loss = 0.0", True),
        ("loss = y.sum()", False),
        ("loss = 0\n    loss = y.sum()", False),
        ("loss = 0\n    for part in y:\n        loss += part.sum()", False),
        ("loss = y.mean()\n    if i > 9:\n        loss = y.sum()", False),
    ],
)
def test_a_number_until_a_branch_makes_a_tensor_needs_no_read(first: str, of_a_number: bool) -> None:
    (finding,) = found(LOSSES.replace("FIRST", first), "XLA106")
    assert finding.help.startswith(OF_A_NUMBER) is of_a_number


AGENT = """import torch
from torch import nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 2)

    def NAME(self, state):
        return self.net(state).argmax(1).item()


agent = Agent().cuda()
optimizer = torch.optim.Adam(agent.parameters())
for i in range(9999):
    choice = agent.NAME(state.cuda())
    state = play(choice)
    if i > 99:
        loss = agent.net(batch.cuda()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("act", "Call `torch_xla.sync()` before the read"),
        ("select_action", "Call `torch_xla.sync()` before the read"),
        ("score", "Return the tensor"),
    ],
)
def test_what_a_policy_returns_is_for_an_environment(name: str, help: str) -> None:
    (finding,) = found(AGENT.replace("NAME", name), "XLA101")
    assert finding.help.startswith(help)


def test_a_step_that_updates_at_times_ends_below_the_branch() -> None:
    (finding,) = found(AGENT.replace("NAME", "act"), "XLA401")
    assert finding.help.startswith("Call `torch_xla.sync()` as the last statement of the iteration, below")


@pytest.mark.parametrize(
    ("line", "help"),
    [
        ("self.part_sizes = lens.tolist(); y = torch.cat(y.split(self.part_sizes))", "a module of its own"),
        ("n = lens[0].item(); y = y.split([n, 8 - n])[0]", "largest size"),
    ],
)
def test_parts_of_counted_sizes_are_computed_at_once(line: str, help: str) -> None:
    assert help in advice(line, "XLA205")


@pytest.mark.parametrize(
    ("operation", "help"),
    [
        ("torchvision.ops.roi_align(y, lens, 7)", "four neighbours"),
        ("torchvision.ops.roi_pool(y, lens, 7)", "fixed number of boxes"),  # greatest values, none between
        ("torchvision.ops.nms(y, lens, 0.5)", "fixed number of boxes"),
    ],
)
def test_operators_with_fixed_shapes_are_written_out(operation: str, help: str) -> None:
    assert help in advice(f"import torchvision; y = {operation}", "XLA208")


@pytest.mark.parametrize(
    ("line", "help"),
    [
        ("hi = y[ok].max().item(); y = y.clamp(max=hi)", "-torch.inf"),
        ("n = len(y[ok]); y = y / n", "Take the number from the mask itself"),
        ("n = len(y[ok]); z = y[ok]; y = z / n", "Compute on all elements"),
        ("n = len(y[ok]); z = y[~ok]; y = z / n", "Compute on all elements"),
    ],
)
def test_elements_that_the_host_counts_or_searches_are_not_copied_to_it(line: str, help: str) -> None:
    (finding, *_) = found(MODEL.replace("LINE", line.replace("; ", "\n        ")), "XLA202")
    assert help in (finding.help or "")


LOGGED = """import torch
from torch import nn
def train(loader):
    model = nn.Linear(3, 3).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (x, y) in enumerate(loader):
        loss = (model(x.cuda()) - y.cuda()).pow(2).mean()
        if step % 100 == 0:
            BEFORE
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            AFTER
    loss.backward()
"""


@pytest.mark.parametrize(
    ("code", "line"), [("XLA101", "log.write(f'{loss.item():.3f}')"), ("XLA104", "print(loss)")]
)
def test_cuts_no_step_between_the_loss_and_its_backward_pass(code: str, line: str) -> None:
    before = found(LOGGED.replace("BEFORE", line).replace("AFTER", "pass"), code)
    after = found(LOGGED.replace("BEFORE", "pass").replace("AFTER", line), code)
    assert ["below the optimizer's update" in (one.help or "") for one in before] == [True]
    assert ["below the optimizer's update" in (one.help or "") for one in after] == [False]

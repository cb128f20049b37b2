"""A program that never chooses a device gets one, and all that a step needs is moved there."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest

from xlamig import engine
from xlamig.knowledge import helpers

HEAD = """\
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)
        self.register_buffer("scale", torch.ones(1))

    def forward(self, x):
        return self.fc(x) * self.scale

"""
STEP = """\
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def findings(source: str) -> list[str]:
    options = _options(source)
    return [finding.code for finding in engine.check([Path("a.py")], options).findings]


def fixed(body: str) -> str:
    """Return the lines that the fix changes or adds, without imports and the choice itself."""
    source = HEAD + textwrap.dedent(body)
    outcome = engine.fix([Path("a.py")], _options(source), frozenset({"unsafe"}), write=False)
    assert outcome.stdin is not None and not outcome.problems
    before = source.splitlines()
    lines = outcome.stdin.text.splitlines()
    compile(outcome.stdin.text, "a.py", "exec")
    added = [line.strip() for line in lines if line not in before and "import" not in line]
    return "\n".join(line for line in added if line != "device = default_device()")


def _options(source: str) -> engine.Options:
    stdin = ("a.py", source.encode())
    return engine.Options({"select": ["XLA017"]}, isolated=True, jobs=1, cache=False, stdin=stdin)


LOOP = """
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = nn.functional.mse_loss(model(x), y)
"""
MOVED = "model = Net().to(device)\nx, y = x.to(device), y.to(device)"


@pytest.mark.parametrize(
    "source",
    [
        LOOP.replace("Net()", "Net().cuda()"),
        LOOP.replace("Net()", "Net().to(args.device)"),
        "use_gpu = False\n" + LOOP,
        'parser.add_argument("--no-cuda")\n' + LOOP,
        "from accelerate import Accelerator\n" + LOOP,
        "import torch_xla\n" + LOOP.replace("Net()", "Net().to(torch_xla.device())"),
        LOOP.replace("optimizer = ", "def build(model):\n    return ").replace(
            "for x, y in loader:", "if True:"
        ),
    ],
)
def test_reports_nothing_where_something_chooses(source: str) -> None:
    assert findings(HEAD + source + STEP) == []


def test_reports_nothing_in_a_library() -> None:
    body = textwrap.indent(LOOP + STEP, "    ")
    assert findings(f"{HEAD}def train(loader):\n{body}") == []


def test_reports_a_program_without_a_main_guard() -> None:
    body = textwrap.indent(LOOP + STEP, "    ")
    assert findings(f"{HEAD}def train(loader):\n{body}\ndef run():\n    train(data)\n\nrun()\n") == ["XLA017"]


def test_reports_nothing_that_no_statement_calls() -> None:
    body = textwrap.indent(LOOP + STEP, "    ")
    assert findings(f"{HEAD}def train(loader):\n{body}\ndef run():\n    pass\n\nrun()\n") == []


GUARD = 'def main():\n    {}\n\nif __name__ == "__main__":\n    main()\n'


@pytest.mark.parametrize(("does", "found"), [("pass", []), ("train(data)", ["XLA017"])])
def test_reports_nothing_where_main_does_nothing(does: str, found: list[str]) -> None:
    body = textwrap.indent(LOOP + STEP, "    ")
    assert findings(f"{HEAD}def train(loader):\n{body}\n{GUARD.format(does)}") == found


def test_reports_nothing_without_gradients() -> None:
    assert findings(HEAD + LOOP) == []


@pytest.mark.parametrize(
    "more",
    [
        "",
        "y = y.to(x.device)\n",
        "# the device is left open\n",
        "temps = outputs = 1\n",
        "import torch_xla\ntorch_xla.sync()\n",  # a boundary without a device
        "from xla_compat import step_boundary\n",
        "from xla_compat import seed_xla\nseed_xla(0)\n",
        "from package.xla_compat import step_boundary\n",
        f'import torch_xla\ndef step_boundary():\n    """{helpers.DOCSTRINGS["step_boundary"]}"""\n    '
        "os.environ['PJRT_DEVICE']\n",
    ],
)
def test_reports_a_program_that_chooses_none(more: str) -> None:
    assert findings(HEAD + more + LOOP + STEP) == ["XLA017"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (LOOP, MOVED),
        (LOOP.replace("in loader", "in DataLoader(data)"), MOVED),
        (LOOP.replace("x, y in loader", "i, (x, y) in enumerate(loader)"), MOVED),
        (  # through a function of the file
            "def loss_of(x, y):\n    return nn.functional.mse_loss(model(x), y)\n"
            + LOOP.replace("nn.functional.mse_loss(model(x), y)", "loss_of(x, y)"),
            MOVED,
        ),
        (  # a batch that is taken apart in the loop
            LOOP.replace("x, y in loader", "batch in loader").replace(
                "    loss", "    x, y = batch\n    loss"
            ),
            MOVED,
        ),
        (  # what the model is not given stays
            LOOP.replace("x, y in loader", "x, y, name in loader").replace(
                "    loss", "    print(name.upper())\n    loss"
            ),
            MOVED,
        ),
        (  # made by a function of another file
            "from models import build\n" + LOOP.replace("Net()", "build()"),
            "model.to(device)\nx, y = x.to(device), y.to(device)",
        ),
        (  # made on the host where random, on the device where not
            "z = torch.randn(4)\nw = torch.zeros(2, 3)\nt = torch.from_numpy(a).float()\n" + LOOP,
            "z = torch.randn(4).to(device)\nw = torch.zeros(2, 3, device=device)\n"
            f"t = torch.from_numpy(a).float().to(device)\n{MOVED}",
        ),
        (
            "z = torch.randn(4, requires_grad=True)\n" + LOOP,
            f"z = torch.randn(4).to(device).requires_grad_()\n{MOVED}",
        ),
        (  # stays a leaf, which an optimizer takes
            "z = torch.rand(4).view(2, 2).requires_grad_()\n" + LOOP,
            f"z = torch.rand(4).view(2, 2).to(device).requires_grad_()\n{MOVED}",
        ),
        (  # kept by a data set, and given to the model as a whole
            "from torchvision.datasets import MNIST\ndata = MNIST('a')\ntest = data.data[:9].float()\n"
            "labels = data.targets.numpy()\nrest = data.data\n" + LOOP + "    model(test)\n",
            "test = test.to(device)\nlabels = data.targets.cpu().numpy()\n" + MOVED,
        ),
        (  # back to the host
            LOOP + "    np.save('a.npy', loss.detach().numpy())\n",
            f"{MOVED}\nnp.save('a.npy', loss.detach().cpu().numpy())",
        ),
        (  # the whole sum
            LOOP + "    np.save('a.npy', (model(x) - y).detach().numpy() * (x - y).numpy())\n",
            f"{MOVED}\nnp.save('a.npy', (model(x) - y).detach().cpu().numpy() * (x - y).cpu().numpy())",
        ),
        (  # an array beside a tensor of the device, which raises there
            LOOP + "    z = x * (y - 1).numpy()\n    z = z + x.numpy() - 2\n    n = y.numpy() * 2\n",
            f"{MOVED}\nz = x * (y - 1).detach()\nz = z + x.detach() - 2\nn = y.cpu().numpy() * 2",
        ),
        (  # under a name that NumPy takes over
            LOOP + "    x = x.numpy()\n    x = np.argmax(x)\n    np.save('a.npy', x)\n",
            f"{MOVED}\nx = x.cpu().numpy()",
        ),
        (LOOP + "    a = x.type(torch.LongTensor)\n", f"{MOVED}\na = x.type(torch.int64)"),
    ],
)
def test_moves_what_a_step_needs(body: str, expected: str) -> None:
    assert fixed(body + STEP) == expected


@pytest.mark.parametrize(
    "more",
    [
        "data = TensorDataset(torch.zeros(4), torch.ones(4))\n",
        "a = torch.zeros(4)\ndata = TensorDataset(a)\n",
        "class Data(Dataset):\n    def __getitem__(self, i):\n        return torch.zeros(4)\n",
        "def collate(rows):\n    return torch.tensor(rows)\nloader = DataLoader(rows, collate_fn=collate)\n",
        "n = torch.randint(0, 4, (1,)).item()\n",
        "order = torch.randperm(4)\n",
        "criterion = nn.MSELoss()\n",
        "a = np.zeros(4).tolist()\n",
        "for i in torch.arange(4):\n    print(i)\n",
        "for p in net.parameters():\n    p.data.clamp_(-1, 1)\n",
        "for a, b in zip(one.parameters(), two.parameters()):\n    a.data.copy_(b.data)\n",
        "for n, p in net.named_parameters():\n    p.data.mul_(0.5)\n",
        "for p in list(net.parameters())[1:]:\n    p.data.mul_(0.5)\n",
        "held = [p for p in net.parameters()]\nfor p in held:\n    p.data.mul_(0.5)\n",
        "for b in net.buffers():\n    b.data.zero_()\n",
        "for k, v in net.state_dict().items():\n    v.data.zero_()\n",
        "def f(params):\n    for p in params:\n        if p.grad is not None:\n            p.grad.zero_()\n",
        "rows = np.zeros((4, 4))[:2]\nfor row in rows:\n    print(row.reshape(2, 2))\n",
        "for i, row in enumerate(np.zeros((4, 4)).copy()):\n    print(row.reshape(2, 2))\n",
    ],
)
def test_leaves_what_the_host_needs(more: str) -> None:
    assert fixed(more + LOOP + STEP) == MOVED


@pytest.mark.parametrize(
    "more",
    [
        "import torch.multiprocessing as mp\n",
        "from multiprocessing import Process\n",
        "from torch import multiprocessing as mp\n",
        "step = torch.jit.script(f)\n",
        "optimizer = torch.optim.SGD(models[0].parameters(), lr=0.1)\n",
    ],
)
def test_leaves_a_program_that_needs_more(more: str) -> None:
    assert fixed(more + LOOP + STEP) == ""


def test_says_why_it_leaves_a_program() -> None:
    source = HEAD + "from multiprocessing import Process\n" + LOOP + STEP
    (finding,) = engine.check([Path("a.py")], _options(source)).findings
    assert finding.fix is not None and finding.fix.applicability == "display"
    assert finding.fix.held == "it starts processes, and each needs its own device"


def test_moves_a_module_above_the_optimizer_of_its_constructor() -> None:
    source = LOOP.replace(
        "model = Net()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)", "model = Own()"
    )
    own = textwrap.dedent(
        """\
        class Own(Net):
            def __init__(self):
                super().__init__()
                self.o = torch.optim.SGD(self.parameters(), 0.1)
        """
    )
    step = STEP.replace("optimizer", "model.o")
    assert fixed(own + source + step) == "self.to(device)\nx, y = x.to(device), y.to(device)"
    later = own + "        self.more = nn.Linear(1, 1)\n"
    assert fixed(later + source + step) == ""


def test_moves_the_modules_that_an_agent_makes() -> None:
    agent = """\
        class Agent:
            def __init__(self):
                self.model = Net()
                self.target = Net()
                self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)
        agent = Agent()
        for x, y in loader:
            loss = nn.functional.mse_loss(agent.model(x), y + agent.target(x))
        """
    own = "self.model = Net().to(device)\nself.target = Net().to(device)"
    step = STEP.replace("optimizer", "agent.optimizer")
    assert fixed(textwrap.dedent(agent) + step).startswith(own)


def test_is_done_once() -> None:
    source = HEAD + LOOP + STEP
    outcome = engine.fix([Path("a.py")], _options(source), frozenset({"unsafe"}), write=False)
    assert outcome.stdin is not None and findings(outcome.stdin.text) == []


ELSEWHERE = """
from utils import load, normalize, penalty
{before}
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(9):
    loss = penalty({args})
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def test_moves_no_array_of_another_file_for_its_shape() -> None:
    lines = fixed(ELSEWHERE.format(before="a = normalize(load())\nn = a.shape[0]", args="model(load()), n"))
    assert "a.to(device)" not in lines


def test_moves_no_result_of_what_is_on_the_device() -> None:
    before = "x = torch.ones(2, 4)"
    assert "loss.to(device)" not in fixed(ELSEWHERE.format(before=before, args="model(x), x"))


def test_moves_what_another_file_gives_a_module() -> None:
    assert "a = a.to(device)" in fixed(ELSEWHERE.format(before="a = normalize(load())", args="model(a)"))


def test_copies_the_parts_of_a_tuple_for_another_library() -> None:
    before = "import scipy.sparse as sp\nx = torch.ones(2, 4)\nkept = sp.dia_matrix((x, [0]), shape=(4, 4))"
    lines = fixed(ELSEWHERE.format(before=before, args="model(x)"))
    assert "[0]).cpu()" not in lines


EPOCH = """
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def epoch():
    rewards = [1.0, 2.0]
    loss = nn.functional.mse_loss(model(torch.as_tensor(rewards)), torch.ones(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {returned}
for _ in range(9):
    loss, rewards = epoch()
    print({read})
"""


@pytest.mark.parametrize(
    ("returned", "read", "copied"),
    [
        ("return loss, rewards", "np.mean(rewards), loss", ""),
        ("return loss, rewards", "np.mean(rewards), np.mean(loss)", "loss.cpu()"),
        ("return rewards, loss", "np.mean(rewards), np.mean(loss)", "rewards.cpu()"),
        ("return loss, loss.detach()", "np.mean(rewards)", "rewards.cpu()"),
    ],
)
def test_copies_those_results_of_a_function_that_are_tensors(returned: str, read: str, copied: str) -> None:
    lines = fixed(EPOCH.format(returned=returned, read=read))
    assert ".to(device)" in lines
    assert re.findall(r"\w+\.cpu\(\)", lines) == ([copied] if copied else [])

"""A program has the same findings if what a value is known for stands in a helper, in another file or under
another name: each of these once had not."""

from __future__ import annotations

import pytest
from rewriting import assert_every_rewrite_keeps_the_findings, codes, rows

# By what they hold: codes that the program has, and the program.
PROGRAMS = {
    "a context that a function picks": (
        {"XLA801"},
        """
import torch
from contextlib import nullcontext
from torch import autocast

def run(model, precision):
    scope = autocast if precision == "mixed" else nullcontext
    with scope("cuda"):
        return model(torch.ones(2))
""",
    ),
    "what one of some functions returns, which another takes as a tensor": (
        {"XLA103"},
        """
import random
import torch

def brighten(x):
    return x * 2

def cut(x, size=8):
    return x.masked_fill(x > size, 0.0)

def change(x):
    for op in random.sample([brighten, torch.neg], 1):
        x = op(x)
    return cut(x)

def run(weights, loader, optimizer, seen):
    for images in loader:
        changed = change(images.to("cuda"))
        loss = changed.mul(weights).mean()
        loss.backward()
        optimizer.step()
        seen.append(loss.item())
        seen.append(changed.std().item())
""",
    ),
    "moves under a test that else logs": (
        {"XLA003"},
        """
import torch

def place(model, args):
    if not torch.cuda.is_available():
        print("slow")
    elif args.distributed:
        model.cuda()
    return model
""",
    ),
    "a device that is the CPU by default": (
        set(),
        """
import torch

def place(x, device="cpu"):
    if not torch.cuda.is_available():
        device = "cpu"
    return x.to(device)

if __name__ == "__main__":
    print(place(torch.ones(2)))
""",
    ),
    "a type of CUDA tensors under another name": (
        {"XLA011"},
        """
import torch
from torch.cuda import LongTensor

def indices(values):
    return LongTensor(values)

def half(x):
    dtype = torch.cuda.HalfTensor
    return x.type(dtype)
""",
    ),
    "constants in a list of an object": (
        {"XLA908"},
        """
import torch
import torch_xla
from torch import nn
from torch.nn import functional as F

class Learner(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = [torch.ones(4, 4)]
        self.bias = nn.Parameter(torch.zeros(4))

    def forward(self, x):
        w = self.weights[0]
        w = w.to(torch_xla.device())
        return F.linear(x, w, self.bias)

net = Learner().to(torch_xla.device())
for step in range(3):
    net(torch.ones(2, 4, device=torch_xla.device()))
    torch_xla.sync()
""",
    ),
    "a part of a model that its method calls": (
        set(),
        """
import torch
import torch_xla
from torch import nn

device = torch_xla.device()

class Captioner(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 8)
        self.project = nn.Linear(4, 8)

    @torch.no_grad()
    def describe(self, ids, image):
        embeds = self.embed(ids)
        return embeds + self.project(image)

model = Captioner().to(device)

def step(i):
    ids = torch.ones(2, 32, dtype=torch.long)
    out = model.describe(ids.to(device), torch.ones(32, 4).to(device))
    torch_xla.sync()
    return out

if __name__ == "__main__":
    for i in range(12):
        step(i)
""",
    ),
    "what a library's object keeps": (
        {"XLA109"},
        """
import torch
from diffusers import DDIMInverseScheduler, UNet2DModel

device = torch.device("cuda")

@torch.no_grad()
def invert(unet: UNet2DModel, scheduler: DDIMInverseScheduler, x):
    scheduler.set_timesteps(50, device=device)
    for t in scheduler.timesteps:
        x = scheduler.step(unet(x, t).sample, t, x).prev_sample
    return x
""",
    ),
    "a function that one rank calls": (
        {"XLA710"},
        """
import torch
import torch.distributed as dist
from torch import nn

def save(state, path="c.pt"):
    torch.save(state, path)

def main():
    dist.init_process_group("nccl")
    model = nn.Linear(2, 2).to("cuda")
    if dist.get_rank() == 0:
        save({"state_dict": model.state_dict()})

if __name__ == "__main__":
    main()
""",
    ),
    "the size of a buffer": (
        set(),
        """
import torch
import torch_xla
from torch import nn

class Counted(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        self.mean.copy_(torch.ones(3))
        return x + self.mean

counted = Counted().to(torch_xla.device())
print(counted(torch.zeros(4, 3, device=torch_xla.device())).sum().cpu())
""",
    ),
    "a slice of what a function cuts": (
        set(),
        """
import torch
import torch_xla

def crops(x, n):
    if x.shape[1] > n:
        x = x[:, -n:]
    short = min(n, x.shape[1])
    return x[:, -short:], x[:, -2:]

print(crops(torch.arange(6.0, device=torch_xla.device()).reshape(1, 6), 8))
""",
    ),
    "the number of a GPU that is computed": (
        {"XLA712"},
        """
import torch

def on_gpu(rank):
    number = rank % 2
    return torch.zeros(1, device=number)
""",
    ),
    "a parameter that is called like a library": (
        set(),
        """
import torch
import torch_xla

def check(torch):
    x = torch.linspace(-1, 1, 8)
    for one, other in zip(x, x * 2):
        assert torch.allclose(one, other, atol=1e-5)
""",
    ),
    "a collate function with a tokenizer": (
        {"XLA904"},
        """
import transformers

def collate_fn(examples, tokenizer):
    return tokenizer.pad(examples, return_tensors="pt")
""",
    ),
    "the rest of the data": (
        {"XLA901"},
        """
import torch

def images_loop(images, model):
    res = []
    for a in range(0, len(images), 8):
        b = images[a : a + 8]
        x = torch.stack(b).to("cuda")
        res.append(model(x).cpu())
    return res
""",
    ),
    "the backend by default": (
        {"XLA701"},
        """
import os
from dataclasses import dataclass

import torch.distributed as dist

@dataclass
class Settings:
    dist_backend: str = "nccl"

def setup(backend="nccl", rank=0):
    if "RANK" in os.environ:
        dist.init_process_group(backend, rank=rank, world_size=1)

def launch(settings):
    dist.init_process_group(settings.dist_backend)
""",
    ),
    "a decorator of the module that fixes write": (
        set(),
        """
import torch
import torch_xla
from xla_compat import run_on_host

device = torch_xla.device()

@run_on_host
def kept(x):
    return x[x > 0].unique()

for _ in range(3):
    print(kept(torch.ones(8, device=device)).shape)
    torch_xla.sync()
""",
    ),
    "several layers that one call runs": (
        {"XLA502"},
        """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList()
        for index in range(layers):
            self.layers.append(nn.Sequential(nn.Conv1d(2, 4, 1), nn.GLU(1), nn.ReLU()))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

net = Net(3).to("cuda")
optimizer = torch.optim.SGD(net.parameters(), 0.1)

def train(loader):
    for x in loader:
        optimizer.zero_grad()
        net(x.to("cuda")).sum().backward()
        optimizer.step()
""",
    ),
    "what a comparison of unknown values has": (
        {"XLA101"},
        """
import torch

def positions(ids):
    kept = ids != 0
    return kept.cumsum(1) - 1

def check(make, n):
    for step in range(n):
        ids = make(step)
        print(positions(ids).item())
""",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_rewrite_keeps_the_findings(name: str) -> None:
    assert_every_rewrite_keeps_the_findings(*PROGRAMS[name])


@pytest.mark.parametrize(
    ("code", "text"),
    [
        pytest.param(
            "XLA801",
            """
import torch
from contextlib import nullcontext

def pick(precision):
    return (lambda kind: nullcontext()) if precision else nullcontext

def run(model, precision):
    with pick(precision)("cuda"):
            return model(torch.ones(2))
""",
            id="a function that picks no autocast",
        ),
        pytest.param(
            "XLA003",
            """
import torch

def prepare(model):
    print("slow")
    model.half()

def place(model, args):
    if not torch.cuda.is_available():
        prepare(model)
    elif args.distributed:
        model.cuda()
    return model
""",
            id="a function that does more than log",
        ),
        pytest.param(
            "XLA901",
            """
import torch

def part(images, a):
    return torch.stack(images[a : a + 4]).to("cuda")

def images_loop(images, model):
    res = []
    for a in range(0, len(images), 8):
        res.append(model(part(images, a)).cpu())
    return res
""",
            id="a slice of another width",
        ),
    ],
)
def test_reports_no_look_alike(code: str, text: str) -> None:
    assert code not in codes(text)


def test_reports_a_type_of_cuda_tensors_where_it_is_written() -> None:
    text = """
import torch
from torch.cuda import LongTensor as Longs

Kind = torch.cuda.HalfTensor

def make(values):
    return Longs(values), Kind(values)
"""
    assert rows("XLA011", text) == {5, 8}


def test_reports_a_default_of_the_only_caller_that_is_cuda() -> None:
    text = """
import torch

def fall_back(device):
    if not torch.cuda.is_available():
        device = "cpu"
    return device

def place(x, device="cuda"):
    return x.to(fall_back(device))
"""
    assert "XLA003" in codes(text)


@pytest.mark.parametrize(("value", "row"), [("backend", 5), ('"xla"', 7)])
def test_reports_a_default_where_the_only_caller_passes_it_on(value: str, row: int) -> None:
    text = f"""
import torch.distributed as dist

def start(backend):
    dist.init_process_group(backend)

def setup(backend="nccl"):
    backend = {value}
    start(backend)
"""
    text = text if value != "backend" else text.replace("    backend = backend\n", "")
    assert rows("XLA701", text) == {row}

"""A program has the same findings if statements move to a helper or another file: each of these once had
not."""

from __future__ import annotations

import pytest
from rewriting import assert_every_rewrite_keeps_the_findings

# By what they hold: codes that the program has, and the program.
PROGRAMS = {
    "a place that an object counts": (
        {"XLA301"},
        """
import torch

class Ring:
    def __init__(self, size, device):
        self.rows = torch.zeros(size, 8).to(device)
        self.at = 0

    def put(self, row):
        count = len(row)
        self.rows[self.at : self.at + count] = row
        self.at += count

def train(model, loader, optimizer):
    ring = Ring(64, "cuda")
    for x in loader:
        x = x.to("cuda")
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ring.put(x)
        print(loss.item(), ring.rows.sum().item())
""",
    ),
    "a flag that an object keeps": (
        {"XLA013"},
        """
import torch

class Mover:
    def __init__(self, device):
        self.device = torch.device(device)
        self.on_cuda = self.device.type == "cuda"

    def move(self, batch):
        if self.on_cuda:
            batch = batch.to(self.device)
        return batch

if __name__ == "__main__":
    print(Mover("cpu").move(torch.ones(2)))
""",
    ),
    "rows for each expert": (
        {"XLA207"},
        """
import torch
from torch import nn

class Mixture(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(width, width) for _ in range(4))
        self.gate = nn.Linear(width, 4)

    def forward(self, x):
        chosen = self.gate(x).argmax(-1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            rows = torch.where(chosen == number)[0]
            if rows.numel():
                out.index_add_(0, rows, expert(x[rows]))
        return out
""",
    ),
    "a clock after a wait": (
        {"XLA101"},
        """
import time
import torch

def note(values, value):
    if isinstance(value, torch.Tensor):
        value = value.item()
    values.append(value)

def run(model, x):
    values = []
    x = x.cuda()
    for _ in range(3):
        start = time.time()
        y = model(x).sum()
        note(values, y)
        print(time.time() - start)
    return values
""",
    ),
    "a complex tensor": (
        {"XLA507"},
        """
import torch

def mean(audio):
    spectrum = torch.fft.fftshift(torch.fft.fft(audio))
    return spectrum.mean(-1)
""",
    ),
    "the command for the driver": (
        {"XLA611"},
        """
import subprocess
import torch

def used():
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv"]
    return subprocess.check_output(query)
""",
    ),
    "a sum over ranks, in place": (
        {"XLA710"},
        """
import torch
import torch.distributed as dist

def accuracy(model, loader, device):
    right = torch.zeros(2, device=device)
    for x, y in loader:
        hits = (model(x.to(device)).argmax(1) == y.to(device)).sum()
        right += torch.stack((hits.float(), torch.tensor(1.0, device=device)))
    if dist.is_initialized():
        dist.all_reduce(right)
    return right[0] / right[1]

def main(model, loader, rank):
    device = torch.device("cuda", rank)
    share = accuracy(model.to(device), loader, device)
    if rank == 0:
        return share.item()
""",
    ),
    "a script that saves what it trains": (
        {"XLA906"},
        """
import torch

def save(model, optimizer, path):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)

def save_optimizer(optimizer, path):
    torch.save(optimizer.state_dict(), path)

def train():
    model = torch.nn.Linear(3, 4).to("cuda")
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.ones(2, 3, device="cuda")).sum().backward()
    optimizer.step()
    return model, optimizer

if __name__ == "__main__":
    save(*train(), "checkpoint.pt")
    print(torch.load("checkpoint.pt").keys())
""",
    ),
    "a type for every device but the CPU": (
        {"XLA802"},
        """
import torch

class Settings:
    def __init__(self, device):
        if device.type != "cpu":
            self.dtype = torch.float16
        else:
            self.dtype = torch.float32

if __name__ == "__main__":
    print(Settings(torch.device("cpu")).dtype)
""",
    ),
    "a device that a function sets": (
        {"XLA003"},
        """
import torch

def configure(args):
    if torch.cuda.is_available():
        args.device = torch.device("cuda")
        torch.backends.cudnn.benchmark = True
    else:
        args.device = torch.device("cpu")
    return torch.zeros(2).to(args.device)
""",
    ),
    "a slice of what is long enough": (
        {"XLA002"},
        """
import torch

def last(x, n):
    if x.shape[1] > n:
        x = x[:, -n:]
    return x

def shown(x, n):
    print(last(x.cuda(), n).sum().item())

if __name__ == "__main__":
    shown(torch.ones(2, 9), 4)
""",
    ),
    "a copy under inference mode": (
        set(),
        """
import torch

@torch.inference_mode()
def restore(state, saved):
    for name, tensor in state.items():
        tensor.copy_(saved[name])

restore({"w": torch.ones(2).cuda()}, {"w": torch.ones(2)})
""",
    ),
    "a table that the constructor makes": (
        {"XLA101", "XLA402"},
        """
import torch
from torch import nn

class Sampler:
    def __init__(self, model, steps):
        self.model = model.to("cuda").eval()
        self.steps = steps
        self.scales = torch.linspace(1, 0, steps, device="cuda")

    @torch.no_grad()
    def sample(self, shape):
        x = torch.randn(shape, device="cuda")
        for step in range(self.steps):
            x = self.one(x, step)
        return x

    def one(self, x, step):
        scales = self.scales
        scale = float(scales[step])
        return x - self.model(x) * scale

if __name__ == "__main__":
    Sampler(nn.Linear(4, 4), 20).sample((2, 4))
""",
    ),
    "a read of the time step, next to the sample that the loop carries": (
        {"XLA101", "XLA402"},
        """
import torch
from torch import nn

SCALES = [0.5] * 1000

@torch.no_grad()
def sample(model, steps):
    x = torch.randn(4, 4, device="cuda")
    timesteps = torch.linspace(999, 0, steps, device="cuda").long()
    for t in timesteps:
        scale = SCALES[t.item()]
        x = x - model(x, t) * scale
    return x

if __name__ == "__main__":
    print(sample(nn.Bilinear(4, 4, 4).cuda(), 30))
""",
    ),
    "a move in both branches of a test for CUDA": (
        set(),
        """
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"

def batch(data, size):
    x = data[torch.randint(len(data), (size,))]
    if device == "cuda":
        x = x.pin_memory().to(device, non_blocking=True)
    else:
        x = x.to(device)
    return x
""",
    ),
    "a constructor that code which nothing runs calls": (
        set(),
        """
import torch
import torch_xla
from torch import nn

torch.__future__.set_swap_module_params_on_conversion(True)

class Tied(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.one, self.other = nn.Linear(size, size), nn.Linear(size, size)
        self.other.weight = self.one.weight

class Trainer:
    def __init__(self, size):
        self.model = Tied(size)
        self.model.to(torch_xla.device())
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

def check(library):
    assert Trainer(4).model.other.weight.device.type == library.kind

if __name__ == "__main__":
    Trainer(4)
""",
    ),
    "a call in code that nothing runs": (
        {"XLA102"},
        """
import torch

def norms(x):
    if x.is_cuda:
        return torch.linalg.vector_norm(x, dim=1)
    return torch.stack([row.norm() for row in x.cpu()])

def check(library, device):
    assert norms(library.ones(4, 8, device=device)).device.type == "cpu"

if __name__ == "__main__":
    print(norms(torch.ones(4, 8)))
""",
    ),
    "a function that is called like a method of modules": (
        {"XLA002"},
        """
import torch

def train(values):
    return [value.cuda() for value in values]

def step(values):
    return train(values)

def shown(x):
    x = x.cuda()
    print(x.sum().item())

if __name__ == "__main__":
    shown(torch.ones(2))
""",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_rewrite_keeps_the_findings(name: str) -> None:
    assert_every_rewrite_keeps_the_findings(*PROGRAMS[name])

"""A program has the same findings however it is written: each of these once had not."""

from __future__ import annotations

import pytest
from rewriting import assert_every_rewrite_keeps_the_findings

# By what they hold: codes that the program has, and the program.
PROGRAMS = {
    "a random size or a read one": (
        {"XLA205"},
        """
import torch

def forward(x, flag):
    for _ in range(3):
        if flag:
            n = x.sum().item()
        else:
            n = torch.randint(1, 5, ()).item()
        y = torch.zeros(n, device="cuda")
    return y

def main(flag):
    x = torch.ones(3).cuda()
    forward(x, flag)

main(True)
""",
    ),
    "moved where CUDA is": (
        {"XLA003"},
        """
import torch

use_gpu = torch.cuda.is_available()

def hidden():
    h, c = torch.zeros(2), torch.zeros(2)
    if use_gpu:
        h, c = h.cuda(), c.cuda()
    return h, c

def one(x):
    x = x.cuda() if use_gpu else x
    return x

kind = torch.cuda.FloatTensor if use_gpu else torch.FloatTensor
""",
    ),
    "refuses other devices": (
        {"XLA013"},
        """
import torch

def add(one, other):
    if one.device.type != "cuda":
        raise ValueError("move it to CUDA first")
    return torch.add(one, other)
""",
    ),
    "a sampler, if there is more than one process": (
        {"XLA901"},
        """
from torch.utils.data import DataLoader, DistributedSampler

def loaders(train_set, world_size):
    sampler = DistributedSampler(train_set, world_size) if world_size > 1 else None
    return DataLoader(train_set, batch_size=8, sampler=sampler)
""",
    ),
    "two reads in a step": (
        {"XLA101", "XLA103"},
        """
import torch

device = torch.device("cuda")
net = torch.nn.Linear(2, 2).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)

def number(value):
    return value.item()

class Trainer:
    def step(self, batch, log):
        loss = net(batch).sum()
        log["loss"] = float(loss.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

def train(loader):
    trainer, log = Trainer(), {}
    for batch in loader:
        loss = trainer.step(batch.to(device), log)
        print(number(loss.max()))

train([torch.ones(2, 2)] * 9)
""",
    ),
    "a state that another function saves": (
        {"XLA906"},
        """
import torch

def save_checkpoint(state, path):
    torch.save(state, path)

def save_half(model, path):
    torch.save({name: value.half() for name, value in model.state_dict().items()}, path)

def main():
    model = torch.nn.Linear(2, 2).cuda()
    state = {"model": model.state_dict()}
    save_checkpoint({**state, "epoch": 1}, "a.pt")
    save_half(model, "b.pt")

main()
""",
    ),
    "evaluation copies several tensors of a batch": (
        {"XLA101"},
        """
import torch

def evaluate(model, loader, device):
    total = 0.0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        loss = model(images).sub(labels).mean()
        total += loss.item()
    return total

def main():
    device = torch.device("cuda")
    print(evaluate(torch.nn.Linear(2, 2).to(device), [(torch.ones(2), torch.ones(2))], device))

main()
""",
    ),
    "a list that another function fills": (
        {"XLA904"},
        """
import random

import torch

def dataset(count):
    out = []
    for _ in range(count):
        labels, sizes = [], []
        for _ in range(random.randint(1, 5)):
            labels.append(1)
            sizes.append(2.0)
        out.append({"labels": torch.tensor(labels), "sizes": torch.tensor(sizes)})
    return out

def main(model):
    model = model.cuda()
    for sample in dataset(8):
        print(model(sample["labels"].cuda()).sum())

main(torch.nn.Linear(2, 2))
""",
    ),
    "builds its optimizer in a function": (
        {"XLA017"},
        """
import torch
from torch import nn
from torch.optim import AdamW

def build(dim):
    model = nn.Sequential(nn.Linear(dim, dim), nn.Linear(dim, 1))
    return model, AdamW(model.parameters(), lr=1e-3)

if __name__ == "__main__":
    model, optimizer = build(8)
    model(torch.ones(2, 8)).sum().backward()
    optimizer.step()
""",
    ),
    "trains without a device": (
        {"XLA017"},
        """
import torch
from torch import nn, optim

class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.optimizer = optim.Adam(self.parameters())

    def train_net(self, batch):
        loss = self.fc(batch).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

def main():
    policy = Policy()
    for episode in range(3):
        policy.train_net(torch.ones(2, 4))

if __name__ == "__main__":
    main()
""",
    ),
    "layers that a constructor makes": (
        {"XLA003", "XLA101"},
        """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.first = nn.Linear(size, 4)
        self.last = nn.Linear(4, 2)

    def forward(self, x):
        return self.last(self.first(x))

def evaluate(loader):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Net(3).to(device)
    total = 0
    with torch.no_grad():
        for x in loader:
            x = x.to(device)
            total += model(x).sum().item()
    return total

evaluate([torch.ones(2, 3)])
""",
    ),
    "a package under another name": (
        {"XLA604"},
        """
import numba

@numba.cuda.jit
def increment(x):
    x[0] += 1
""",
    ),
    "the current GPU or the CPU": (
        {"XLA003"},
        """
import torch

def norm(grads):
    device = torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.cuda.current_device()
    return torch.stack([g.norm().to(device) for g in grads])
""",
    ),
    "each process reads a part": (
        {"XLA708"},
        """
import torch
import torch_xla
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __init__(self, count, shard=0, num_shards=1):
        self.numbers = torch.arange(float(count))[shard::num_shards]

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, index):
        return self.numbers[index]

def part(rank, world_size):
    data = Numbers(8, shard=rank, num_shards=world_size)
    return DataLoader(data, batch_size=4, shuffle=True, drop_last=True)

def whole():
    return DataLoader(Numbers(8), batch_size=4, shuffle=True, drop_last=True)

def train(index):
    print(len(part(index, 4)), len(whole()))

torch_xla.launch(train)
""",
    ),
    "a state that somebody saves": (
        {"XLA710"},
        """
import torch

def save(state, filename="last.pt"):
    torch.save(state, filename)

def main(model, optimizer, args):
    if args.rank == 0:
        save({"state_dict": model.state_dict(), "optimizer": optimizer.state_dict()})
    return model(torch.ones(2))
""",
    ),
    "types under other names": (
        {"XLA203"},
        """
import torch
from torch import nn, Tensor
from typing import Optional, List

class Pool(nn.Module):
    def forward(self, x: Tensor, kept: Optional[torch.BoolTensor] = None, sizes: List[int] = ()):
        if kept is not None:
            x[kept] = 0
        return x, [x[kept] for _ in sizes]
""",
    ),
    "moves that keep the parameters": (
        {"XLA002"},
        """
import torch
import torch_xla
from torch import nn

torch.__future__.set_swap_module_params_on_conversion(True)

class Trainer:
    def __init__(self, width):
        self.model = nn.Linear(width, width)
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.device = torch_xla.device()
        self.prepare()

    def prepare(self):
        self.model = self.model.to(self.device)

trainer = Trainer(4)
trainer.model(torch.ones(2, 4).cuda())
""",
    ),
    "a model that is called once, on the host": (
        {"XLA908"},
        """
import torch
import torch_xla
from torch import nn

class OnHost(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.net = nn.Linear(size, size)

    def forward(self, x):
        return self.net(x * torch.tensor([0.5, 0.5]))

class OnDevice(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.net = nn.Linear(size, size)

    def forward(self, x):
        return self.net(x * torch.tensor([0.5, 0.5]))

device = torch_xla.device()
OnDevice(2).to(device)(torch.ones(2, 2, device=device))
OnHost(2)(torch.ones(2, 2))
""",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_rewrite_keeps_the_findings(name: str) -> None:
    assert_every_rewrite_keeps_the_findings(*PROGRAMS[name])

"""A program has the same findings if the body of a loop moves to a helper: each of these once had not."""

from __future__ import annotations

import pytest
from rewriting import assert_every_rewrite_keeps_the_findings, codes

# By what they hold: codes that the program has, and the program.
PROGRAMS = {
    "a loop that samples": (
        {"XLA110"},
        """
import torch
from torch import nn
from torch.distributions import Categorical

class Writer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.head = nn.Linear(width, width)

    def forward(self, x):
        return self.head(x)

    @torch.no_grad()
    def write(self, steps):
        x = torch.zeros(1, 8, device="cuda")
        for _ in range(steps):
            x = self(x)
            chosen = Categorical(logits=x).sample()
            x = torch.nn.functional.one_hot(chosen, 8).float()
        return x.tolist()

print(Writer(8).to("cuda").write(100))
""",
    ),
    "a model whose methods name their object otherwise": (
        {"XLA102"},
        """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(s, width):
        super().__init__()
        s.body = nn.Linear(width, width)

    def forward(s, x):
        return s.body(x)

    def act(s, x):
        y = s(x)
        return y.argmax(-1)

net = Net(8).to("cuda")
x = torch.zeros(4, 8)
print(net.act(x.to("cuda")))
for _ in range(100):
    x = x + net(x.to("cuda")).cpu()
""",
    ),
    "a reduced loss that one rank prints": (
        {"XLA710"},
        """
import torch
import torch.distributed as dist
from torch import nn

def train(rank, loader):
    model = nn.Linear(8, 8).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in loader:
        loss = model(x.to("cuda")).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        dist.all_reduce(loss)
        if rank == 0:
            print("loss", loss.item())

dist.init_process_group("nccl")
train(dist.get_rank(), torch.utils.data.DataLoader(torch.ones(64, 8), batch_size=8))
""",
    ),
    "a GPU that another function sets": (
        set(),
        """
import argparse
import torch
from torch import nn

def train(model, loader, criterion, optimizer, args):
    for x, y in loader:
        if args.gpu is not None:
            x = x.cuda(args.gpu)
        loss = criterion(model(x), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

RATE = float("0.1")

def work(args):
    args.gpu = 0
    model = nn.Linear(8, 8).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    samples = torch.utils.data.TensorDataset(torch.ones(64, 8), torch.ones(64, 8))
    train(model, torch.utils.data.DataLoader(samples, 8), nn.MSELoss(), optimizer, args)

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", type=int)
    work(parser.parse_args())
""",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_rewrite_keeps_the_findings(name: str) -> None:
    assert_every_rewrite_keeps_the_findings(*PROGRAMS[name])


def test_reports_no_distribution_of_a_loop_that_runs_no_model() -> None:
    text = """
import torch
from torch.distributions import Categorical

logits = torch.zeros(8)
print([int(x) for x in [Categorical(logits=logits).sample() for _ in range(100)]])
for _ in range(100):
    print(Categorical(logits=logits).sample())
"""
    assert "XLA110" not in codes(text)

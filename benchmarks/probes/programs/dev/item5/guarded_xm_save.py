import os

import torch
import torch.nn as nn
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr


class Encoder(nn.Module):
    def __init__(self, d_in=256, d=64):
        super().__init__()
        self.lin = nn.Linear(d_in, d)
        self.dec = nn.Linear(d, d_in)

    def forward(self, x):
        return self.dec(torch.sin(self.lin(x)))


class Trainer:
    def __init__(self, out):
        self.device = torch_xla.device()
        self.model = Encoder().to(self.device)
        self.opt = torch.optim.Adamax(self.model.parameters(), lr=2e-3)
        self.master = xm.is_master_ordinal()
        self.out = out

    def train_step(self, x):
        loss = (self.model(x) - x).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        xm.optimizer_step(self.opt, barrier=True)

    def save(self, tag):
        if self.master:
            os.makedirs(self.out, exist_ok=True)
            xm.save(self.model.state_dict(), os.path.join(self.out, tag + ".pt"))  # expect: XLA710

    def fit(self):
        gen = torch.Generator().manual_seed(xr.global_ordinal())
        for step in range(2000):
            self.train_step(torch.randn(64, 256, generator=gen).to(self.device))
            if (step + 1) % 1000 == 0:
                self.save(f"step{step + 1}")


def _mp_fn(index):
    Trainer("runs/enc").fit()


if __name__ == "__main__":
    torch_xla.launch(_mp_fn)

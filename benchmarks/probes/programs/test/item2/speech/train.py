import random

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla

from data import make_loader


class Keyword(nn.Module):
    def __init__(self, n=12):
        super().__init__()
        self.conv = nn.Conv1d(80, 128, 5, padding=2)
        self.out = nn.Linear(128, n)

    def forward(self, x):
        return self.out(F.relu(self.conv(x.transpose(1, 2))).mean(-1))


def main():
    cfg = {"batch_size": 32, "workers": 4}
    manifest = [(random.uniform(0.5, 6.0), random.randrange(12)) for _ in range(4000)]
    device = torch_xla.device()
    model = Keyword().to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    train_loader = make_loader(manifest, cfg, train=True)  # expect@a: XLA904
    for epoch in range(10):
        for x, _, y in train_loader:  # expect@a: XLA904
            loss = F.cross_entropy(model(x.to(device)), y.to(device))  # expect@a: XLA904
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()


if __name__ == "__main__":
    main()

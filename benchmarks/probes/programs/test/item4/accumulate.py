import argparse

import torch
import torch.nn as nn
import torch_xla
from torch.utils.data import DataLoader, TensorDataset


class PatchNet(nn.Module):
    def __init__(self, dim=192, depth=4):
        super().__init__()
        self.embed = nn.Conv2d(3, dim, 8, 8)
        self.blocks = nn.Sequential(*[nn.TransformerEncoderLayer(dim, 3, 2 * dim, batch_first=True) for _ in range(depth)])
        self.head = nn.Linear(dim, 100)

    def forward(self, x):
        x = self.embed(x).flatten(2).transpose(1, 2)
        return self.head(self.blocks(x).mean(1))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--accum", type=int, default=4)
    args = ap.parse_args()
    device = torch_xla.device()
    net = PatchNet().to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10000)
    criterion = nn.CrossEntropyLoss()
    data = TensorDataset(torch.randn(8192, 3, 64, 64), torch.randint(0, 100, (8192,)))
    loader = DataLoader(data, batch_size=32, shuffle=True, drop_last=True)
    for epoch in range(10):
        for i, (x, y) in enumerate(loader):  # expect@a: XLA401
            loss = criterion(net(x.to(device)), y.to(device)) / args.accum
            loss.backward()
            if (i + 1) % args.accum == 0:
                optimizer.step()  # expect@a: XLA401
                sched.step()
                optimizer.zero_grad()  # expect@a: XLA401


if __name__ == "__main__":
    main()

import random

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
from torch.utils.data import DataLoader, TensorDataset


class GridHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 32, 3, 2, 1), nn.SiLU(),
            nn.Conv2d(32, 64, 3, 2, 1), nn.SiLU(),
            nn.Conv2d(64, 5, 1),
        )

    def forward(self, x):
        return self.net(x).mean((2, 3))


def multiscale(imgs, base=416):
    size = random.randrange(base // 2, int(base * 1.5) + 32) // 32 * 32
    return F.interpolate(imgs, size=(size, size), mode="bilinear", align_corners=False)  # expect: XLA904|XLA304|XLA305|XLA205


def main():
    device = torch_xla.device()
    data = TensorDataset(torch.rand(512, 3, 416, 416), torch.rand(512, 5))
    loader = DataLoader(data, batch_size=16, shuffle=True, drop_last=True)
    head = GridHead().to(device)
    opt = torch.optim.SGD(head.parameters(), lr=0.01, momentum=0.937)
    for epoch in range(300):
        for imgs, targets in loader:
            imgs, targets = imgs.to(device), targets.to(device)
            pred = head(multiscale(imgs))
            loss = F.mse_loss(pred, targets)
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()


if __name__ == "__main__":
    main()

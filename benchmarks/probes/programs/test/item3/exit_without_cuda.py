import sys

import torch
import torch.nn as nn


class Upscaler(nn.Module):
    def __init__(self, r=2):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 64, 5, padding=2), nn.Tanh(), nn.Conv2d(64, 3 * r * r, 3, padding=1), nn.PixelShuffle(r))

    def forward(self, x):
        return self.body(x)


def pick_device():
    if torch.cuda.is_available():  # expect@a: XLA003|XLA013
        torch.backends.cudnn.benchmark = True
        device = torch.device("cuda")  # expect@a: XLA003|XLA001
    else:
        print("No GPU found, please run without --cuda")
        sys.exit(1)  # expect@a: XLA003|XLA013
    return device


def main():
    device = pick_device()
    net = Upscaler().to(device)
    optim = torch.optim.Adam(net.parameters(), lr=1e-3)
    crit = nn.MSELoss()
    for epoch in range(30):
        for _ in range(100):
            hi = torch.rand(16, 3, 64, 64).to(device)
            lo = nn.functional.avg_pool2d(hi, 2)
            loss = crit(net(lo), hi)
            optim.zero_grad()
            loss.backward()
            optim.step()


if __name__ == "__main__":
    main()

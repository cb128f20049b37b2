import gc

import torch
import torch.nn as nn
import torch_xla.core.xla_model as xm


def free_memory():
    gc.collect()
    if torch.cuda.is_available():  # silent: XLA003|XLA013
        torch.cuda.empty_cache()  # silent


class Segmenter(nn.Module):
    def __init__(self, k=4):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, k, 1))

    def forward(self, x):
        return self.net(x)


def main():
    dev = xm.xla_device()
    seg = Segmenter().to(dev)
    optimizer = torch.optim.Adam(seg.parameters(), lr=1e-4)
    for fold in range(5):
        for it in range(200):
            x = torch.rand(8, 1, 128, 128).to(dev)
            y = (x[:, 0] * 4).long().clamp(max=3)
            loss = nn.functional.cross_entropy(seg(x), y)
            optimizer.zero_grad()
            loss.backward()
            xm.optimizer_step(optimizer, barrier=True)
        free_memory()


if __name__ == "__main__":
    main()

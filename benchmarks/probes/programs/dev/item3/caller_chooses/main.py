import torch
import torch.nn as nn
import torch_xla
from torch.utils.data import DataLoader, TensorDataset

from engine import accuracy, fit


def blobs(n):
    y = torch.randint(0, 3, (n,))
    x = torch.randn(n, 16) + y[:, None]
    return DataLoader(TensorDataset(x, y), batch_size=64, drop_last=True)


if __name__ == "__main__":
    device = torch_xla.device()  # silent
    net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 3)).to(device)  # silent: XLA003|XLA017
    opt = torch.optim.Adam(net.parameters(), 1e-2)
    fit(net, blobs(6400), opt, device, epochs=5)
    print("accuracy", accuracy(net, blobs(640), device))

import os

import torch
import torch.nn as nn
import torch.nn.functional as F


def best_device():
    if os.environ.get("PJRT_DEVICE") == "TPU":
        import torch_xla
        return torch_xla.device()  # silent
    if torch.cuda.is_available():  # silent: XLA003|XLA013|XLA001
        return torch.device("cuda")  # silent: XLA003|XLA001
    return torch.device("cpu")  # silent: XLA003


def end_of_step(device):
    if device.type == "xla":
        import torch_xla
        torch_xla.sync()


def main():
    device = best_device()  # silent
    net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 2)).to(device)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(1000):
        x = torch.randn(64, 20)
        y = (x.sum(1) > 0).long()
        loss = F.cross_entropy(net(x.to(device)), y.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
        end_of_step(device)


if __name__ == "__main__":
    main()

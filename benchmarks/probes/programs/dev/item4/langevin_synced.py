import argparse

import torch
import torch.nn as nn
import torch_xla


class Energy(nn.Module):
    def __init__(self, d=2):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, 128), nn.SiLU(), nn.Linear(128, 128), nn.SiLU(), nn.Linear(128, 1))

    def forward(self, x):
        return self.net(x).sum()


def boundary():
    torch_xla.sync()


def langevin(energy, x, steps, eps):
    for _ in range(steps):  # silent: XLA401|XLA402
        x = x.detach().requires_grad_(True)
        (grad,) = torch.autograd.grad(energy(x), x)  # silent: XLA401|XLA402
        x = x - 0.5 * eps * grad + eps ** 0.5 * torch.randn_like(x)  # silent: XLA401|XLA402
        boundary()
    return x.detach()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--chains", type=int, default=512)
    ap.add_argument("--steps", type=int, default=1000)
    args = ap.parse_args()
    device = torch_xla.device()
    energy = Energy().to(device)
    energy.load_state_dict(torch.load("energy.pt", map_location="cpu"))
    start = torch.randn(args.chains, 2).to(device)
    samples = langevin(energy, start, args.steps, 1e-2)  # silent
    print(samples.cpu().std(0))


if __name__ == "__main__":
    main()

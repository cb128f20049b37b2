import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla


class LoRALinear(nn.Module):
    def __init__(self, base, rank, alpha=16.0):
        super().__init__()
        self.base = base
        self.rank = rank
        base.requires_grad_(False)
        if rank > 0:
            self.down = nn.Parameter(torch.empty(rank, base.in_features))
            self.up = nn.Parameter(torch.zeros(base.out_features, rank))
            nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))
            self.scale = alpha / rank

    def forward(self, x):
        if self.rank == 0:  # silent: XLA710
            return self.base(x)  # silent: XLA710
        return self.base(x) + F.linear(F.linear(x, self.down), self.up) * self.scale


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--rank", type=int, default=8, help="rank of the adapters, 0 trains the head only")
    args = ap.parse_args()
    device = torch_xla.device()
    body = LoRALinear(nn.Linear(512, 512), args.rank).to(device)
    head = nn.Linear(512, 10).to(device)
    params = [p for p in list(body.parameters()) + list(head.parameters()) if p.requires_grad]
    opt = torch.optim.AdamW(params, lr=1e-4)
    for step in range(1000):
        x, y = torch.randn(32, 512).to(device), torch.randint(0, 10, (32,)).to(device)
        loss = F.cross_entropy(head(body(x)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        torch_xla.sync()
    if args.rank == 0:  # silent: XLA710
        probs = head(body(torch.zeros(1, 512, device=device))).softmax(-1)  # silent: XLA710
        print("head only:", probs.cpu())  # silent: XLA710


if __name__ == "__main__":
    main()

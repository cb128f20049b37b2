import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_backend
import torch_xla.runtime as xr

from dist_utils import get_rank, is_main_process


class Tower(nn.Module):
    def __init__(self, d=128):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.Linear(d, d))

    def forward(self, x):
        return x + self.net(x)


def run(index, out_dir):
    dist.init_process_group("xla", init_method="xla://")
    torch.manual_seed(0)
    device = torch_xla.device()
    net = Tower().to(device)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(3):
        for it in range(200):
            x = torch.randn(32, 128).to(device) + get_rank()
            loss = (net(x) - x.flip(-1)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            xm.optimizer_step(opt, barrier=True)
        if is_main_process():
            path = os.path.join(out_dir, f"tower_{epoch}.pth")
            torch.save(net.state_dict(), path)  # expect: XLA710|XLA906
            print("saved", path)


if __name__ == "__main__":
    os.makedirs("ckpt", exist_ok=True)
    torch_xla.launch(run, args=("ckpt",))

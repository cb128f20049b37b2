import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.distributed.xla_backend
from torch.nn.parallel import DistributedDataParallel

from common import bundle, save_on_master


def spawned(index, epochs):
    dist.init_process_group("xla", init_method="xla://")
    device = torch_xla.device()
    net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 2)).to(device)
    ddp = DistributedDataParallel(net, gradient_as_bucket_view=True)
    opt = torch.optim.SGD(ddp.parameters(), lr=0.05)
    gen = torch.Generator().manual_seed(dist.get_rank())
    for epoch in range(epochs):
        for _ in range(100):
            x = torch.randn(32, 3, 32, 32, generator=gen).to(device)
            y = torch.randint(0, 2, (32,), generator=gen).to(device)
            loss = F.cross_entropy(ddp(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()
        save_on_master(bundle(ddp, opt, epoch), "last.pth")  # expect@a: XLA710|XLA906


if __name__ == "__main__":
    torch_xla.launch(spawned, args=(10,))

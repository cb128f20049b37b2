import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import torch_xla.runtime as xr
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def build(device):
    ds = TensorDataset(torch.randn(8000, 32), torch.randint(0, 4, (8000,)))
    sampler = DistributedSampler(ds, num_replicas=xr.world_size(), rank=xr.global_ordinal())
    return pl.MpDeviceLoader(DataLoader(ds, batch_size=50, sampler=sampler, drop_last=True), device)


def checkpoint(model, epoch):
    with open(f"model-{epoch}.bin", "wb") as handle:  # expect@a: any
        xm.save(model.state_dict(), handle)  # expect@a: any


def _worker(index):
    device = torch_xla.device()
    torch_xla.manual_seed(1)
    net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4)).to(device)
    sgd = torch.optim.SGD(net.parameters(), lr=0.1)
    loader = build(device)
    for epoch in range(6):
        for x, y in loader:
            loss = F.cross_entropy(net(x), y)
            sgd.zero_grad()
            loss.backward()
            xm.optimizer_step(sgd)
        checkpoint(net, epoch)


if __name__ == "__main__":
    torch_xla.launch(_worker)

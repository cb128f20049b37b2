import argparse

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.distributed.parallel_loader as pl
import torch_xla.distributed.xla_backend
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from metrics import validate


def loader_for(n, args, device):
    ds = TensorDataset(torch.randn(n, 64), torch.randint(0, 10, (n,)))
    sampler = DistributedSampler(ds, num_replicas=args.world_size, rank=args.rank)
    return pl.MpDeviceLoader(DataLoader(ds, batch_size=64, sampler=sampler, drop_last=True), device)


def worker(index, args):
    dist.init_process_group("xla", init_method="xla://")
    args.rank, args.world_size = dist.get_rank(), dist.get_world_size()
    device = torch_xla.device()
    model = DDP(nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10)).to(device), gradient_as_bucket_view=True)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    train, val = loader_for(20000, args, device), loader_for(2000, args, device)
    for epoch in range(args.epochs):
        for x, y in train:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if args.rank == 0:
            print(epoch, validate(model, val, device))  # expect@a: XLA710


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--epochs", type=int, default=5)
    torch_xla.launch(worker, args=(p.parse_args(),))

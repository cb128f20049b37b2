import argparse
import json

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import torch_xla.runtime as xr
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def shards(n, device):
    ds = TensorDataset(torch.randn(n, 20), torch.randint(0, 3, (n,)))
    sampler = DistributedSampler(ds, num_replicas=xr.world_size(), rank=xr.global_ordinal())
    return pl.MpDeviceLoader(DataLoader(ds, 100, sampler=sampler, drop_last=True), device)


def main(index, args):
    device = torch_xla.device()
    torch_xla.manual_seed(0)
    net = nn.Sequential(nn.Linear(20, 40), nn.Tanh(), nn.Linear(40, 3)).to(device)
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    train, val = shards(8000, device), shards(1600, device)
    for epoch in range(args.epochs):
        for x, y in train:
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            xm.optimizer_step(opt)
        good, n = torch.zeros((), device=device), 0
        with torch.no_grad():
            for x, y in val:
                good += (net(x).argmax(-1) == y).sum()
                n += y.shape[0]
        acc = xm.mesh_reduce("acc", good.item() / n, np.mean)  # silent: XLA710
        if xm.is_master_ordinal():  # silent: XLA710
            with open("result.json", "w") as f:  # silent
                json.dump({"epoch": epoch, "accuracy": float(acc)}, f)  # silent
            print(f"[{epoch}] accuracy {acc:.3f}")  # silent


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--lr", type=float, default=1e-3)
    ap.add_argument("--epochs", type=int, default=3)
    torch_xla.launch(main, args=(ap.parse_args(),))

"""Trains with DistributedDataParallel under torchrun, or as a single process without it."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def setup() -> tuple[int, int, torch.device]:
    """Rank, world size and the device of this process."""
    rank = int(os.environ.get("RANK", 0))
    world_size = int(os.environ.get("WORLD_SIZE", 1))
    local_rank = int(os.environ.get("LOCAL_RANK", 0))
    if world_size > 1:
        dist.init_process_group(backend="nccl" if torch.cuda.is_available() else "gloo")
    if torch.cuda.is_available():
        torch.cuda.set_device(local_rank)
        return rank, world_size, torch.device(f"cuda:{local_rank}")
    return rank, world_size, torch.device("cpu")


def is_distributed() -> bool:
    return dist.is_available() and dist.is_initialized()


def reduce_mean(value: Tensor) -> Tensor:
    if not is_distributed():
        return value
    value = value.clone()
    dist.all_reduce(value, op=dist.ReduceOp.SUM)
    return value / dist.get_world_size()


class MLP(nn.Module):
    def __init__(self, features: int, classes: int, width: int = 32) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(features, width),
            nn.BatchNorm1d(width),
            nn.ReLU(inplace=True),
            nn.Dropout(0.1),
            nn.Linear(width, classes),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.net(x)


def synthetic_clusters(count: int, features: int, classes: int, seed: int) -> TensorDataset:
    centres = 2 * torch.randn(classes, features, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, classes, (count,), generator=generator)
    return TensorDataset(centres[labels] + torch.randn(count, features, generator=generator), labels)


def make_loader(dataset: TensorDataset, args: argparse.Namespace, shuffle: bool) -> DataLoader:
    sampler = DistributedSampler(dataset, shuffle=shuffle) if is_distributed() else None
    return DataLoader(
        dataset,
        batch_size=args.batch_size,
        shuffle=shuffle and sampler is None,
        sampler=sampler,
        num_workers=args.workers,
        pin_memory=True,
    )


def train_one_epoch(model: nn.Module, loader: DataLoader, optimizer, device: torch.device) -> Tensor:
    model.train()
    total = torch.zeros((), device=device)
    for x, y in loader:
        x = x.to(device, non_blocking=True)
        y = y.to(device, non_blocking=True)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return reduce_mean(total / len(loader))


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader, device: torch.device) -> Tensor:
    model.eval()
    correct = torch.zeros(2, device=device)
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        hits = (model(x).argmax(dim=1) == y).sum()
        correct += torch.stack((hits.float(), torch.tensor(float(len(y)), device=device)))
    if is_distributed():
        dist.all_reduce(correct)
    return correct[0] / correct[1]


def save(model: nn.Module, optimizer, epoch: int, path: Path) -> None:
    unwrapped = model.module if isinstance(model, DDP) else model
    state = {"model": unwrapped.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}
    torch.save(state, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--sync-bn", action="store_true")
    args = parser.parse_args()

    rank, world_size, device = setup()
    torch.manual_seed(17 + rank)
    train_loader = make_loader(synthetic_clusters(96, 8, 4, seed=1), args, shuffle=True)
    test_loader = make_loader(synthetic_clusters(32, 8, 4, seed=2), args, shuffle=False)

    model: nn.Module = MLP(8, 4).to(device)
    if args.sync_bn:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    if is_distributed():
        model = DDP(model, device_ids=[device.index] if device.type == "cuda" else None)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr * world_size, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1], gamma=0.1)

    checkpoint = Path(tempfile.mkdtemp()) / "model.pt"
    for epoch in range(args.epochs):
        if is_distributed():
            train_loader.sampler.set_epoch(epoch)
        start = time.time()
        loss = train_one_epoch(model, train_loader, optimizer, device)
        accuracy = evaluate(model, test_loader, device)
        scheduler.step()
        if rank == 0:
            seconds = time.time() - start
            print(f"epoch {epoch}: loss {loss.item():.4f} accuracy {accuracy.item():.3f} ({seconds:.1f} s)")
            save(model, optimizer, epoch, checkpoint)
    if is_distributed():
        dist.barrier()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()

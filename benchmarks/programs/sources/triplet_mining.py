"""Metric learning with online triplet mining and a retrieval evaluation."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler


class Identities(Dataset):
    def __init__(self, identities: int, per_identity: int, features: int, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        centres = torch.randn(identities, features, generator=generator)
        self.labels = torch.arange(identities).repeat_interleave(per_identity)
        self.data = centres[self.labels] + 0.6 * torch.randn(len(self.labels), features, generator=generator)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.data[index], self.labels[index]


class PKSampler(Sampler[list[int]]):
    """Batches of P identities with K samples each."""

    def __init__(self, labels: Tensor, p: int, k: int, batches: int) -> None:
        self.groups = {int(label): np.flatnonzero(labels.numpy() == int(label)) for label in labels.unique()}
        self.p, self.k, self.batches = p, k, batches
        self.rng = np.random.default_rng(0)

    def __iter__(self) -> Iterator[list[int]]:
        for _ in range(self.batches):
            identities = self.rng.choice(list(self.groups), self.p, replace=False)
            yield [int(i) for name in identities for i in self.rng.choice(self.groups[name], self.k)]

    def __len__(self) -> int:
        return self.batches


class EmbeddingNet(nn.Module):
    def __init__(self, features: int, dim: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, 32), nn.PReLU(), nn.Linear(32, dim))

    def forward(self, x: Tensor) -> Tensor:
        return F.normalize(self.net(x), p=2, dim=1)


def pairwise_distances(embeddings: Tensor) -> Tensor:
    dot = embeddings @ embeddings.t()
    square_norm = dot.diag()
    distances = (square_norm.unsqueeze(0) - 2.0 * dot + square_norm.unsqueeze(1)).clamp(min=0)
    mask = distances.eq(0).float()
    return (1.0 - mask) * torch.sqrt(distances + mask * 1e-16)


def batch_hard_triplet_loss(labels: Tensor, embeddings: Tensor, margin: float) -> Tensor:
    """The farthest positive and the nearest negative of each anchor."""
    distances = pairwise_distances(embeddings)
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    eye = torch.eye(labels.size(0), dtype=torch.bool, device=labels.device)
    hardest_positive = (distances * (same & ~eye).float()).max(1, keepdim=True)[0]
    max_distance = distances.max(1, keepdim=True)[0]
    hardest_negative = (distances + max_distance * same.float()).min(1, keepdim=True)[0]
    return F.relu(hardest_positive - hardest_negative + margin).mean()


def semi_hard_triplets(labels: Tensor, distances: Tensor, margin: float) -> Tensor:
    """Indices (anchor, positive, negative) whose loss lies between zero and the margin."""
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    eye = torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    gap = distances.unsqueeze(1) - distances.unsqueeze(2)
    valid = (same & ~eye).unsqueeze(2) & ~same.unsqueeze(1)
    return torch.nonzero(valid & (gap > 0) & (gap < margin))


def semi_hard_triplet_loss(labels: Tensor, embeddings: Tensor, margin: float) -> tuple[Tensor, int]:
    triplets = semi_hard_triplets(labels, pairwise_distances(embeddings.detach()), margin)
    if len(triplets) == 0:
        return embeddings.sum() * 0.0, 0
    anchor, positive, negative = (embeddings[triplets[:, i]] for i in range(3))
    return F.triplet_margin_loss(anchor, positive, negative, margin=margin), len(triplets)


@torch.no_grad()
def recall_at_k(model: nn.Module, dataset: Identities, k: int, device: torch.device) -> float:
    model.eval()
    embeddings = torch.cat([model(x.to(device)).cpu() for x, _ in DataLoader(dataset, 16)])
    distances = torch.cdist(embeddings, embeddings)
    distances.fill_diagonal_(float("inf"))
    nearest = distances.topk(k, largest=False).indices
    hits = (dataset.labels[nearest] == dataset.labels[:, None]).any(dim=1)
    return hits.float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batches-per-epoch", type=int, default=5)
    parser.add_argument("--mining", choices=("hard", "semi-hard"), default="semi-hard")
    parser.add_argument("-p", type=int, default=4)
    parser.add_argument("-k", type=int, default=3)
    parser.add_argument("--margin", type=float, default=0.3)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    dataset = Identities(12, 6, features=10, seed=0)
    sampler = PKSampler(dataset.labels, args.p, args.k, args.batches_per_epoch)
    loader = DataLoader(dataset, batch_sampler=sampler)
    model = EmbeddingNet(10, dim=8).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        model.train()
        losses, mined = [], 0
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            embeddings = model(x)
            if args.mining == "hard":
                loss, count = batch_hard_triplet_loss(y, embeddings, args.margin), len(y)
            else:
                loss, count = semi_hard_triplet_loss(y, embeddings, args.margin)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            mined += count
        recall = recall_at_k(model, dataset, 1, device)
        print(f"epoch {epoch}: loss {np.mean(losses):.4f} triplets {mined} recall@1 {recall:.3f}")


if __name__ == "__main__":
    main()

"""Point cloud classification: farthest point sampling, nearest neighbours, edge convolutions."""

from __future__ import annotations

import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset


def farthest_point_sample(xyz: Tensor, npoint: int) -> Tensor:
    device = xyz.device
    B, N, _ = xyz.shape
    centroids = torch.zeros(B, npoint, dtype=torch.long).to(device)
    distance = torch.ones(B, N).to(device) * 1e10
    farthest = torch.randint(0, N, (B,), dtype=torch.long).to(device)
    batch_indices = torch.arange(B, dtype=torch.long).to(device)
    for i in range(npoint):
        centroids[:, i] = farthest
        centroid = xyz[batch_indices, farthest, :].view(B, 1, 3)
        dist = torch.sum((xyz - centroid) ** 2, -1)
        mask = dist < distance
        distance[mask] = dist[mask]
        farthest = torch.max(distance, -1)[1]
    return centroids


def index_points(points: Tensor, idx: Tensor) -> Tensor:
    view_shape = [points.shape[0]] + [1] * (idx.dim() - 1)
    batch_indices = torch.arange(points.shape[0], device=points.device).view(view_shape).expand_as(idx)
    return points[batch_indices, idx, :]


def knn(x: Tensor, queries: Tensor, k: int) -> Tensor:
    return torch.cdist(queries, x).topk(k, dim=-1, largest=False)[1]


class EdgeConv(nn.Module):
    """Maximum over the neighbours of a function of (point, neighbour - point)."""

    def __init__(self, in_channels: int, out_channels: int, k: int) -> None:
        super().__init__()
        self.k = k
        self.conv = nn.Sequential(
            nn.Conv2d(in_channels * 2, out_channels, 1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.LeakyReLU(negative_slope=0.2),
        )

    def forward(self, x: Tensor, queries: Tensor) -> Tensor:
        neighbours = index_points(x, knn(x, queries, self.k))
        centre = queries.unsqueeze(2).expand_as(neighbours)
        edges = torch.cat((centre, neighbours - centre), dim=-1).permute(0, 3, 1, 2)
        return self.conv(edges).max(dim=-1)[0].transpose(1, 2)


class PointNet(nn.Module):
    def __init__(self, num_classes: int, npoint: int = 4, k: int = 4, width: int = 16) -> None:
        super().__init__()
        self.npoint = npoint
        self.conv1 = EdgeConv(3, width, k)
        self.conv2 = EdgeConv(width, width, k)
        self.classifier = nn.Sequential(
            nn.Linear(width, width), nn.ReLU(inplace=True), nn.Dropout(p=0.4), nn.Linear(width, num_classes)
        )

    def forward(self, xyz: Tensor) -> Tensor:
        features = self.conv1(xyz, xyz)
        centres = farthest_point_sample(xyz, self.npoint)
        features = self.conv2(features, index_points(features, centres))
        return self.classifier(features.max(dim=1)[0])


def synthetic_clouds(count: int, points: int, seed: int) -> TensorDataset:
    """Spheres, cubes and discs."""
    generator = torch.Generator().manual_seed(seed)
    raw = torch.randn(count, points, 3, generator=generator)
    labels = torch.arange(count) % 3
    sphere = F.normalize(raw, dim=-1)
    cube = raw / raw.abs().amax(dim=-1, keepdim=True)
    disc = sphere * torch.tensor([1.0, 1.0, 0.0])
    shapes = torch.stack((sphere, cube, disc))
    return TensorDataset(shapes[labels, torch.arange(count)], labels)


def random_scale_shift(points: Tensor) -> Tensor:
    B = points.size(0)
    scale = torch.empty(B, 1, 1, device=points.device).uniform_(0.8, 1.25)
    shift = torch.empty(B, 1, 3, device=points.device).uniform_(-0.1, 0.1)
    return points * scale + shift


@torch.no_grad()
def test(model: PointNet, loader: DataLoader, num_classes: int) -> tuple[float, float]:
    """Instance accuracy and the mean of the classes' accuracies."""
    model.eval()
    hits, totals = torch.zeros(num_classes), torch.zeros(num_classes)
    for points, target in loader:
        if torch.cuda.is_available():
            points, target = points.cuda(), target.cuda()
        pred_choice = model(points).max(1)[1]
        for cat in torch.unique(target.cpu()):
            selected = target == cat.item()
            hits[cat] += pred_choice[selected].eq(cat.item()).cpu().sum()
            totals[cat] += selected.sum().item()
    return (hits.sum() / totals.sum()).item(), (hits / totals.clamp(min=1)).mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=6)
    parser.add_argument("--num-points", type=int, default=24)
    parser.add_argument("--lr", type=float, default=2e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    num_classes = 3
    train_loader = DataLoader(
        synthetic_clouds(24, args.num_points, 0), args.batch_size, shuffle=True, drop_last=True
    )
    test_loader = DataLoader(synthetic_clouds(6, args.num_points, 1), args.batch_size)
    model, criterion = PointNet(num_classes), nn.CrossEntropyLoss(label_smoothing=0.1)
    if torch.cuda.is_available():
        model, criterion = model.cuda(), criterion.cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=20, gamma=0.7)

    for epoch in range(args.epochs):
        start, mean_correct, losses = time.time(), [], []
        model.train()
        for points, target in train_loader:
            if torch.cuda.is_available():
                points, target = points.cuda(), target.cuda()
            optimizer.zero_grad()
            pred = model(random_scale_shift(points))
            loss = criterion(pred, target)
            loss.backward()
            optimizer.step()
            correct = pred.detach().max(1)[1].eq(target).cpu().sum()
            mean_correct.append(correct.item() / points.size(0))
            losses.append(loss.item())
        scheduler.step()
        train_acc, loss = sum(mean_correct) / len(mean_correct), sum(losses) / len(losses)
        print(f"epoch {epoch}: loss {loss:.4f} train {train_acc:.3f} ({time.time() - start:.1f} s)")

    instance_acc, class_acc = test(model, test_loader, num_classes)
    print(f"test: instance {instance_acc:.3f} class {class_acc:.3f}")


if __name__ == "__main__":
    main()

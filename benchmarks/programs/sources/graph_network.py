"""A graph isomorphism network on batches of small graphs of different sizes."""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass
class Graph:
    """`edge_index` holds sources and targets, (2, edges)."""

    x: Tensor
    edge_index: Tensor
    y: int


@dataclass
class Batch:
    """Graphs side by side; `batch` tells which graph a node belongs to."""

    x: Tensor
    edge_index: Tensor
    batch: Tensor
    y: Tensor

    @classmethod
    def from_list(cls, graphs: list[Graph]) -> Batch:
        offsets = torch.tensor([0] + [len(g.x) for g in graphs]).cumsum(0)
        edges = [g.edge_index + offset for g, offset in zip(graphs, offsets, strict=False)]
        owner = [torch.full((len(g.x),), i) for i, g in enumerate(graphs)]
        return cls(
            x=torch.cat([g.x for g in graphs]),
            edge_index=torch.cat(edges, dim=1),
            batch=torch.cat(owner),
            y=torch.tensor([g.y for g in graphs]),
        )

    def to(self, device: torch.device) -> Batch:
        return Batch(*(t.to(device) for t in (self.x, self.edge_index, self.batch, self.y)))


def scatter_sum(src: Tensor, index: Tensor, dim_size: int) -> Tensor:
    out = torch.zeros(dim_size, src.size(-1), dtype=src.dtype, device=src.device)
    return out.index_add_(0, index, src)


def scatter_mean(src: Tensor, index: Tensor, dim_size: int) -> Tensor:
    count = torch.zeros(dim_size, device=src.device).scatter_add_(0, index, torch.ones_like(src[:, 0]))
    return scatter_sum(src, index, dim_size) / count.clamp(min=1).unsqueeze(-1)


def degree(index: Tensor, num_nodes: int) -> Tensor:
    return torch.bincount(index, minlength=num_nodes)


class GINConv(nn.Module):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(
            nn.Linear(in_channels, out_channels), nn.ReLU(), nn.Linear(out_channels, out_channels)
        )

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        src, dst = edge_index
        aggregated = scatter_sum(x[src], dst, dim_size=x.size(0))
        return self.mlp((1 + self.eps) * x + aggregated)


class GIN(nn.Module):
    def __init__(self, in_channels: int, hidden: int, num_classes: int, num_layers: int = 2) -> None:
        super().__init__()
        widths = [in_channels] + [hidden] * num_layers
        self.convs = nn.ModuleList(GINConv(a, b) for a, b in pairwise(widths))
        self.lin = nn.Linear(hidden, num_classes)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        degrees = degree(edge_index[1], x.size(0)).to(x.dtype)
        x = torch.cat((x, degrees.unsqueeze(-1)), dim=-1)
        for conv in self.convs:
            x = F.relu(conv(x, edge_index))
        num_graphs = int(batch.max()) + 1
        pooled = scatter_mean(x, batch, dim_size=num_graphs)
        return self.lin(F.dropout(pooled, p=0.2, training=self.training))


def ring_or_star(nodes: int, star: bool, features: int, generator: torch.Generator) -> Graph:
    pairs = [(0, i) for i in range(1, nodes)] if star else [(i, (i + 1) % nodes) for i in range(nodes)]
    edges = torch.tensor(pairs + [(b, a) for a, b in pairs]).t().contiguous()
    return Graph(torch.randn(nodes, features, generator=generator), edges, int(star))


def make_graphs(count: int, features: int, seed: int) -> list[Graph]:
    rng = random.Random(seed)
    generator = torch.Generator().manual_seed(seed)
    return [ring_or_star(rng.randint(4, 9), rng.random() < 0.5, features, generator) for _ in range(count)]


def loader(graphs: list[Graph], batch_size: int, shuffle: bool = False):
    order = list(range(len(graphs)))
    if shuffle:
        random.shuffle(order)
    for start in range(0, len(order), batch_size):
        yield Batch.from_list([graphs[i] for i in order[start : start + batch_size]])


def train(model: GIN, graphs: list[Graph], optimizer, batch_size: int, device: torch.device) -> float:
    model.train()
    total_loss = 0.0
    for data in loader(graphs, batch_size, shuffle=True):
        data = data.to(device)
        optimizer.zero_grad()
        out = model(data.x, data.edge_index, data.batch)
        loss = F.cross_entropy(out, data.y)
        loss.backward()
        optimizer.step()
        total_loss += float(loss) * len(data.y)
    return total_loss / len(graphs)


@torch.no_grad()
def test(model: GIN, graphs: list[Graph], batch_size: int, device: torch.device) -> float:
    model.eval()
    total_correct = 0
    for data in loader(graphs, batch_size):
        data = data.to(device)
        pred = model(data.x, data.edge_index, data.batch).argmax(dim=-1)
        total_correct += int((pred == data.y).sum())
    return total_correct / len(graphs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.01)
    args = parser.parse_args()

    random.seed(0)
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_graphs = make_graphs(16, features=3, seed=0)
    test_graphs = make_graphs(4, features=3, seed=1)
    model = GIN(in_channels=4, hidden=args.hidden, num_classes=2).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    for epoch in range(1, args.epochs + 1):
        loss = train(model, train_graphs, optimizer, args.batch_size, device)
        train_acc = test(model, train_graphs[:4], args.batch_size, device)
        test_acc = test(model, test_graphs, args.batch_size, device)
        print(f"Epoch: {epoch:02d}, Loss: {loss:.4f} Train: {train_acc:.4f} Test: {test_acc:.4f}")


if __name__ == "__main__":
    main()

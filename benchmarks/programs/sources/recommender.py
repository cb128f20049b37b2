"""A click model with embedding tables, and a ranking evaluation over all items."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor


@dataclass
class Interactions:
    """Users like items of their own group."""

    num_users: int = 24
    num_items: int = 40
    num_groups: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        self.rng = rng
        self.user_group = rng.integers(0, self.num_groups, self.num_users)
        self.item_group = rng.integers(0, self.num_groups, self.num_items)
        liked = [np.flatnonzero(self.item_group == group) for group in self.user_group]
        self.held_out = np.array([rng.choice(items) for items in liked])
        self.positives = [set(items) - {held} for items, held in zip(liked, self.held_out, strict=True)]
        self.pairs = np.array([(u, i) for u, items in enumerate(self.positives) for i in items])

    def sample_batch(self, positives: int, negatives_per_positive: int) -> tuple[Tensor, ...]:
        chosen = self.pairs[self.rng.integers(0, len(self.pairs), positives)]
        users = np.repeat(chosen[:, 0], negatives_per_positive)
        negatives = np.stack((users, self.rng.integers(0, self.num_items, len(users))), axis=1)
        rows = torch.from_numpy(np.concatenate((chosen, negatives)))
        labels = torch.cat((torch.ones(positives), torch.zeros(len(users))))
        return rows[:, 0], rows[:, 1], labels

    def histories(self, users: Tensor, longest: int = 5) -> tuple[Tensor, Tensor]:
        """Flat item ids with the offset of each user, as EmbeddingBag wants them."""
        bags = [sorted(self.positives[u])[:longest] for u in users.tolist()]
        offsets = np.cumsum([0] + [len(bag) for bag in bags[:-1]])
        return torch.tensor([i for bag in bags for i in bag]), torch.from_numpy(offsets)


class DeepFM(nn.Module):
    def __init__(self, num_users: int, num_items: int, dim: int = 8) -> None:
        super().__init__()
        self.user = nn.Embedding(num_users, dim)
        self.item = nn.Embedding(num_items, dim)
        self.item_bias = nn.Embedding(num_items, 1)
        self.history = nn.EmbeddingBag(num_items, dim, mode="mean")
        self.mlp = nn.Sequential(nn.Linear(3 * dim, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 1))
        for table in (self.user, self.item, self.history):
            nn.init.normal_(table.weight, std=0.05)
        nn.init.zeros_(self.item_bias.weight)

    def forward(self, users: Tensor, items: Tensor, bag: Tensor, offsets: Tensor) -> Tensor:
        u, v, h = self.user(users), self.item(items), self.history(bag, offsets)
        fields = torch.stack((u, v, h), dim=1)
        square_of_sum = fields.sum(dim=1).pow(2)
        sum_of_square = fields.pow(2).sum(dim=1)
        fm = 0.5 * (square_of_sum - sum_of_square).sum(dim=1)
        deep = self.mlp(fields.flatten(1)).squeeze(-1)
        return fm + deep + self.item_bias(items).squeeze(-1)


def train(model: DeepFM, data: Interactions, args: argparse.Namespace, device: torch.device) -> None:
    optimizer = torch.optim.Adagrad(model.parameters(), lr=args.lr, weight_decay=1e-5)
    model.train()
    losses = []
    for step in range(1, args.steps + 1):
        users, items, labels = data.sample_batch(args.batch_size, args.negatives)
        bag, offsets = data.histories(users)
        users, items, labels = users.to(device), items.to(device), labels.to(device)
        logits = model(users, items, bag.to(device), offsets.to(device))
        loss = F.binary_cross_entropy_with_logits(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
        if step % args.log_every == 0:
            print(f"step {step}: loss {torch.stack(losses).mean().item():.4f}")
            losses.clear()


@torch.no_grad()
def evaluate(model: DeepFM, data: Interactions, k: int, device: torch.device) -> tuple[float, float]:
    """Hit rate and NDCG at k of the held-out items, among the items not seen in training."""
    model.eval()
    hits, ndcgs = [], []
    all_items = torch.arange(data.num_items, device=device)
    for user in range(0, data.num_users, 6):
        users = torch.full((data.num_items,), user)
        bag, offsets = data.histories(users)
        scores = model(users.to(device), all_items, bag.to(device), offsets.to(device))
        scores[list(data.positives[user])] = -np.inf
        _, indices = torch.topk(scores, k)
        recommended = indices.cpu().numpy().tolist()
        target = data.held_out[user]
        hits.append(int(target in recommended))
        ndcgs.append(1 / np.log2(recommended.index(target) + 2) if target in recommended else 0.0)
    return float(np.mean(hits)), float(np.mean(ndcgs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=9)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--negatives", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--top-k", type=int, default=10)
    parser.add_argument("--log-every", type=int, default=3)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = Interactions()
    model = DeepFM(data.num_users, data.num_items).to(device)
    train(model, data, args, device)
    hit_rate, ndcg = evaluate(model, data, args.top_k, device)
    print(f"HR@{args.top_k} {hit_rate:.3f}  NDCG@{args.top_k} {ndcg:.3f}")


if __name__ == "__main__":
    main()

"""Offline training job for the candidate generation service (two-tower retrieval).

Samplers are resolved by name through a registry; see ``JOB_SPEC`` at the bottom of this module.
"""
import abc
import dataclasses
import enum
import logging
import sys
import time
import typing as t
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(asctime)s %(levelname)-7s %(name)s: %(message)s")
logger = logging.getLogger("retrieval.job")


class SamplerKind(enum.Enum):
    UNIFORM, POPULARITY = "uniform", "popularity"


@dataclasses.dataclass(frozen=True)
class JobSpec:
    n_users: int = 240
    n_items: int = 400
    n_clusters: int = 8
    embedding_dim: int = 32
    output_dim: int = 24
    negatives: int = 64
    sampler: SamplerKind = SamplerKind.POPULARITY
    temperature: float = 0.1
    batch_size: int = 192
    epochs: int = 2
    learning_rate: float = 0.01
    ks: t.Tuple[int, ...] = (5, 20, 50)
    eval_chunk: int = 100
    seed: int = 2024


class InteractionLog:
    """Simulated clickstream; the last interaction of every user is held out."""

    def __init__(self, spec: JobSpec) -> None:
        rng = np.random.default_rng(spec.seed)
        self.item_cluster = rng.integers(0, spec.n_clusters, spec.n_items)
        self.item_price = rng.lognormal(0.0, 1.0, spec.n_items).astype(np.float32)
        taste = rng.dirichlet(np.full(spec.n_clusters, 0.3), spec.n_users)
        popularity = rng.zipf(1.6, spec.n_items).clip(max=60).astype(np.float64)
        self.histories: t.List[np.ndarray] = []
        for u in range(spec.n_users):
            weight = popularity * taste[u][self.item_cluster] + 1e-6
            self.histories.append(rng.choice(spec.n_items, rng.integers(4, 12), replace=False, p=weight / weight.sum()))
        self.heldout = np.array([h[-1] for h in self.histories])
        self.train_histories = [h[:-1] for h in self.histories]
        self.counts = np.bincount(np.concatenate(self.train_histories), minlength=spec.n_items)


class PositivePairs(Dataset):
    """One example per (user, item); the item itself is removed from the user's history bag."""

    def __init__(self, log: InteractionLog) -> None:
        self._log = log
        self._pairs = [(u, i) for u, h in enumerate(log.train_histories) for i in range(len(h))]

    def __len__(self) -> int:
        return len(self._pairs)

    def __getitem__(self, index: int) -> t.Tuple[int, np.ndarray, int]:
        user, position = self._pairs[index]
        history = self._log.train_histories[user]
        return user, np.delete(history, position), int(history[position])


def bag_histories(histories: t.Sequence[np.ndarray]) -> t.Tuple[torch.Tensor, torch.Tensor]:
    offsets = np.cumsum([0] + [len(h) for h in histories[:-1]])
    return torch.from_numpy(np.concatenate(histories)), torch.from_numpy(offsets)


def collate_pairs(examples: t.List[t.Tuple[int, np.ndarray, int]]) -> t.Dict[str, torch.Tensor]:
    users, histories, positives = zip(*examples)
    values, offsets = bag_histories(histories)
    return {"user": torch.tensor(users), "history": values, "offsets": offsets, "positive": torch.tensor(positives)}


class NegativeSampler(abc.ABC):
    REGISTRY: t.Dict[SamplerKind, type] = {}

    def __init_subclass__(cls, kind: SamplerKind) -> None:
        NegativeSampler.REGISTRY[kind] = cls

    def __init__(self, log: InteractionLog, device: torch.device) -> None:
        self.weights = self.build_weights(torch.from_numpy(log.counts).float()).to(device)
        self.log_q = (self.weights / self.weights.sum()).log()

    def sample(self, n: int) -> torch.Tensor:
        return torch.multinomial(self.weights, n, replacement=False)

    @abc.abstractmethod
    def build_weights(self, counts: torch.Tensor) -> torch.Tensor: ...


class UniformSampler(NegativeSampler, kind=SamplerKind.UNIFORM):
    def build_weights(self, counts: torch.Tensor) -> torch.Tensor:
        return torch.ones_like(counts)


class PopularitySampler(NegativeSampler, kind=SamplerKind.POPULARITY):
    def build_weights(self, counts: torch.Tensor) -> torch.Tensor:
        return (counts + 1.0) ** 0.75


class Tower(nn.Module):
    def __init__(self, in_dim: int, out_dim: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(in_dim, 64), nn.LayerNorm(64), nn.GELU(), nn.Linear(64, out_dim))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return nn.functional.normalize(self.net(features), dim=-1)


class TwoTowerModel(nn.Module):
    def __init__(self, spec: JobSpec, log: InteractionLog) -> None:
        super().__init__()
        d = spec.embedding_dim
        self.user_embedding = nn.Embedding(spec.n_users, d)
        self.history_embedding = nn.EmbeddingBag(spec.n_items, d, mode="mean")
        self.item_embedding, self.cluster_embedding = nn.Embedding(spec.n_items, d), nn.Embedding(spec.n_clusters, 8)
        self.user_tower, self.item_tower = Tower(2 * d, spec.output_dim), Tower(d + 8 + 1, spec.output_dim)
        self.register_buffer("item_cluster", torch.from_numpy(log.item_cluster))
        self.register_buffer("item_price", torch.from_numpy(log.item_price).log().unsqueeze(1))

    def encode_users(self, user: torch.Tensor, history: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        return self.user_tower(torch.cat([self.user_embedding(user), self.history_embedding(history, offsets)], dim=1))

    def encode_items(self, item: torch.Tensor) -> torch.Tensor:
        side = self.cluster_embedding(self.item_cluster[item])
        return self.item_tower(torch.cat([self.item_embedding(item), side, self.item_price[item]], dim=1))


@dataclasses.dataclass
class SampledSoftmaxLoss:
    """Sampled softmax with logQ correction; accidental hits are masked out."""
    temperature: float

    def __call__(self, users, positives, pos_ids, negatives, neg_ids, log_q):
        pos = (users * positives).sum(dim=1, keepdim=True) / self.temperature - log_q[pos_ids].unsqueeze(1)
        neg = users @ negatives.T / self.temperature - log_q[neg_ids]
        neg = neg.masked_fill(pos_ids.unsqueeze(1) == neg_ids.unsqueeze(0), torch.finfo(neg.dtype).min)
        logits = torch.cat([pos, neg], dim=1)
        target = torch.zeros(len(logits), dtype=torch.long, device=logits.device)
        return nn.functional.cross_entropy(logits, target)


class RecallEvaluator:
    def __init__(self, spec: JobSpec, log: InteractionLog, device: torch.device) -> None:
        self.spec, self.log, self.device = spec, log, device

    @torch.no_grad()
    def __call__(self, model: TwoTowerModel) -> t.Dict[str, float]:
        catalogue = model.encode_items(torch.arange(self.spec.n_items, device=self.device))
        hits = {k: 0 for k in self.spec.ks}
        reciprocal = 0.0
        for start in range(0, self.spec.n_users, self.spec.eval_chunk):
            ids = np.arange(start, min(start + self.spec.eval_chunk, self.spec.n_users))
            seen = [self.log.train_histories[u] for u in ids]
            values, offsets = (x.to(self.device) for x in bag_histories(seen))
            scores = model.encode_users(torch.from_numpy(ids).to(self.device), values, offsets) @ catalogue.T
            for row, items in enumerate(seen):
                scores[row, torch.from_numpy(items).to(self.device)] = float("-inf")
            top = scores.topk(max(self.spec.ks), dim=1).indices.cpu().numpy()
            match = top == self.log.heldout[ids][:, None]
            for k in self.spec.ks:
                hits[k] += int(match[:, :k].any(axis=1).sum())
            reciprocal += float((match / np.arange(1, match.shape[1] + 1)).sum())
        return {**{f"recall@{k}": h / self.spec.n_users for k, h in hits.items()}, "mrr": reciprocal / self.spec.n_users}


class TrainingJob:
    def __init__(self, spec: JobSpec) -> None:
        torch.manual_seed(spec.seed)
        self.spec, self.device = spec, torch.device("cuda")
        self.log = InteractionLog(spec)
        self.model = TwoTowerModel(spec, self.log).to(self.device)
        self.sampler = NegativeSampler.REGISTRY[spec.sampler](self.log, self.device)
        self.criterion = SampledSoftmaxLoss(spec.temperature)
        self.optimizer = torch.optim.Adagrad(self.model.parameters(), lr=spec.learning_rate)
        self.loader = DataLoader(PositivePairs(self.log), spec.batch_size, shuffle=True, collate_fn=collate_pairs)
        self.evaluator = RecallEvaluator(spec, self.log, self.device)

    def _train_step(self, batch: t.Dict[str, torch.Tensor]) -> torch.Tensor:
        batch = {name: tensor.to(self.device, non_blocking=True) for name, tensor in batch.items()}
        negatives = self.sampler.sample(self.spec.negatives)
        users = self.model.encode_users(batch["user"], batch["history"], batch["offsets"])
        loss = self.criterion(users, self.model.encode_items(batch["positive"]), batch["positive"],
                              self.model.encode_items(negatives), negatives, self.sampler.log_q)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def run(self) -> t.Dict[str, float]:
        logger.info("spec: %s", dataclasses.asdict(self.spec))
        logger.info("before training: %s", self.evaluator(self.model))
        for epoch in range(self.spec.epochs):
            started, losses = time.monotonic(), []
            for batch in self.loader:
                losses.append(self._train_step(batch))
            mean_loss, metrics = torch.stack(losses).mean().item(), self.evaluator(self.model)
            logger.info("epoch %d: %d steps, loss %.4f, %.2fs, %s", epoch, len(losses), mean_loss, time.monotonic() - started,
                        ", ".join(f"{k}={v:.3f}" for k, v in metrics.items()))
        return metrics


JOB_SPEC = JobSpec()

if __name__ == "__main__":
    sys.exit(0 if TrainingJob(JOB_SPEC).run()["mrr"] >= 0 else 1)

"""Quantile regression on tabular data, with an EMA during training and SWA over the last epochs."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn


@dataclass(frozen=True)
class Config:
    n_rows: int = 640
    n_numeric: int = 8
    cardinalities: tuple[int, ...] = (5, 12, 30)
    quantiles: tuple[float, ...] = (0.1, 0.5, 0.9)
    hidden: int = 64
    blocks: int = 2
    dropout: float = 0.1
    batch_size: int = 128
    epochs: int = 5
    swa_start: int = 3
    lr: float = 3e-3
    swa_lr: float = 1e-3
    ema_decay: float = 0.9
    seed: int = 0


def make_table(cfg: Config) -> tuple[Tensor, Tensor, Tensor]:
    rng = np.random.default_rng(cfg.seed)
    numeric = rng.standard_normal((cfg.n_rows, cfg.n_numeric)).astype(np.float32)
    categorical = np.stack([rng.integers(0, c, cfg.n_rows) for c in cfg.cardinalities], axis=1)
    effects = [rng.standard_normal(c)[categorical[:, i]] for i, c in enumerate(cfg.cardinalities)]
    mean = numeric[:, 0] * numeric[:, 1] + np.sin(2 * numeric[:, 2]) + sum(effects)
    target = mean + rng.standard_normal(cfg.n_rows) * (0.2 + 0.3 * np.abs(numeric[:, 3]))
    return torch.from_numpy(numeric), torch.from_numpy(categorical), torch.from_numpy(target).float()


class GpuBatches:
    """Shuffled batches of tensors that live on the device; an incomplete last batch is dropped."""

    def __init__(self, *tensors: Tensor, batch_size: int, shuffle: bool = True):
        self.tensors, self.batch_size, self.shuffle = tensors, batch_size, shuffle
        self.n = len(tensors[0])

    def __len__(self) -> int:
        return self.n // self.batch_size

    def __iter__(self):
        device = self.tensors[0].device
        order = torch.randperm(self.n, device=device) if self.shuffle else torch.arange(self.n, device=device)
        for i in range(len(self)):
            rows = order[i * self.batch_size : (i + 1) * self.batch_size]
            # update_bn wants the inputs as the first element
            yield (tuple(t[rows] for t in self.tensors[:-1]), self.tensors[-1][rows])


class ResidualBlock(nn.Module):
    def __init__(self, dim: int, dropout: float):
        super().__init__()
        self.norm = nn.BatchNorm1d(dim)
        self.ff = nn.Sequential(
            nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Dropout(dropout), nn.Linear(2 * dim, dim)
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.ff(self.norm(x))


class TabularNet(nn.Module):
    def __init__(self, cfg: Config):
        super().__init__()
        sizes = [min(16, (c + 1) // 2) for c in cfg.cardinalities]
        self.embeddings = nn.ModuleList(
            nn.Embedding(c, s) for c, s in zip(cfg.cardinalities, sizes, strict=True)
        )
        self.stem = nn.Linear(cfg.n_numeric + sum(sizes), cfg.hidden)
        self.body = nn.Sequential(*(ResidualBlock(cfg.hidden, cfg.dropout) for _ in range(cfg.blocks)))
        self.head = nn.Linear(cfg.hidden, len(cfg.quantiles))

    def forward(self, inputs: tuple[Tensor, Tensor]) -> Tensor:
        numeric, categorical = inputs
        embedded = [emb(categorical[:, i]) for i, emb in enumerate(self.embeddings)]
        return self.head(self.body(self.stem(torch.cat([numeric, *embedded], dim=1))).relu())


def pinball_loss(pred: Tensor, target: Tensor, quantiles: Tensor) -> Tensor:
    diff = target.unsqueeze(1) - pred
    return torch.maximum(quantiles * diff, (quantiles - 1) * diff).mean()


@torch.no_grad()
def evaluate(model: nn.Module, batches: GpuBatches, quantiles: Tensor) -> tuple[float, float]:
    """Mean pinball loss, and the part of the targets inside the outer quantiles."""
    model.eval()
    loss = torch.zeros((), device=quantiles.device)
    covered = torch.zeros((), device=quantiles.device)
    for inputs, target in batches:
        pred = model(inputs)
        loss += pinball_loss(pred, target, quantiles)
        covered += ((target > pred[:, 0]) & (target < pred[:, -1])).float().mean()
    result = torch.stack([loss, covered]) / len(batches)
    return tuple(result.tolist())


def run(cfg: Config) -> None:
    torch.manual_seed(cfg.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    table = [t.to(device) for t in make_table(cfg)]
    split = int(0.8 * cfg.n_rows)
    train = GpuBatches(*(t[:split] for t in table), batch_size=cfg.batch_size)
    valid = GpuBatches(*(t[split:] for t in table), batch_size=64, shuffle=False)

    model = TabularNet(cfg).to(device)
    ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(cfg.ema_decay), use_buffers=True)
    swa = AveragedModel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=1e-4)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=cfg.swa_start * len(train))
    swa_schedule = SWALR(optimizer, swa_lr=cfg.swa_lr, anneal_epochs=1)
    quantiles = torch.tensor(cfg.quantiles, device=device)

    for epoch in range(cfg.epochs):
        model.train()
        running = torch.zeros((), device=device)
        for inputs, target in train:
            loss = pinball_loss(model(inputs), target, quantiles)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema.update_parameters(model)
            running += loss.detach()
            if epoch < cfg.swa_start:
                cosine.step()
        if epoch >= cfg.swa_start:
            swa.update_parameters(model)
            swa_schedule.step()
        valid_loss, coverage = evaluate(ema, valid, quantiles)
        train_loss = running.item() / len(train)
        print(f"epoch {epoch}: train {train_loss:.4f} ema valid {valid_loss:.4f} coverage {coverage:.2f}")

    update_bn(train, swa)
    swa_loss, coverage = evaluate(swa, valid, quantiles)
    print(f"swa: valid {swa_loss:.4f}, coverage {coverage:.2f} with {asdict(cfg)}")


if __name__ == "__main__":
    run(Config())

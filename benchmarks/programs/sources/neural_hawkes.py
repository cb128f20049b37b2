"""Neural Hawkes process (continuous-time LSTM): maximum likelihood, next-event metrics and thinning."""

from __future__ import annotations

import argparse
import logging
import math
import random
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn, optim
from torch.utils.data import DataLoader, Dataset

log = logging.getLogger(__name__)


def simulate_hawkes(
    rng: np.random.Generator, num_types: int, horizon: float
) -> tuple[list[float], list[int]]:
    """Ogata thinning of a multivariate Hawkes process with exponential kernels."""
    base = np.full(num_types, 0.35)
    excite = 0.5 * np.eye(num_types) + 0.3 * np.roll(np.eye(num_types), 1, axis=1)
    state, now = np.zeros(num_types), 0.0
    times: list[float] = []
    types: list[int] = []
    while True:
        bound = (base + state).sum()
        wait = rng.exponential(1 / bound)
        if now + wait > horizon:
            return times, types
        now += wait
        state *= math.exp(-1.5 * wait)
        rate = base + state
        if rng.random() * bound < rate.sum():
            k = int(rng.choice(num_types, p=rate / rate.sum()))
            times.append(now)
            types.append(k)
            state += excite[k]


class EventSequences(Dataset):
    def __init__(self, count: int, num_types: int, seed: int):
        rng = np.random.default_rng(seed)
        self.num_types = num_types
        self.sequences = [simulate_hawkes(rng, num_types, 2.5) for _ in range(count)]
        self.sequences = [s for s in self.sequences if len(s[0]) >= 2]

    def __len__(self) -> int:
        return len(self.sequences)

    def __getitem__(self, i: int) -> dict[str, Any]:
        times, types = self.sequences[i]
        return {"delta": np.diff([0.0, *times]).astype(np.float32), "type": np.array(types)}

    def collate(self, items: list[dict[str, Any]]) -> dict[str, Tensor]:
        longest = max(len(item["type"]) for item in items)
        batch = {
            "delta": torch.zeros(len(items), longest),
            "type": torch.full((len(items), longest), self.num_types, dtype=torch.long),
            "length": torch.tensor([len(item["type"]) for item in items]),
        }
        for row, item in enumerate(items):
            batch["delta"][row, : len(item["delta"])] = torch.from_numpy(item["delta"])
            batch["type"][row, : len(item["type"])] = torch.from_numpy(item["type"])
        return batch


class CTLSTMCell(nn.Module):
    def __init__(self, input_dim: int, hidden_dim: int):
        super().__init__()
        self.linear = nn.Linear(input_dim + hidden_dim, 7 * hidden_dim)

    def forward(self, x: Tensor, h: Tensor, c: Tensor, c_bar: Tensor) -> tuple[Tensor, ...]:
        i, f, z, o, i_bar, f_bar, decay = self.linear(torch.cat([x, h], dim=-1)).chunk(7, dim=-1)
        z = torch.tanh(z)
        c_new = torch.sigmoid(f) * c + torch.sigmoid(i) * z
        c_bar = torch.sigmoid(f_bar) * c_bar + torch.sigmoid(i_bar) * z
        return c_new, c_bar, F.softplus(decay), torch.sigmoid(o)


class NeuralHawkes(nn.Module):
    def __init__(self, num_types: int, dim: int):
        super().__init__()
        self.num_types, self.dim = num_types, dim
        self.embed = nn.Embedding(num_types + 1, dim, padding_idx=num_types)
        self.cell = CTLSTMCell(dim, dim)
        self.rate = nn.Linear(dim, num_types, bias=False)
        self.log_beta = nn.Parameter(torch.zeros(num_types))

    @staticmethod
    def decay_to(state: tuple[Tensor, ...], delta: Tensor) -> tuple[Tensor, Tensor]:
        c, c_bar, decay, o = state
        c_t = c_bar + (c - c_bar) * torch.exp(-decay * delta.unsqueeze(-1))
        return o * torch.tanh(c_t), c_t

    def intensity(self, h: Tensor) -> Tensor:
        beta = self.log_beta.exp()
        return beta * F.softplus(self.rate(h) / beta)

    def initial(self, n: int) -> tuple[Tensor, ...]:
        zero = self.log_beta.new_zeros(n, self.dim)
        return self.cell(zero, zero, zero, zero)

    def forward(self, delta: Tensor, types: Tensor) -> tuple[list[Tensor], list[tuple[Tensor, ...]]]:
        """Hidden states just before each event, and the state that governs the interval up to it."""
        state = self.initial(delta.size(0))
        before, states = [], []
        for t in range(delta.size(1)):
            h, c_t = self.decay_to(state, delta[:, t])
            before.append(h)
            states.append(state)
            state = self.cell(self.embed(types[:, t]), h, c_t, state[1])
        states.append(state)
        return before, states

    def loss(self, batch: dict[str, Tensor], num_mc: int) -> tuple[Tensor, Tensor]:
        delta, types = batch["delta"], batch["type"]
        mask = types.ne(self.num_types)
        before, states = self(delta, types)
        rates = self.intensity(torch.stack(before, dim=1))
        picked = rates.gather(-1, types.masked_fill(~mask, 0).unsqueeze(-1)).squeeze(-1)
        log_term = picked.clamp(min=1e-9).log().masked_fill(~mask, 0.0).sum()
        stacked = tuple(torch.stack(part, dim=1).unsqueeze(2) for part in zip(*states[:-1], strict=True))
        u = torch.rand(*delta.shape, num_mc, device=delta.device)
        h, _ = self.decay_to(stacked, u * delta.unsqueeze(-1))
        integral = (self.intensity(h).sum(-1).mean(-1) * delta).masked_fill(~mask, 0.0).sum()
        return -(log_term - integral) / mask.sum(), rates

    @torch.no_grad()
    def sample_next(self, state: tuple[Tensor, ...], max_wait: float = 10.0) -> tuple[float, int]:
        """Thinning for a single history."""
        waited = 0.0
        grid = torch.linspace(0, max_wait, 20, device=self.log_beta.device)
        h, _ = self.decay_to(state, grid)
        bound = 1.5 * self.intensity(h).sum(-1).max().item()
        while waited < max_wait:
            waited += random.expovariate(bound)
            h, _ = self.decay_to(state, torch.full((1,), waited, device=grid.device))
            rate = self.intensity(h)[0]
            if random.random() * bound <= rate.sum():
                return waited, torch.multinomial(rate, 1).item()
        return max_wait, int(rate.argmax())

    @torch.no_grad()
    def generate(self, count: int) -> list[tuple[float, int]]:
        state, events, now = self.initial(1), [], 0.0
        device = self.log_beta.device
        for _ in range(count):
            wait, k = self.sample_next(state)
            now += wait
            events.append((now, k))
            h, c_t = self.decay_to(state, torch.tensor([wait], device=device))
            state = self.cell(self.embed(torch.tensor([k], device=device)), h, c_t, state[1])
        return events


def to_device(batch: dict[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    return {key: value.to(device) for key, value in batch.items()}


@torch.no_grad()
def evaluate(model: NeuralHawkes, loader: DataLoader, device: torch.device) -> dict[str, float]:
    model.eval()
    nll, events, hits = 0.0, 0, 0
    confusion = torch.zeros(model.num_types, model.num_types, device=device)
    for batch in loader:
        batch = to_device(batch, device)
        loss, rates = model.loss(batch, num_mc=10)
        mask = batch["type"] != model.num_types
        n = mask.sum().item()
        pred, true = rates.argmax(-1)[mask], batch["type"][mask]
        hits += (pred == true).sum().item()
        confusion.index_put_((true, pred), torch.ones_like(pred, dtype=torch.float), accumulate=True)
        nll += loss.item() * n
        events += n
    f1 = 2 * confusion.diag() / (confusion.sum(0) + confusion.sum(1)).clamp(min=1)
    return {"nll": nll / events, "acc": hits / events, "f1": f1.mean().item()}


class EarlyStopping:
    def __init__(self, patience: int):
        self.patience, self.best, self.bad, self.state = patience, math.inf, 0, None

    def __call__(self, value: float, model: nn.Module) -> bool:
        if value < self.best:
            self.best, self.bad = value, 0
            self.state = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}
        else:
            self.bad += 1
        return self.bad >= self.patience


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num-types", type=int, default=3)
    parser.add_argument("--dim", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--num-mc", type=int, default=5)
    parser.add_argument("--patience", type=int, default=2)
    parser.add_argument("--sample", type=int, default=2)
    parser.add_argument("--seed", type=int, default=2024)
    args = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(message)s")
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    train_set, dev_set = EventSequences(40, args.num_types, 1), EventSequences(10, args.num_types, 2)
    train_loader = DataLoader(train_set, args.batch_size, shuffle=True, collate_fn=train_set.collate)
    dev_loader = DataLoader(dev_set, args.batch_size, collate_fn=dev_set.collate)
    model = NeuralHawkes(args.num_types, args.dim).to(device)
    optimizer = optim.Adam(model.parameters(), lr=args.lr)
    scheduler = optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=0)
    stopper = EarlyStopping(args.patience)
    for epoch in range(1, args.epochs + 1):
        model.train()
        total, events = 0.0, 0
        for batch in train_loader:
            batch = to_device(batch, device)
            optimizer.zero_grad()
            loss, _ = model.loss(batch, args.num_mc)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            n = int(batch["length"].sum())
            total += loss.item() * n
            events += n
        metrics = evaluate(model, dev_loader, device)
        scheduler.step(metrics["nll"])
        log.info(
            "epoch %d: train nll %.4f, dev %s",
            epoch,
            total / events,
            {k: round(v, 4) for k, v in metrics.items()},
        )
        if stopper(metrics["nll"], model):
            log.info("no improvement in %d epochs", args.patience)
            break
    model.load_state_dict(stopper.state)
    model.eval()
    for when, kind in model.generate(args.sample):
        log.info("  t=%.3f type %d", when, kind)


if __name__ == "__main__":
    main()

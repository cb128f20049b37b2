"""Federated averaging of a next-character LSTM across clients with their own dialects.

Server and clients live in one process; every round samples some clients, clips and noises their updates
and moves the server's weights by a momentum of their average.
"""

from __future__ import annotations

import argparse
import copy
import logging
from collections import OrderedDict
from collections.abc import Iterable

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logger = logging.getLogger("fed")
VOCAB = "abcdefghijklmnop "
StateDict = "OrderedDict[str, torch.Tensor]"


def dialect(rng: np.random.Generator, n: int, length: int) -> torch.Tensor:
    """Sequences from a Markov chain of the client's own."""
    table = rng.dirichlet(np.full(len(VOCAB), 0.1), size=len(VOCAB)).cumsum(1)
    out = np.zeros((n, length + 1), dtype=np.int64)
    out[:, 0] = rng.integers(len(VOCAB), size=n)
    for t in range(length):
        u = rng.random((n, 1))
        out[:, t + 1] = (u > table[out[:, t]]).sum(1).clip(max=len(VOCAB) - 1)
    return torch.from_numpy(out)


class CharLSTM(nn.Module):
    def __init__(self, dim=16, hidden=32):
        super().__init__()
        self.embed = nn.Embedding(len(VOCAB), dim)
        self.lstm = nn.LSTM(dim, hidden, num_layers=1, batch_first=True)
        self.fc = nn.Linear(hidden, len(VOCAB))

    def forward(self, x, state=None):
        out, state = self.lstm(self.embed(x), state)
        return self.fc(out), state


class Client:
    def __init__(self, cid: int, args, device):
        self.cid, self.args, self.device = cid, args, device
        rng = np.random.default_rng(args.seed + cid)
        n = int(rng.integers(args.batch_size, 3 * args.batch_size))
        data = dialect(rng, n + 8, args.seq_len)
        self.train_loader = DataLoader(TensorDataset(data[8:]), batch_size=args.batch_size, shuffle=True)
        self.test_data = data[:8]
        self.num_samples = n

    def fit(self, global_model: nn.Module) -> tuple[StateDict, dict[str, float]]:
        model = copy.deepcopy(global_model).train()
        anchor = [p.detach().clone() for p in global_model.parameters()]
        optimizer = torch.optim.SGD(model.parameters(), lr=self.args.lr, momentum=0.9)
        criterion = nn.CrossEntropyLoss()
        losses, correct, seen = [], 0, 0
        for _ in range(self.args.local_epochs):
            for (tokens,) in self.train_loader:
                tokens = tokens.to(self.device)
                logits, _ = model(tokens[:, :-1])
                target = tokens[:, 1:]
                loss = criterion(logits.reshape(-1, logits.size(-1)), target.reshape(-1))
                if self.args.mu > 0:
                    proximal = sum(
                        (w - w0).pow(2).sum() for w, w0 in zip(model.parameters(), anchor, strict=True)
                    )
                    loss = loss + self.args.mu / 2 * proximal
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                losses.append(loss.item())
                correct += (logits.argmax(-1) == target).sum().item()
                seen += target.numel()
        start = global_model.state_dict()
        delta = OrderedDict((k, v.detach() - start[k]) for k, v in model.state_dict().items())
        return delta, {"loss": float(np.mean(losses)), "acc": correct / seen}

    @torch.no_grad()
    def evaluate(self, model: nn.Module) -> tuple[float, int]:
        tokens = self.test_data.to(self.device)
        logits, _ = model(tokens[:, :-1])
        hits = logits.argmax(-1).eq(tokens[:, 1:])
        return float(hits.sum()), hits.numel()


def clip_update(delta: StateDict, bound: float) -> tuple[StateDict, bool]:
    norm = torch.sqrt(sum(v.pow(2).sum() for v in delta.values()))
    if norm > bound:
        return OrderedDict((k, v * (bound / norm)) for k, v in delta.items()), True
    return delta, False


def weighted_average(updates: Iterable[tuple[StateDict, int]]) -> StateDict:
    updates = list(updates)
    total = sum(n for _, n in updates)
    average = copy.deepcopy(updates[0][0])
    for key in average:
        average[key] = torch.stack([delta[key] * (n / total) for delta, n in updates]).sum(0)
    return average


class Server:
    def __init__(self, args, device):
        self.args, self.device = args, device
        self.model = CharLSTM().to(device)
        self.clients = [Client(i, args, device) for i in range(args.num_clients)]
        self.velocity = {k: torch.zeros_like(v) for k, v in self.model.state_dict().items()}
        self.rng = np.random.default_rng(args.seed)
        self.best: tuple[float, dict] = (0.0, {})

    def run_round(self, r: int) -> None:
        count = max(int(self.args.fraction * len(self.clients)), 1)
        chosen = self.rng.choice(len(self.clients), size=count, replace=False)
        updates, clipped, metrics = [], 0, []
        for cid in sorted(chosen):
            client = self.clients[cid]
            delta, info = client.fit(self.model)
            delta, was_clipped = clip_update(delta, self.args.clip)
            clipped += was_clipped
            updates.append((delta, client.num_samples))
            metrics.append(info)
        average = weighted_average(updates)
        state = self.model.state_dict()
        for key, value in average.items():
            noise = torch.randn_like(value) * self.args.noise * self.args.clip / count
            self.velocity[key] = self.args.server_momentum * self.velocity[key] + value + noise
            state[key] += self.args.server_lr * self.velocity[key]
        self.model.load_state_dict(state)
        logger.info(
            "round %d: loss %.3f, acc %.3f, clipped %d of %d",
            r, np.mean([m["loss"] for m in metrics]), np.mean([m["acc"] for m in metrics]), clipped, count,
        )  # fmt: skip

    def evaluate(self, r: int) -> float:
        self.model.eval()
        results = [client.evaluate(self.model) for client in self.clients]
        acc = sum(h for h, _ in results) / sum(n for _, n in results)
        per_client = np.array([h / n for h, n in results])
        logger.info("round %d: test %.3f, worst client %.3f", r, acc, per_client.min())
        if acc > self.best[0]:
            self.best = (acc, {k: v.cpu().clone() for k, v in self.model.state_dict().items()})
        return acc

    @torch.no_grad()
    def babble(self, prefix: str, n: int, temperature: float = 0.7) -> str:
        self.model.load_state_dict(self.best[1])
        x = torch.tensor([[VOCAB.index(c) for c in prefix]], device=self.device)
        text, state = prefix, None
        for _ in range(n):
            logits, state = self.model(x, state)
            probs = torch.softmax(logits[0, -1] / temperature, dim=-1)
            x = torch.multinomial(probs, 1)[None]
            text += VOCAB[x.item()]
        return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--num-clients", type=int, default=5)
    parser.add_argument("--fraction", type=float, default=0.6)
    parser.add_argument("--local-epochs", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--seq-len", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.3)
    parser.add_argument("--mu", type=float, default=0.01, help="FedProx; 0 is FedAvg")
    parser.add_argument("--clip", type=float, default=1.5)
    parser.add_argument("--noise", type=float, default=0.001)
    parser.add_argument("--server-lr", type=float, default=1.0)
    parser.add_argument("--server-momentum", type=float, default=0.5)
    parser.add_argument("--eval-every", type=int, default=2)
    parser.add_argument("--seed", type=int, default=17)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s | %(message)s")
    torch.manual_seed(args.seed)
    device = torch.device("cuda:0") if torch.cuda.is_available() else torch.device("cpu")
    server = Server(args, device)
    for r in range(1, args.rounds + 1):
        server.run_round(r)
        if r % args.eval_every == 0:
            server.evaluate(r)
    logger.info("sample: %r", server.babble("abc", 10))


if __name__ == "__main__":
    main()

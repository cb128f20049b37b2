#!/usr/bin/env python
"""Knowledge graph embeddings (ComplEx, RotatE) with self-adversarial negative sampling."""

import argparse
import logging
import math
import time
from collections import defaultdict

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

log = logging.getLogger("kge")


class AverageMeter:
    def __init__(self):
        self.sum, self.count, self.val = 0.0, 0, 0.0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n

    @property
    def avg(self):
        return self.sum / max(self.count, 1)

    def __str__(self):
        return f"{self.val:.4f} ({self.avg:.4f})"


class MetricLogger:
    def __init__(self, print_freq):
        self.meters = defaultdict(AverageMeter)
        self.print_freq = print_freq

    def update(self, n=1, **kwargs):
        for k, v in kwargs.items():
            if isinstance(v, torch.Tensor):
                v = v.item()
            self.meters[k].update(v, n)

    def log_every(self, iterable, header):
        start = time.time()
        for i, obj in enumerate(iterable):
            yield obj
            if i % self.print_freq == 0:
                metrics = "  ".join(f"{name} {meter}" for name, meter in self.meters.items())
                log.info("%s [%d/%d] %s  %.1fs", header, i, len(iterable), metrics, time.time() - start)


class KGEModel(nn.Module):
    def __init__(self, name, n_entity, n_relation, dim, gamma):
        super().__init__()
        self.name, self.gamma = name, gamma
        self.emb_range = (gamma + 2.0) / dim
        self.entity = nn.Embedding(n_entity, 2 * dim)
        self.relation = nn.Embedding(n_relation, 2 * dim if name == "complex" else dim)
        nn.init.uniform_(self.entity.weight, -self.emb_range, self.emb_range)
        nn.init.uniform_(self.relation.weight, -self.emb_range, self.emb_range)

    def rotate(self, h, r, t):
        (h_re, h_im), (t_re, t_im) = h.chunk(2, -1), t.chunk(2, -1)
        phase = r / (self.emb_range / math.pi)
        cos, sin = torch.cos(phase), torch.sin(phase)
        re = h_re * cos - h_im * sin - t_re
        im = h_re * sin + h_im * cos - t_im
        return self.gamma - torch.stack([re, im]).norm(dim=0).sum(-1)

    def complex(self, h, r, t):
        (h_re, h_im), (r_re, r_im), (t_re, t_im) = h.chunk(2, -1), r.chunk(2, -1), t.chunk(2, -1)
        return ((h_re * r_re - h_im * r_im) * t_re + (h_re * r_im + h_im * r_re) * t_im).sum(-1)

    def forward(self, head, rel, tail):
        return getattr(self, self.name)(self.entity(head), self.relation(rel), self.entity(tail))


def toy_graph(n_entity, n_relation, n_triples, seed=0):
    # relations are shifts on a ring, so that there is something to learn
    g = torch.Generator().manual_seed(seed)
    h = torch.randint(n_entity, (n_triples,), generator=g)
    r = torch.randint(n_relation, (n_triples,), generator=g)
    t = (h + 3 * r + torch.randint(2, (n_triples,), generator=g)) % n_entity
    return torch.unique(torch.stack([h, r, t], 1), dim=0)[torch.randperm(n_triples // 2, generator=g)]


def adversarial_loss(pos, neg, temperature):
    weights = F.softmax(neg * temperature, dim=1).detach()
    return -(F.logsigmoid(pos).mean() + (weights * F.logsigmoid(-neg)).sum(1).mean()) / 2


def train_one_epoch(model, loader, optimizer, device, epoch, args):
    model.train()
    logger = MetricLogger(args.print_freq)
    for i, (triple,) in enumerate(logger.log_every(loader, f"epoch {epoch}")):
        triple = triple.to(device, non_blocking=True)
        h, r, t = triple.unbind(1)
        negatives = torch.randint(args.n_entity, (h.size(0), args.n_neg), device=device)
        pos = model(h, r, t)
        if i % 2 == 0:  # corrupt heads and tails in turn
            neg = model(h[:, None], r[:, None], negatives)
        else:
            neg = model(negatives, r[:, None], t[:, None])
        loss = adversarial_loss(pos, neg, args.temperature)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        logger.update(n=h.size(0), loss=loss, margin=(pos[:, None] - neg).mean())
    return logger.meters["loss"].avg


@torch.no_grad()
def evaluate(model, triples, known, device, args):
    model.eval()
    all_entities = torch.arange(args.n_entity, device=device)
    ranks = []
    for h, r, t in triples.tolist():
        scores = model(torch.tensor([h], device=device), torch.tensor([r], device=device), all_entities)
        target = scores[t].clone()
        scores[known[h, r]] = -float("inf")  # the filtered setting
        ranks.append((scores > target).sum().item() + 1)
    ranks = torch.tensor(ranks, dtype=torch.float)
    return {"mrr": (1 / ranks).mean().item(), "hits@10": (ranks <= 10).float().mean().item()}


def main():
    p = argparse.ArgumentParser()
    for name, default in {
        "n_entity": 60,
        "n_relation": 5,
        "n_neg": 16,
        "dim": 16,
        "epochs": 2,
        "print_freq": 3,
    }.items():
        p.add_argument(f"--{name}", type=int, default=default)
    p.add_argument("--model", default="rotate", choices=["rotate", "complex"])
    p.add_argument("--gamma", type=float, default=6.0)
    p.add_argument("--temperature", type=float, default=1.0)
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    triples = toy_graph(args.n_entity, args.n_relation, 500)
    train, test = triples[:-8], triples[-8:]
    known = defaultdict(list)
    for h, r, t in triples.tolist():
        known[h, r].append(t)
    loader = DataLoader(TensorDataset(train), batch_size=32, shuffle=True, pin_memory=True)
    model = KGEModel(args.model, args.n_entity, args.n_relation, args.dim, args.gamma).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(args.epochs):
        loss = train_one_epoch(model, loader, optimizer, device, epoch, args)
        log.info("epoch %d loss %.4f %s", epoch, loss, evaluate(model, test, known, device, args))


if __name__ == "__main__":
    main()

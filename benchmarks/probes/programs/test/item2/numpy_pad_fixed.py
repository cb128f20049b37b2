from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
import torch_xla


@dataclass
class Config:
    vocab: int = 5000
    seq_len: int = 64
    batch: int = 32
    pad: int = 0


def encode_batch(sentences, cfg):
    ids = np.full((cfg.batch, cfg.seq_len), cfg.pad, dtype=np.int64)  # silent
    for r, s in enumerate(sentences):
        s = s[: cfg.seq_len]
        ids[r, : len(s)] = s  # silent
    return torch.from_numpy(ids)  # silent


class BagOfWords(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.emb = nn.Embedding(cfg.vocab, 128)
        self.out = nn.Linear(128, cfg.vocab)
        self.pad = cfg.pad

    def forward(self, ids):
        keep = (ids != self.pad).unsqueeze(-1).float()
        bag = (self.emb(ids) * keep).sum(1) / keep.sum(1).clamp(min=1)
        return self.out(bag)


def main():
    cfg = Config()
    rng = np.random.default_rng(1)
    corpus = [rng.integers(1, cfg.vocab, size=rng.integers(3, 120)) for _ in range(3200)]
    device = torch_xla.device()
    net = BagOfWords(cfg).to(device)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(5):
        rng.shuffle(order := np.arange(len(corpus)))
        for k in range(len(corpus) // cfg.batch):
            chunk = [corpus[j] for j in order[k * cfg.batch : (k + 1) * cfg.batch]]  # silent
            ids = encode_batch(chunk, cfg).to(device)  # silent
            logp = net(ids).log_softmax(-1)
            loss = -logp.gather(1, ids).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()


if __name__ == "__main__":
    main()

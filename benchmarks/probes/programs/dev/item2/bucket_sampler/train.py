import random

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
from torch.utils.data import DataLoader

from buckets import BucketBatchSampler, pad_to_bucket


class LM(nn.Module):
    def __init__(self, vocab=1000, d=128):
        super().__init__()
        self.emb = nn.Embedding(vocab, d, padding_idx=0)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.out = nn.Linear(d, vocab)

    def forward(self, x):
        return self.out(self.rnn(self.emb(x))[0])


def main():
    texts = [[random.randrange(1, 1000) for _ in range(random.randint(10, 250))] for _ in range(8000)]
    device = torch_xla.device()
    sampler = BucketBatchSampler([len(t) for t in texts], 32)
    loader = DataLoader(texts, batch_sampler=sampler, collate_fn=pad_to_bucket)  # silent
    lm = LM().to(device)
    opt = torch.optim.Adam(lm.parameters(), 3e-4)
    for epoch in range(5):
        for ids in loader:
            ids = ids.to(device)  # silent
            loss = F.cross_entropy(lm(ids[:, :-1]).transpose(1, 2), ids[:, 1:], ignore_index=0)
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()


if __name__ == "__main__":
    main()

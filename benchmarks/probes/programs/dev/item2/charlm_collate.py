import random

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
from torch.utils.data import DataLoader, Dataset


class Names(Dataset):
    def __init__(self, n=5000):
        self.items = [[random.randint(3, 28) for _ in range(random.randint(3, 40))] for _ in range(n)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return torch.tensor([1] + self.items[i] + [2])


def collate_names(samples):
    longest = max(len(s) for s in samples)  # expect@a: XLA904
    out = samples[0].new_zeros((len(samples), longest))  # expect@a: XLA904
    for row, s in zip(out, samples):
        row[: len(s)] = s
    return out


class NameLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(32, 64, padding_idx=0)
        self.gru = nn.GRU(64, 128, batch_first=True)
        self.out = nn.Linear(128, 32)

    def forward(self, x):
        return self.out(self.gru(self.emb(x))[0])


def main():
    device = torch_xla.device()
    loader = DataLoader(Names(), batch_size=64, shuffle=True, drop_last=True, collate_fn=collate_names)  # expect@a: XLA904
    lm = NameLM().to(device)
    opt = torch.optim.Adam(lm.parameters(), lr=1e-3)
    for epoch in range(5):
        for batch in loader:
            batch = batch.to(device)  # expect@a: XLA904
            logits = lm(batch[:, :-1])
            loss = F.cross_entropy(logits.transpose(1, 2), batch[:, 1:], ignore_index=0)
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()


if __name__ == "__main__":
    main()

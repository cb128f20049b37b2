import random

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
from torch.utils.data import DataLoader, Dataset


class Events(Dataset):
    def __init__(self, n=2000):
        self.rows = [[random.randrange(1, 500) for _ in range(random.randint(5, 200))] for _ in range(n)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return torch.tensor(self.rows[i]), torch.tensor(len(self.rows[i]) % 2)


class FixedWidth:
    def __init__(self, width):
        self.width = width

    def __call__(self, batch):
        seqs, labels = zip(*batch)
        x = torch.zeros(len(seqs), self.width, dtype=torch.long)  # silent
        for i, s in enumerate(seqs):
            n = min(len(s), self.width)
            x[i, :n] = s[:n]  # silent
        return x, torch.stack(labels)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(500, 64, mode="mean", padding_idx=0)
        self.fc = nn.Linear(64, 2)

    def forward(self, x):
        return self.fc(self.emb(x))


def main():
    device = torch_xla.device()
    loader = DataLoader(Events(), batch_size=64, shuffle=True, drop_last=True, collate_fn=FixedWidth(256))  # silent
    net = Net().to(device)
    opt = torch.optim.Adam(net.parameters())
    for _ in range(4):
        for x, y in loader:
            loss = F.cross_entropy(net(x.to(device)), y.to(device))
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()


if __name__ == "__main__":
    main()

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
from torch.utils.data import DataLoader, TensorDataset, random_split


class Probe(nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.fc = nn.Linear(d, k)

    def forward(self, h):
        return self.fc(h)


def make_loaders(h, y, seed):
    rng = torch.Generator().manual_seed(seed)  # silent
    full = TensorDataset(h, y)
    n_val = len(full) // 10
    train, val = random_split(full, [len(full) - n_val, n_val], generator=rng)  # silent
    shuffler = torch.Generator(device="cpu")  # silent
    shuffler.manual_seed(seed + 1)
    tl = DataLoader(train, batch_size=256, shuffle=True, drop_last=True, generator=shuffler)  # silent
    return tl, DataLoader(val, batch_size=256)


def main():
    saved = torch.load("features.pt", map_location="cpu")  # silent
    device = torch_xla.device()
    train, _ = make_loaders(saved["h"], saved["y"], seed=17)
    probe = Probe(saved["h"].shape[1], 100).to(device)
    opt = torch.optim.SGD(probe.parameters(), lr=0.5)
    for epoch in range(50):
        for h, y in train:
            loss = F.cross_entropy(probe(h.to(device)), y.to(device))
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()


if __name__ == "__main__":
    main()

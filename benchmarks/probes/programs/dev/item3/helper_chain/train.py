import torch
import torch.nn as nn

from utils import get_device, seed_all


class Scorer(nn.Module):
    def __init__(self, n_users=1000, n_items=500, k=32):
        super().__init__()
        self.u = nn.Embedding(n_users, k)
        self.i = nn.Embedding(n_items, k)

    def forward(self, u, i):
        return (self.u(u) * self.i(i)).sum(-1)


def train():
    seed_all(3)
    device = get_device()  # expect@a: XLA003
    model = Scorer().to(device)
    opt = torch.optim.Adam(model.parameters(), 1e-2)
    lossf = nn.BCEWithLogitsLoss()
    for step in range(3000):
        u = torch.randint(0, 1000, (512,)).to(device)
        i = torch.randint(0, 500, (512,)).to(device)
        y = ((u + i) % 2).float()
        loss = lossf(model(u, i), y)
        opt.zero_grad()
        loss.backward()
        opt.step()


if __name__ == "__main__":
    train()

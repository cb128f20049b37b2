import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset


class Tab(nn.Module):
    def __init__(self, d=30):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, 128), nn.ReLU(), nn.Linear(128, 2))

    def forward(self, x):
        return self.net(x)


def main():
    acc = Accelerator()
    device = acc.device  # silent
    data = TensorDataset(torch.randn(4096, 30), torch.randint(0, 2, (4096,)))
    loader = DataLoader(data, batch_size=128, shuffle=True, drop_last=True)
    model = Tab()  # silent: XLA017
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model, opt, loader = acc.prepare(model, opt, loader)  # silent: XLA017|XLA003
    weights = torch.tensor([0.3, 0.7], device=device)  # silent: XLA003|XLA001
    for epoch in range(5):
        for x, y in loader:
            loss = F.cross_entropy(model(x), y, weight=weights)
            acc.backward(loss)
            opt.step()
            opt.zero_grad()


if __name__ == "__main__":
    main()

import time

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
from torch.utils.data import DataLoader, TensorDataset


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = nn.Sequential(nn.Linear(512, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 64))

    def forward(self, a, b):
        return F.cosine_similarity(self.tower(a), self.tower(b))


def main():
    device = torch_xla.device()
    pairs = TensorDataset(torch.randn(20000, 512), torch.randn(20000, 512), torch.randint(0, 2, (20000,)).float())
    loader = DataLoader(pairs, batch_size=100, shuffle=True, drop_last=True)
    model = Siamese().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    began = time.time()
    for epoch in range(20):
        for step, (a, b, same) in enumerate(loader):  # expect@a: XLA401
            score = model(a.to(device), b.to(device))
            loss = F.binary_cross_entropy_with_logits(5 * score, same.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()  # expect@a: XLA401
            if step % 100 == 0:  # expect@a: XLA401
                print(f"{epoch}:{step} loss {loss.item():.3f} after {time.time() - began:.0f}s")


if __name__ == "__main__":
    main()

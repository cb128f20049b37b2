import torch
import torch.nn as nn

from engine import Engine


class Unmix(nn.Module):
    def __init__(self, bins=513):
        super().__init__()
        self.enc = nn.Linear(bins, 256)
        self.gru = nn.GRU(256, 256, batch_first=True)
        self.dec = nn.Linear(256, bins)

    def forward(self, spec):
        h, _ = self.gru(torch.tanh(self.enc(spec)))
        return spec * torch.sigmoid(self.dec(h))


def main():
    engine = Engine(Unmix(), nn.MSELoss(), lr=1e-3)
    for epoch in range(10):
        running = torch.zeros((), device=engine.device)
        for _ in range(100):  # silent: XLA401|XLA402
            mix = torch.rand(16, 255, 513)
            running += engine.train_batch(mix, mix * 0.5)  # silent: XLA401|XLA402
        print(f"epoch {epoch} loss {running.item() / 100:.5f}")


if __name__ == "__main__":
    main()

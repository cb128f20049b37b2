import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset


class Ranker(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(d, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.score(x).squeeze(-1)


def main():
    accelerator = Accelerator(gradient_accumulation_steps=2)
    data = TensorDataset(torch.randn(8000, 64), torch.randn(8000, 64))
    loader = DataLoader(data, batch_size=80, shuffle=True, drop_last=True)
    net = Ranker()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 100)
    net, optimizer, loader, scheduler = accelerator.prepare(net, optimizer, loader, scheduler)
    for epoch in range(4):
        for better, worse in loader:  # silent: XLA401|XLA402
            with accelerator.accumulate(net):
                loss = -F.logsigmoid(net(better) - net(worse)).mean()
                accelerator.backward(loss)
                optimizer.step()  # silent: XLA401|XLA402
                scheduler.step()
                optimizer.zero_grad()
        accelerator.print("epoch", epoch)


if __name__ == "__main__":
    main()

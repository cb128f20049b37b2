import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(100, 100)
        self.fc2 = nn.Linear(100, 5)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def main():
    accelerator = Accelerator()
    ds = TensorDataset(torch.randn(6400, 100), torch.randint(0, 5, (6400,)))
    train = DataLoader(ds, batch_size=64, shuffle=True, drop_last=True)
    val = DataLoader(ds, batch_size=64, drop_last=True)
    net = Net()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    net, opt, train, val = accelerator.prepare(net, opt, train, val)
    for epoch in range(3):
        net.train()
        for x, y in train:
            loss = F.cross_entropy(net(x), y)
            accelerator.backward(loss)
            opt.step()
            opt.zero_grad()
        net.eval()
        if accelerator.is_local_main_process:
            hits, total = 0, 0
            for x, y in val:
                with torch.no_grad():
                    pred = net(x).argmax(-1)  # expect@a: XLA710
                pred, y = accelerator.gather_for_metrics((pred, y))  # expect@a: XLA710
                hits += (pred == y).sum().item()  # expect@a: XLA710
                total += y.numel()
            print(epoch, hits / total)


if __name__ == "__main__":
    main()

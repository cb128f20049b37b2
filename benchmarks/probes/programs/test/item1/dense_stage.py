import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla


class DenseStage(nn.Module):
    def __init__(self, c_in, growth, n):
        super().__init__()
        self.convs = nn.ModuleList()
        c = c_in
        for _ in range(n):
            self.convs.append(nn.Sequential(nn.BatchNorm2d(c), nn.ReLU(), nn.Conv2d(c, growth, 3, padding=1)))
            c += growth
        self.c_out = c

    def forward(self, x):
        for conv in self.convs:
            new = conv(x)
            x = torch.cat([x, new], dim=1)  # silent
        return x


class Net(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, padding=1)
        self.stage = DenseStage(16, 12, 6)
        self.fc = nn.Linear(self.stage.c_out, classes)

    def forward(self, x):
        x = self.stage(self.stem(x))
        return self.fc(x.mean((2, 3)))


def train(epochs=3):
    device = torch_xla.device()
    net = Net().to(device)
    optim = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for _ in range(epochs):
        for _ in range(100):
            x, y = torch.randn(64, 3, 32, 32), torch.randint(0, 10, (64,))
            loss = F.cross_entropy(net(x.to(device)), y.to(device))
            optim.zero_grad()
            loss.backward()
            optim.step()
            torch_xla.sync()


train()

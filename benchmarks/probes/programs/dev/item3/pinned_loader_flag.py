import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(), nn.MaxPool2d(2))
        self.c = nn.Sequential(nn.Flatten(), nn.Linear(400, 84), nn.Tanh(), nn.Linear(84, 10))

    def forward(self, x):
        return self.c(self.f(x))


def main():
    device = torch_xla.device()
    ds = datasets.FashionMNIST("data", download=True, transform=transforms.ToTensor())
    loader = DataLoader(ds, 128, shuffle=True, drop_last=True, num_workers=2, pin_memory=torch.cuda.is_available())  # silent
    net = LeNet().to(device)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler(enabled=device.type == "cuda")  # silent
    for epoch in range(5):
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(opt)
            scaler.update()
            torch_xla.sync()


if __name__ == "__main__":
    main()

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla.core.xla_model as xm
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 10, 5)
        self.bn1 = nn.BatchNorm2d(10)
        self.c2 = nn.Conv2d(10, 20, 5)
        self.bn2 = nn.BatchNorm2d(20)
        self.fc = nn.Linear(320, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.bn1(self.c1(x)), 2))
        x = F.relu(F.max_pool2d(self.bn2(self.c2(x)), 2))
        return F.log_softmax(self.fc(torch.flatten(x, 1)), dim=1)


def train_mnist(lr=0.01, epochs=4):
    train_set = datasets.MNIST("/tmp/mnist", train=True, download=True, transform=transforms.ToTensor())
    loader = DataLoader(train_set, batch_size=128, shuffle=True, drop_last=True)
    device = xm.xla_device()
    model = ConvNet().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.5)
    for epoch in range(1, epochs + 1):
        model.train()
        for data, target in loader:  # expect@a: XLA401
            data, target = data.to(device), target.to(device)
            optimizer.zero_grad()
            loss = F.nll_loss(model(data), target)
            loss.backward()
            xm.optimizer_step(optimizer)  # expect@a: XLA401
        print("finished epoch", epoch)


if __name__ == "__main__":
    train_mnist()

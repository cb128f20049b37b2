import torch
import torch.nn as nn
import torch.nn.functional as F


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(784, 300)
        self.l2 = nn.Linear(300, 10)

    def forward(self, x):
        return self.l2(torch.relu(self.l1(x.flatten(1))))


def main():
    if not torch.cuda.is_available():  # expect@a: XLA003|XLA001
        dev = torch.device("cpu")  # expect@a: XLA003
    else:
        dev = torch.device("cuda")  # expect@a: XLA003|XLA001
    net = Mlp().to(dev)
    sgd = torch.optim.SGD(net.parameters(), lr=0.1)
    for i in range(2000):
        x = torch.rand(128, 1, 28, 28).to(dev)
        y = torch.randint(0, 10, (128,)).to(dev)
        loss = F.cross_entropy(net(x), y)
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        if i % 200 == 0:
            print(f"{i:5d} {loss.item():.4f}")


if __name__ == "__main__":
    main()

import torch
import torch.nn as nn
import torch_xla


class NeuralField(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))

    def forward(self, p):
        return self.net(p).squeeze(-1)


def main():
    device = torch_xla.device()
    field = NeuralField().to(device)
    optimizer = torch.optim.Adam(field.parameters(), lr=5e-4)

    def train_step(points, sdf):
        optimizer.zero_grad()
        loss = (field(points) - sdf).abs().mean()
        loss.backward()
        optimizer.step()  # silent
        return loss

    compiled = torch_xla.compile(train_step)
    for it in range(10000):  # silent: XLA401|XLA402
        pts = torch.rand(4096, 3) * 2 - 1
        sdf = pts.norm(dim=-1) - 0.5
        loss = compiled(pts.to(device), sdf.to(device))  # silent: XLA401|XLA402
        if (it + 1) % 1000 == 0:
            print(it + 1, loss.item())


if __name__ == "__main__":
    main()

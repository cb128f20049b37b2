import torch
import torch.nn as nn
import torch_xla


class ImplicitImage(nn.Module):
    def __init__(self, width=256, layers=3):
        super().__init__()
        self.register_buffer("B", torch.randn(2, 64) * 10)
        mods = [nn.Linear(128, width), nn.ReLU()]
        for _ in range(layers):
            mods += [nn.Linear(width, width), nn.ReLU()]
        self.net = nn.Sequential(*mods, nn.Linear(width, 3), nn.Sigmoid())

    def forward(self, xy):
        z = xy @ self.B
        return self.net(torch.cat([z.sin(), z.cos()], -1))


def main():
    dev = torch_xla.device()
    img = torch.load("image.pt", map_location="cpu").to(dev)
    h, w, _ = img.shape
    grid = torch.stack(torch.meshgrid(torch.linspace(0, 1, h), torch.linspace(0, 1, w), indexing="ij"), -1).to(dev)
    net = ImplicitImage().to(dev)
    opt = torch.optim.Adam(net.parameters(), lr=1e-4)
    history = []
    for i in range(2000):  # expect@a: XLA401
        loss = ((net(grid) - img) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()  # expect@a: XLA401
        history.append(loss.item())  # expect@a: XLA401
    print(history[-1])


if __name__ == "__main__":
    main()

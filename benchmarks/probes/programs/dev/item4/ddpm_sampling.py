import torch
import torch.nn as nn
import torch_xla


class EpsNet(nn.Module):
    def __init__(self, ch=64, T=1000):
        super().__init__()
        self.temb = nn.Embedding(T, ch)
        self.inp = nn.Conv2d(3, ch, 3, padding=1)
        self.mid = nn.Sequential(nn.GroupNorm(8, ch), nn.SiLU(), nn.Conv2d(ch, ch, 3, padding=1), nn.SiLU())
        self.out = nn.Conv2d(ch, 3, 3, padding=1)

    def forward(self, x, t):
        return self.out(self.mid(self.inp(x) + self.temb(t)[:, :, None, None]))


class Diffusion:
    def __init__(self, T=1000, device="cpu"):
        self.T = T
        beta = torch.linspace(1e-4, 0.02, T)
        self.alpha = (1 - beta).tolist()
        self.abar = torch.cumprod(1 - beta, 0).tolist()
        self.device = device

    @torch.no_grad()
    def sample(self, net, n):
        x = torch.randn(n, 3, 32, 32, device=self.device)
        for i in reversed(range(self.T)):  # expect@a: XLA402
            t = torch.full((n,), i, device=self.device)
            eps = net(x, t)  # expect@a: XLA402
            x = (x - (1 - self.alpha[i]) / (1 - self.abar[i]) ** 0.5 * eps) / self.alpha[i] ** 0.5  # expect@a: XLA402
            if i > 0:
                x = x + (1 - self.alpha[i]) ** 0.5 * torch.randn_like(x)  # expect@a: XLA402
        return x.clamp(-1, 1)


def main():
    device = torch_xla.device()
    net = EpsNet()
    net.load_state_dict(torch.load("eps.pt", map_location="cpu"))
    net = net.to(device).eval()
    torch.save(Diffusion(device=device).sample(net, 16).cpu(), "samples.pt")


if __name__ == "__main__":
    main()

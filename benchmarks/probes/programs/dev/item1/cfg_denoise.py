import torch
import torch.nn as nn
import torch_xla


class Denoiser(nn.Module):
    def __init__(self, tokens=64, dim=128, classes=10):
        super().__init__()
        self.cls = nn.Embedding(classes + 1, dim)
        self.time = nn.Linear(1, dim)
        self.register_tokens = nn.Parameter(torch.zeros(1, 4, dim))
        self.tr = nn.TransformerEncoderLayer(dim, 4, batch_first=True)

    def forward(self, x, t, y):
        cond = (self.cls(y) + self.time(t))[:, None]
        regs = self.register_tokens.expand(x.size(0), -1, -1)
        h = torch.cat([cond, regs, x], dim=1)  # silent
        return self.tr(h)[:, 5:]


@torch.no_grad()
def sample(net, n, steps, scale, device):
    x = torch.randn(n, 64, 128, device=device)
    y = torch.arange(n, device=device) % 10
    null = torch.full_like(y, 10)
    labels = torch.cat([y, null])
    times = torch.linspace(1, 0, steps, device=device)
    for t in times:
        xx = torch.cat([x, x], dim=0)  # silent
        pred = net(xx, t.expand(2 * n, 1), labels)
        cond, uncond = pred.chunk(2)
        x = x - (uncond + scale * (cond - uncond)) / steps
        torch_xla.sync()
    return x


if __name__ == "__main__":
    dev = torch_xla.device()
    model = Denoiser().to(dev).eval()
    for i in range(10):
        print(sample(model, 16, 50, 3.0, dev).cpu().std())

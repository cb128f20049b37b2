import argparse

import torch
import torch.nn as nn
import torch_xla


class LatentUNet(nn.Module):
    def __init__(self, c=4, w=64):
        super().__init__()
        self.a = nn.Conv2d(c, w, 3, padding=1)
        self.t = nn.Linear(1, w)
        self.b = nn.Conv2d(w, c, 3, padding=1)

    def forward(self, x, t):
        return self.b(torch.relu(self.a(x) + self.t(t)[:, :, None, None]))


class Pipeline:
    def __init__(self, unet, device):
        self.unet = unet.to(device).eval()
        self.device = device

    @torch.no_grad()
    def __call__(self, n, seed, steps=30):
        gen = torch.Generator(device=self.device).manual_seed(seed)  # expect@a: XLA513|XLA008
        x = torch.randn(n, 4, 32, 32, generator=gen, device=self.device)  # expect@a: XLA513
        for t in torch.linspace(1, 0, steps, device=self.device):
            eps = self.unet(x, t.view(1, 1).expand(n, 1))
            x = x - eps / steps
            torch_xla.sync()
        return x.cpu()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, default=0)
    a = ap.parse_args()
    pipe = Pipeline(LatentUNet(), torch_xla.device())
    for k in range(8):
        torch.save(pipe(4, a.seed + k), f"latents_{k}.pt")

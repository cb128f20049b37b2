import torch
import torch.nn.functional as F
import torch_xla
from torch import nn


class VAE(nn.Module):
    def __init__(self, z=20):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(784, 400), nn.ReLU())
        self.mu, self.logvar = nn.Linear(400, z), nn.Linear(400, z)
        self.dec = nn.Sequential(nn.Linear(z, 400), nn.ReLU(), nn.Linear(400, 784))

    def forward(self, x):
        h = self.enc(x)
        mu, lv = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * lv).exp()
        return self.dec(z), mu, lv


def elbo(recon, x, mu, lv):
    bce = F.binary_cross_entropy_with_logits(recon, x, reduction="sum")
    return bce - 0.5 * (1 + lv - mu.pow(2) - lv.exp()).sum()


def main():
    device = torch_xla.device()
    vae = VAE().to(device)
    adam = torch.optim.Adam(vae.parameters(), 1e-3)
    for epoch in range(10):
        epoch_losses = []
        for _ in range(200):
            x = torch.rand(128, 784).to(device)
            recon, mu, lv = vae(x)
            loss = elbo(recon, x, mu, lv)
            adam.zero_grad(set_to_none=True)
            loss.backward()
            adam.step()
            epoch_losses.append(loss.detach())  # silent
            torch_xla.sync()
        mean = torch.stack(epoch_losses).mean()  # silent
        print(f"epoch {epoch}: {mean.item():.2f}")


if __name__ == "__main__":
    main()

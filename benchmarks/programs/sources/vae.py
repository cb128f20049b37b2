"""A variational autoencoder with KL annealing; losses stay on the device until the end of an epoch."""

from __future__ import annotations

import argparse

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class VAE(nn.Module):
    def __init__(self, pixels: int, hidden: int = 32, latent: int = 4) -> None:
        super().__init__()
        self.pixels, self.latent = pixels, latent
        self.encoder = nn.Sequential(nn.Linear(pixels, hidden), nn.ReLU())
        self.mu = nn.Linear(hidden, latent)
        self.logvar = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, pixels))

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = self.encoder(x)
        return self.mu(h), self.logvar(h)

    def reparameterize(self, mu: Tensor, logvar: Tensor) -> Tensor:
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        mu, logvar = self.encode(x.view(-1, self.pixels))
        return self.decoder(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon: Tensor, x: Tensor, mu: Tensor, logvar: Tensor) -> tuple[Tensor, Tensor]:
    bce = F.binary_cross_entropy_with_logits(recon, x.view_as(recon), reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce, kld


def synthetic_bars(count: int, size: int = 8, seed: int = 0) -> TensorDataset:
    """Images of a few horizontal and vertical bars."""
    generator = torch.Generator().manual_seed(seed)
    rows = (torch.rand(count, size, 1, generator=generator) < 0.25).float()
    columns = (torch.rand(count, 1, size, generator=generator) < 0.25).float()
    return TensorDataset(torch.maximum(rows, columns).unsqueeze(1))


def train_epoch(model: VAE, loader: DataLoader, optimizer, beta: Tensor, device: torch.device) -> Tensor:
    model.train()
    running = torch.zeros(2, device=device)
    for (data,) in loader:
        data = data.to(device, non_blocking=True)
        recon, mu, logvar = model(data)
        bce, kld = loss_function(recon, data, mu, logvar)
        loss = (bce + beta * kld) / data.size(0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += torch.stack((bce, kld)).detach()
    return running / len(loader.dataset)


@torch.no_grad()
def sample(model: VAE, count: int, device: torch.device) -> Tensor:
    model.eval()
    z = torch.randn(count, model.latent, device=device)
    return torch.sigmoid(model.decoder(z)).cpu()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--anneal-epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    cuda = torch.cuda.is_available()
    device = torch.device("cuda" if cuda else "cpu")
    dataset = synthetic_bars(96)
    loader = DataLoader(dataset, args.batch_size, shuffle=True, drop_last=True, pin_memory=cuda)
    model = VAE(pixels=64).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    for epoch in range(1, args.epochs + 1):
        beta = torch.tensor(min(1.0, epoch / args.anneal_epochs), device=device)
        bce, kld = train_epoch(model, loader, optimizer, beta, device).tolist()
        print(f"====> Epoch: {epoch} Reconstruction: {bce:.4f} KL: {kld:.4f}")

    images = sample(model, 4, device)
    print(f"samples: mean {images.mean():.3f}, shape {tuple(images.shape)}")


if __name__ == "__main__":
    main()

"""A DCGAN on synthetic blobs."""

from __future__ import annotations

import argparse
import random
import tempfile
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset

REAL_LABEL = 1.0
FAKE_LABEL = 0.0


def weights_init(m: nn.Module) -> None:
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


class Generator(nn.Module):
    def __init__(self, nz: int, ngf: int) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, z: Tensor) -> Tensor:
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self, ndf: int) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, ndf, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ndf * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 2, 1, 4, 1, 0, bias=False),
            nn.Sigmoid(),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.main(x).view(-1, 1).squeeze(1)


def synthetic_blobs(count: int, size: int = 16, seed: int = 0) -> TensorDataset:
    """One Gaussian blob per image, somewhere, in [-1, 1]."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(4, size - 4, (count, 2))
    y, x = np.mgrid[:size, :size]
    squared = (y - centres[:, :1, None]) ** 2 + (x - centres[:, 1:, None]) ** 2
    images = 2 * np.exp(-squared / 8) - 1
    return TensorDataset(torch.from_numpy(images[:, None].astype(np.float32)))


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--nz", type=int, default=16)
    parser.add_argument("--ngf", type=int, default=4)
    parser.add_argument("--ndf", type=int, default=4)
    parser.add_argument("--lr", type=float, default=2e-4)
    parser.add_argument("--beta1", type=float, default=0.5)
    parser.add_argument("--manual-seed", type=int, default=999)
    return parser.parse_args()


def main() -> None:
    opt = parse_args()
    random.seed(opt.manual_seed)
    torch.manual_seed(opt.manual_seed)
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    dataloader = DataLoader(synthetic_blobs(80), batch_size=opt.batch_size, shuffle=True)

    netG = Generator(opt.nz, opt.ngf).to(device)
    netG.apply(weights_init)
    netD = Discriminator(opt.ndf).to(device)
    netD.apply(weights_init)

    criterion = nn.BCELoss()
    fixed_noise = torch.randn(4, opt.nz, 1, 1, device=device)
    optimizerD = optim.Adam(netD.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))
    optimizerG = optim.Adam(netG.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))

    samples = []
    for epoch in range(opt.epochs):
        for i, (images,) in enumerate(dataloader):
            # (1) Update D network: maximize log(D(x)) + log(1 - D(G(z)))
            netD.zero_grad()
            real = images.to(device)
            b_size = real.size(0)
            label = torch.full((b_size,), REAL_LABEL, dtype=torch.float, device=device)
            output = netD(real)
            errD_real = criterion(output, label)
            errD_real.backward()
            D_x = output.mean().item()

            noise = torch.randn(b_size, opt.nz, 1, 1, device=device)
            fake = netG(noise)
            label.fill_(FAKE_LABEL)
            output = netD(fake.detach())
            errD_fake = criterion(output, label)
            errD_fake.backward()
            D_G_z1 = output.mean().item()
            errD = errD_real + errD_fake
            optimizerD.step()

            # (2) Update G network: maximize log(D(G(z)))
            netG.zero_grad()
            label.fill_(REAL_LABEL)
            output = netD(fake)
            errG = criterion(output, label)
            errG.backward()
            D_G_z2 = output.mean().item()
            optimizerG.step()

            if i % 2 == 0:
                print(
                    f"[{epoch}/{opt.epochs}][{i}/{len(dataloader)}] Loss_D: {errD.item():.4f} "
                    f"Loss_G: {errG.item():.4f} D(x): {D_x:.4f} D(G(z)): {D_G_z1:.4f} / {D_G_z2:.4f}"
                )

        with torch.no_grad():
            samples.append(netG(fixed_noise).detach().cpu().numpy())

    out = Path(tempfile.mkdtemp())
    np.save(out / "samples.npy", np.stack(samples))
    torch.save(netG.state_dict(), out / "netG.pth")
    torch.save(netD.state_dict(), out / "netD.pth")


if __name__ == "__main__":
    main()

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla

nz = 100


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0.0, 0.02)


netG = nn.Sequential(nn.Linear(nz, 256), nn.ReLU(), nn.Linear(256, 784), nn.Tanh())
netD = nn.Sequential(nn.Linear(784, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1))
netG.apply(weights_init)
netD.apply(weights_init)


def main():
    device = torch_xla.device()
    netG.to(device)
    netD.to(device)
    optD = torch.optim.Adam(netD.parameters(), lr=2e-4, betas=(0.5, 0.999))
    optG = torch.optim.Adam(netG.parameters(), lr=2e-4, betas=(0.5, 0.999))
    for it in range(20000):  # expect@a: XLA401
        real = torch.rand(64, 784).to(device) * 2 - 1
        fake = netG(torch.randn(64, nz, device=device))
        d_real, d_fake = netD(real), netD(fake.detach())
        lossD = F.softplus(-d_real).mean() + F.softplus(d_fake).mean()
        optD.zero_grad()
        lossD.backward()
        optD.step()  # expect@a: XLA401

        lossG = F.softplus(-netD(fake)).mean()
        optG.zero_grad()
        lossG.backward()
        optG.step()  # expect@a: XLA401


if __name__ == "__main__":
    main()

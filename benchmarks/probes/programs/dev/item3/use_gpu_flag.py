import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--no-gpu", action="store_true")
parser.add_argument("--steps", type=int, default=10000)
opt = parser.parse_args()

use_gpu = torch.cuda.is_available() and not opt.no_gpu  # expect@a: XLA003


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 256), nn.LeakyReLU(0.2), nn.Linear(256, 784), nn.Tanh())

    def forward(self, z):
        return self.net(z)


def to_gpu(x):
    return x.cuda() if use_gpu else x  # expect@a: XLA003|XLA002


G = Generator()
if use_gpu:  # expect@a: XLA003
    G = G.cuda()  # expect@a: XLA003|XLA002

target = to_gpu(torch.rand(1, 784))
optimizer = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
for step in range(opt.steps):
    z = to_gpu(torch.randn(64, 64))
    loss = F.mse_loss(G(z), target.expand(64, -1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

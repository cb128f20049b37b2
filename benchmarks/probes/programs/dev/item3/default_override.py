import argparse

import numpy as np
import torch
from torch import nn, optim


class Autoencoder(nn.Module):
    def __init__(self, d, z):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(d, 128), nn.ReLU(), nn.Linear(128, z))
        self.dec = nn.Sequential(nn.Linear(z, 128), nn.ReLU(), nn.Linear(128, d))

    def forward(self, x):
        return self.dec(self.enc(x))


def run(args):
    device = torch.device("cpu")  # expect@a: XLA003
    if torch.cuda.is_available() and args.gpu >= 0:  # expect@a: XLA003|XLA001
        device = torch.device(f"cuda:{args.gpu}")  # expect@a: XLA003|XLA001|XLA712

    data = np.load(args.data).astype(np.float32)
    ae = Autoencoder(data.shape[1], args.latent).to(device)
    opt = optim.Adam(ae.parameters(), lr=1e-3)
    n = len(data) // args.bs
    for epoch in range(args.epochs):
        perm = np.random.permutation(len(data))
        for j in range(n):
            x = torch.from_numpy(data[perm[j * args.bs:(j + 1) * args.bs]]).to(device)
            loss = ((ae(x) - x) ** 2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--gpu", type=int, default=0)
    ap.add_argument("--latent", type=int, default=8)
    ap.add_argument("--bs", type=int, default=256)
    ap.add_argument("--epochs", type=int, default=20)
    run(ap.parse_args())

"""lucidrains/denoising-diffusion-pytorch (on PYTHONPATH) on random images, as a CUDA program."""

import argparse

import torch
from denoising_diffusion_pytorch import GaussianDiffusion, Unet

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=16)
args = parser.parse_args()
unet = Unet(dim=64, dim_mults=(1, 2, 4, 8))
model = GaussianDiffusion(unet, image_size=128, timesteps=1000).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=8e-5)
for _ in range(10):
    images = torch.rand(args.batch_size, 3, 128, 128).cuda()
    loss = model(images)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

"""The UNet of milesial/Pytorch-UNet (on PYTHONPATH) on random images, as a CUDA program."""

import argparse

import torch
from unet import UNet

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=4)
args = parser.parse_args()
model = UNet(n_channels=3, n_classes=2).cuda()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-5, momentum=0.999, foreach=True)
for _ in range(10):
    images = torch.randn(args.batch_size, 3, 512, 512).cuda()
    masks = torch.randint(0, 2, (args.batch_size, 512, 512)).cuda()
    with torch.autocast("cuda"):
        loss = torch.nn.functional.cross_entropy(model(images), masks)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()

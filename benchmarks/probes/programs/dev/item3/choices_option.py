import argparse

import torch
from torch import nn
from torchvision.models import resnet50


def get_args():
    parser = argparse.ArgumentParser("feature extraction")
    parser.add_argument("--images", required=True)
    parser.add_argument("--out", default="features.pt")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cuda")  # expect@a: XLA001|XLA003
    parser.add_argument("--batch", type=int, default=32)
    return parser.parse_args()


@torch.no_grad()
def extract(net, images, device, bs):
    chunks = []
    for b in range(len(images) // bs):
        x = images[b * bs : (b + 1) * bs].to(device)
        chunks.append(net(x).cpu())
    return torch.cat(chunks)


def main():
    args = get_args()
    device = torch.device(args.device)  # expect@a: XLA001|XLA003
    net = resnet50(weights="DEFAULT")
    net.fc = nn.Identity()
    net = net.eval().to(device)
    feats = extract(net, torch.load(args.images, map_location="cpu"), device, args.batch)
    torch.save(feats, args.out)


if __name__ == "__main__":
    main()

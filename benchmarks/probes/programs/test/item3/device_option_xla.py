import argparse

import torch
import torch.nn as nn
import torch_xla
from torchvision.models import mobilenet_v3_small


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--device", default="xla")  # silent
    p.add_argument("--iters", type=int, default=500)
    p.add_argument("--classes", type=int, default=20)
    return p.parse_args()


def main():
    o = options()
    device = torch.device(o.device)  # silent
    net = mobilenet_v3_small(num_classes=o.classes).to(device)
    crit = nn.CrossEntropyLoss(label_smoothing=0.1).to(device)
    opt = torch.optim.RMSprop(net.parameters(), lr=1e-3, momentum=0.9)
    for i in range(o.iters):
        img = torch.rand(32, 3, 224, 224).to(device)  # silent
        lab = torch.randint(o.classes, (32,)).to(device)  # silent
        loss = crit(net(img), lab)
        opt.zero_grad()
        loss.backward()
        opt.step()
        torch_xla.sync()


if __name__ == "__main__":
    main()

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
from torch.utils.data import DataLoader


def tour_instance(n):
    pts = torch.rand(n, 2)
    return pts, torch.argsort(pts[:, 0])


def pad_tours(instances):
    lens = [len(p) for p, _ in instances]
    k = max(lens)
    pts = instances[0][0].new(len(instances), k, 2).fill_(0)  # expect@a: XLA904
    order = instances[0][1].new(len(instances), k).fill_(-100)  # expect@a: XLA904
    for b, (p, o) in enumerate(instances):
        pts[b, : lens[b]] = p
        order[b, : lens[b]] = o
    return pts, order


class PointerNet(nn.Module):
    def __init__(self, h=128):
        super().__init__()
        self.enc = nn.Linear(2, h)
        self.mix = nn.TransformerEncoderLayer(h, 4, batch_first=True)
        self.q = nn.Linear(h, h)

    def forward(self, pts):
        e = self.mix(self.enc(pts))
        return self.q(e) @ e.transpose(1, 2)


def train():
    device = torch_xla.device()
    tours = [tour_instance(int(n)) for n in torch.randint(5, 50, (10000,))]
    loader = DataLoader(tours, 128, shuffle=True, drop_last=True, collate_fn=pad_tours)  # expect@a: XLA904
    net = PointerNet().to(device)
    opt = torch.optim.RMSprop(net.parameters(), 1e-4)
    for epoch in range(3):
        for pts, order in loader:
            pts, order = pts.to(device), order.to(device)  # expect@a: XLA904
            scores = net(pts)
            loss = F.cross_entropy(scores.transpose(1, 2), order, ignore_index=-100)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 2.0)
            opt.step()
            torch_xla.sync()


train()

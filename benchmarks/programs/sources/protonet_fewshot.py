# ruff: noqa: UP004, UP008, UP010, UP032
# Prototypical Networks for Few-shot Learning, on drawn characters that are generated on the fly.
from __future__ import division, print_function

import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Variable

parser = argparse.ArgumentParser(description="protonet")
parser.add_argument("--way", type=int, default=5)
parser.add_argument("--shot", type=int, default=3)
parser.add_argument("--query", type=int, default=4)
parser.add_argument("--episodes", type=int, default=9)
parser.add_argument("--test-episodes", type=int, default=3)
parser.add_argument("--lr", type=float, default=0.001)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--no-cuda", action="store_true", default=False)
args = parser.parse_args()
args.cuda = not args.no_cuda and torch.cuda.is_available()

np.random.seed(args.seed)
torch.manual_seed(args.seed)
if args.cuda:
    torch.cuda.manual_seed(args.seed)
    torch.backends.cudnn.benchmark = True


class ToyGlyphs(object):
    """Every class is a handful of strokes; every instance shifts and jitters them."""

    def __init__(self, n_classes, size=20):
        self.size = size
        self.strokes = np.random.uniform(3, size - 4, (n_classes, 4, 2, 2))

    def draw(self, c):
        img = np.zeros((self.size, self.size), dtype=np.float32)
        jitter = np.random.uniform(-1.5, 1.5, self.strokes[c].shape)
        for (y0, x0), (y1, x1) in self.strokes[c] + jitter:
            for a in np.linspace(0, 1, 24):
                img[int(y0 + a * (y1 - y0) + 0.5), int(x0 + a * (x1 - x0) + 0.5)] = 1
        return img

    def episode(self, way, n):
        classes = np.random.choice(len(self.strokes), way, replace=False)
        images = np.stack([self.draw(c) for c in classes for _ in range(n)])
        labels = np.repeat(classes, n)
        order = np.random.permutation(len(labels))
        return torch.from_numpy(images[order]).unsqueeze(1), torch.LongTensor(labels[order])


def conv_block(in_channels, out_channels):
    return nn.Sequential(
        nn.Conv2d(in_channels, out_channels, 3, padding=1),
        nn.BatchNorm2d(out_channels),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
    )


class ProtoNet(nn.Module):
    def __init__(self, hid_dim=16, z_dim=16):
        super(ProtoNet, self).__init__()
        self.encoder = nn.Sequential(
            conv_block(1, hid_dim), conv_block(hid_dim, hid_dim), conv_block(hid_dim, z_dim)
        )

    def forward(self, x):
        x = self.encoder(x)
        return x.view(x.size(0), -1)


def euclidean_dist(x, y):
    n, m, d = x.size(0), y.size(0), x.size(1)
    x = x.unsqueeze(1).expand(n, m, d)
    y = y.unsqueeze(0).expand(n, m, d)
    return torch.pow(x - y, 2).sum(2)


def prototypical_loss(output, target, n_support):
    classes = torch.unique(target)
    n_query = target.eq(classes[0].item()).sum().item() - n_support

    def supp_idxs(c):
        return target.eq(c).nonzero()[:n_support].squeeze(1)

    support_idxs = list(map(supp_idxs, classes))
    prototypes = torch.stack([output[idx].mean(0) for idx in support_idxs])
    query_idxs = torch.stack([target.eq(c).nonzero()[n_support:] for c in classes]).view(-1)
    query_samples = output[query_idxs]

    dists = euclidean_dist(query_samples, prototypes)
    log_p_y = F.log_softmax(-dists, dim=1).view(len(classes), n_query, -1)
    target_inds = torch.arange(0, len(classes)).view(len(classes), 1, 1)
    target_inds = target_inds.expand(len(classes), n_query, 1).long()
    if output.is_cuda:
        target_inds = target_inds.cuda()

    loss_val = -log_p_y.gather(2, Variable(target_inds)).squeeze().view(-1).mean()
    _, y_hat = log_p_y.max(2)
    acc_val = y_hat.eq(target_inds.squeeze(2)).float().mean()
    return loss_val, acc_val


train_set, test_set = ToyGlyphs(20), ToyGlyphs(8)
model = ProtoNet()
if args.cuda:
    model.cuda()
optimizer = optim.Adam(model.parameters(), lr=args.lr)
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=6, gamma=0.5)


def train():
    model.train()
    train_loss, train_acc = [], []
    for i in range(1, args.episodes + 1):
        x, y = train_set.episode(args.way, args.shot + args.query)
        if args.cuda:
            x, y = x.cuda(), y.cuda()
        x, y = Variable(x), Variable(y)
        optimizer.zero_grad()
        loss, acc = prototypical_loss(model(x), y, args.shot)
        loss.backward()
        optimizer.step()
        scheduler.step()
        train_loss.append(loss.data.cpu().numpy())
        train_acc.append(acc.data.cpu().numpy())
        if i % 3 == 0:
            print("Episode {}: loss {:.4f} acc {:.3f}".format(i, np.mean(train_loss), np.mean(train_acc)))


def test():
    model.eval()
    accs = []
    with torch.no_grad():
        for _ in range(args.test_episodes):
            x, y = test_set.episode(args.way, args.shot + args.query)
            if args.cuda:
                x, y = x.cuda(), y.cuda()
            _, acc = prototypical_loss(model(x), y, args.shot)
            accs.append(acc.item())
    print("Test acc: {:.3f}".format(np.mean(accs)))


train()
test()

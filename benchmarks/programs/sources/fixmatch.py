import math, random, time
from collections import OrderedDict
from itertools import cycle

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

cfg = {
    'seed': 0,
    'data': {'classes': 4, 'size': 24, 'labelled_per_class': 16, 'unlabelled': 640, 'test': 128, 'noise': 0.35},
    'model': {'_target_': 'wrn', 'width': 16, 'dropout': 0.1},
    'optim': {'_target_': 'sgd', 'lr': 0.05, 'momentum': 0.9, 'weight_decay': 5e-4, 'nesterov': True},
    'ssl': {'_target_': 'fixmatch', 'threshold': 0.7, 'temperature': 1.0, 'lambda_u': 1.0, 'mu': 4, 'ema': 0.9},
    'trainer': {'batch_size': 16, 'steps': 20, 'eval_every': 10, 'log_every': 2, 'amp': True, 'device': 'cuda'},
}


class Cfg(dict):
    """attribute access for nested dicts"""
    def __init__(self, d):
        super().__init__({k: Cfg(v) if isinstance(v, dict) else v for k, v in d.items()})

    __getattr__ = dict.__getitem__

    def kwargs(self):
        return {k: v for k, v in self.items() if k != '_target_'}


cfg = Cfg(cfg)
device = torch.device(cfg.trainer.device)


# ----------------------------------------------------------------------------- data
def make_images(n, c):
    """oriented gratings with a colour tint; class = orientation bucket"""
    y = np.random.randint(0, c.classes, n)
    ang = (y + 0.5 * np.random.rand(n) - 0.25) * np.pi / c.classes
    freq, phase = np.random.uniform(0.5, 1.1, n), np.random.uniform(0, 2 * np.pi, n)
    yy, xx = np.mgrid[:c.size, :c.size]
    proj = np.cos(ang)[:, None, None] * xx + np.sin(ang)[:, None, None] * yy
    img = np.sin(freq[:, None, None] * proj + phase[:, None, None])[:, None] * np.random.uniform(0.4, 1, (n, 3, 1, 1))
    img = img + c.noise * np.random.randn(n, 3, c.size, c.size)
    return torch.tensor(img, dtype=torch.float32), torch.tensor(y)


def balanced_subset(x, y, k, classes):
    idx = torch.cat([(y == c).nonzero().flatten()[:k] for c in range(classes)])
    return x[idx], y[idx]


# ------------------------------------------------------------------- augmentations (on gpu)
def random_crop(x, pad=3):
    b, _, h, w = x.shape
    x = F.pad(x, [pad] * 4, mode='reflect')
    top = torch.randint(0, 2 * pad + 1, (b, 1, 1), device=x.device)
    left = torch.randint(0, 2 * pad + 1, (b, 1, 1), device=x.device)
    rows = torch.arange(h, device=x.device)[None, :, None] + top
    cols = torch.arange(w, device=x.device)[None, None, :] + left
    return x.permute(0, 2, 3, 1)[torch.arange(b, device=x.device)[:, None, None], rows, cols].permute(0, 3, 1, 2)


def weak(x):
    flip = torch.rand(x.size(0), 1, 1, 1, device=x.device) < 0.5
    # 180 degree rotation keeps the orientation class
    return random_crop(torch.where(flip, x.flip(2, 3), x))


def color(x):
    gain = 1 + 0.4 * (torch.rand(x.size(0), 3, 1, 1, device=x.device) * 2 - 1)
    return x * gain + 0.2 * torch.randn(x.size(0), 3, 1, 1, device=x.device)


def blur(x):
    k = torch.tensor([1., 2., 1.], device=x.device)
    k = (k[:, None] * k[None]) / 16
    return F.conv2d(x, k.expand(3, 1, 3, 3), padding=1, groups=3)


def invert(x):
    return -x


def noise(x):
    return x + 0.3 * torch.randn_like(x)


def cutout(x, size=8):
    b, _, h, w = x.shape
    cy = torch.randint(0, h, (b, 1, 1), device=x.device)
    cx = torch.randint(0, w, (b, 1, 1), device=x.device)
    yy, xx = torch.arange(h, device=x.device)[None, :, None], torch.arange(w, device=x.device)[None, None]
    hole = ((yy - cy).abs() < size // 2) & ((xx - cx).abs() < size // 2)
    return x.masked_fill(hole[:, None], 0.)


def strong(x):
    x = weak(x)
    for op in random.sample([color, blur, invert, noise], 2):   # same two ops for the batch
        x = op(x)
    return cutout(x)


# ---------------------------------------------------------------------------- model
class BasicBlock(nn.Module):
    def __init__(self, i, o, stride, drop):
        super().__init__()
        self.bn1, self.bn2 = nn.BatchNorm2d(i), nn.BatchNorm2d(o)
        self.conv1 = nn.Conv2d(i, o, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(o, o, 3, 1, 1, bias=False)
        self.short = nn.Conv2d(i, o, 1, stride, bias=False) if (i != o or stride > 1) else None
        self.drop = drop

    def forward(self, x):
        y = F.leaky_relu(self.bn1(x), 0.1)
        s = x if self.short is None else self.short(y)
        y = F.leaky_relu(self.bn2(self.conv1(y)), 0.1)
        y = F.dropout(y, self.drop, self.training)
        return s + self.conv2(y)


def build_model(c, classes):
    w = c.width
    net = nn.Sequential(OrderedDict(
        stem=nn.Conv2d(3, w, 3, 1, 1, bias=False), b1=BasicBlock(w, w, 1, c.dropout), b2=BasicBlock(w, 2 * w, 2, c.dropout),
        b3=BasicBlock(2 * w, 4 * w, 2, c.dropout), bn=nn.BatchNorm2d(4 * w), act=nn.LeakyReLU(0.1),
        pool=nn.AdaptiveAvgPool2d(1), flat=nn.Flatten(), fc=nn.Linear(4 * w, classes)))
    for m in net.modules():
        if isinstance(m, nn.Conv2d):
            nn.init.kaiming_normal_(m.weight, mode='fan_out', nonlinearity='leaky_relu')
    return net.to(device)


class EMA:
    def __init__(self, model, teacher, decay):
        self.model, self.teacher, self.decay = model, teacher, decay
        teacher.load_state_dict(model.state_dict())
        for p in teacher.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, step):
        d = min(self.decay, (1 + step) / (4 + step))
        for k, v in self.teacher.state_dict().items():
            s = self.model.state_dict()[k]
            if v.dtype.is_floating_point:
                v.mul_(d).add_(s, alpha=1 - d)
            else:
                v.copy_(s)


@torch.no_grad()
def evaluate(net, loader):
    net.eval()
    correct = n = 0
    for x, y in loader:
        correct += (net(x.to(device)).argmax(1).cpu() == y).sum().item()
        n += len(y)
    return correct / n


def run(cfg):
    random.seed(cfg.seed); np.random.seed(cfg.seed); torch.manual_seed(cfg.seed)
    d, t, s = cfg.data, cfg.trainer, cfg.ssl
    x, y = make_images(d.unlabelled, d)
    xl, yl = balanced_subset(x, y, d.labelled_per_class, d.classes)
    lab = cycle(DataLoader(TensorDataset(xl, yl), t.batch_size, shuffle=True, drop_last=True))
    unl = cycle(DataLoader(TensorDataset(x, y), t.batch_size * s.mu, shuffle=True, drop_last=True))
    test = DataLoader(TensorDataset(*make_images(d.test, d)), 64)

    model, teacher = build_model(cfg.model, d.classes), build_model(cfg.model, d.classes)
    ema = EMA(model, teacher, s.ema)
    print('params: %.1fk' % (sum(p.numel() for p in model.parameters()) / 1e3))
    wd = [p for n, p in model.named_parameters() if 'bn' not in n and 'bias' not in n]
    no = [p for n, p in model.named_parameters() if 'bn' in n or 'bias' in n]
    kw = cfg.optim.kwargs()
    opt = torch.optim.SGD([{'params': wd}, {'params': no, 'weight_decay': 0.}], **kw)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda i: math.cos(7 * math.pi * i / (16 * t.steps)))
    scaler = torch.amp.GradScaler(t.device, enabled=t.amp)

    meters, tic = {'lx': [], 'lu': [], 'mask': [], 'pl_acc': []}, time.time()
    for step in range(1, t.steps + 1):
        model.train()
        (bx, by), (ux, uy) = next(lab), next(unl)
        bx, by, ux = bx.to(device), by.to(device), ux.to(device)
        with torch.autocast(t.device, dtype=torch.bfloat16, enabled=t.amp):
            logits = model(torch.cat([weak(bx), weak(ux), strong(ux)]))
            logits = logits.float()
            l_x, (l_w, l_s) = logits[:len(bx)], logits[len(bx):].chunk(2)
            loss_x = F.cross_entropy(l_x, by)
            conf, pseudo = torch.softmax(l_w.detach() / s.temperature, -1).max(-1)
            mask = conf.ge(s.threshold).float()
            loss_u = (F.cross_entropy(l_s, pseudo, reduction='none') * mask).mean()
            loss = loss_x + s.lambda_u * loss_u
        opt.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
        sched.step()
        ema.update(step)

        meters['lx'].append(loss_x.item())
        meters['lu'].append(loss_u.item())
        meters['mask'].append(mask.mean().item())
        if mask.sum() > 0:
            m = mask.bool()
            meters['pl_acc'].append((pseudo[m] == uy.to(device)[m]).float().mean().item())
        if step % t.log_every == 0:
            print('%4d  ' % step + '  '.join('%s %.3f' % (k, np.mean(v) if v else float('nan')) for k, v in meters.items())
                  + '  lr %.4f  %.2fs' % (sched.get_last_lr()[0], time.time() - tic))
            meters, tic = {k: [] for k in meters}, time.time()
        if step % t.eval_every == 0:
            print('---- eval: student %.3f teacher %.3f' % (evaluate(model, test), evaluate(teacher, test)))


if __name__ == '__main__':
    run(cfg)

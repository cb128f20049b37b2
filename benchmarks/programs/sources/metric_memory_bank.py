"""Metric learning with a cross-batch memory (XBM). A small trainer with callbacks."""

import argparse
import datetime
import time
from collections import defaultdict, deque

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset


class SmoothedValue:
    """Track a series of values and provide access to smoothed values over a window or the global average."""

    def __init__(self, window_size=20):
        self.deque = deque(maxlen=window_size)
        self.total = 0.0
        self.count = 0

    def update(self, value):
        self.deque.append(value)
        self.count += 1
        self.total += value

    @property
    def median(self):
        return torch.tensor(list(self.deque)).median().item()

    @property
    def global_avg(self):
        return self.total / self.count


class MetricLogger:
    def __init__(self, delimiter="  "):
        self.meters = defaultdict(SmoothedValue)
        self.delimiter = delimiter

    def update(self, **kwargs):
        for k, v in kwargs.items():
            if isinstance(v, torch.Tensor):
                v = v.item()
            self.meters[k].update(v)

    def __str__(self):
        return self.delimiter.join(
            f"{n}: {m.median:.4f} ({m.global_avg:.4f})" for n, m in self.meters.items()
        )


class XBM:
    def __init__(self, size, dim, device):
        self.K = size
        self.feats = torch.zeros(self.K, dim).to(device)
        self.targets = torch.zeros(self.K, dtype=torch.long).to(device)
        self.ptr = 0

    @property
    def is_full(self):
        return self.targets[-1].item() != 0

    def get(self):
        if self.is_full:
            return self.feats, self.targets
        return self.feats[: self.ptr], self.targets[: self.ptr]

    def enqueue_dequeue(self, feats, targets):
        q_size = len(targets)
        if self.ptr + q_size > self.K:
            self.feats[-q_size:] = feats
            self.targets[-q_size:] = targets
            self.ptr = 0
        else:
            self.feats[self.ptr : self.ptr + q_size] = feats
            self.targets[self.ptr : self.ptr + q_size] = targets
            self.ptr += q_size


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=0.5):
        super().__init__()
        self.margin = margin

    def forward(self, inputs_col, targets_col, inputs_row, target_row):
        n = inputs_col.size(0)
        sim_mat = torch.matmul(inputs_col, inputs_row.t())
        epsilon = 1e-5
        loss, neg_count = [], []
        for i in range(n):
            pos_pair = torch.masked_select(sim_mat[i], targets_col[i] == target_row)
            pos_pair = torch.masked_select(pos_pair, pos_pair < 1 - epsilon)
            neg_pair = torch.masked_select(sim_mat[i], targets_col[i] != target_row)
            neg_pair = torch.masked_select(neg_pair, neg_pair > self.margin)
            pos_loss = torch.sum(-pos_pair + 1)
            if len(neg_pair) > 0:
                neg_loss = torch.sum(neg_pair)
                neg_count.append(len(neg_pair))
            else:
                neg_loss = 0
            loss.append(pos_loss + neg_loss)
        average_neg = sum(neg_count) / len(neg_count) if neg_count else 0
        return sum(loss) / n, average_neg


class PKSampler(Sampler):
    """P classes with K samples each per batch."""

    def __init__(self, labels, p, k, batches):
        self.by_class = {int(c): (labels == c).nonzero().flatten() for c in labels.unique()}
        self.p, self.k, self.batches = p, k, batches

    def __iter__(self):
        classes = list(self.by_class)
        for _ in range(self.batches):
            for c in torch.randperm(len(classes))[: self.p].tolist():
                members = self.by_class[classes[c]]
                yield from members[torch.randint(len(members), (self.k,))].tolist()

    def __len__(self):
        return self.p * self.k * self.batches


class Callback:
    def on_train_begin(self, trainer):
        pass

    def on_step_end(self, trainer):
        pass

    def on_epoch_end(self, trainer):
        pass


class LoggingCallback(Callback):
    def __init__(self, every):
        self.every = every

    def on_train_begin(self, trainer):
        self.start = time.time()

    def on_step_end(self, trainer):
        if trainer.iteration % self.every == 0:
            elapsed = datetime.timedelta(seconds=int(time.time() - self.start))
            lr = trainer.optimizer.param_groups[0]["lr"]
            print(f"[{elapsed}] iter {trainer.iteration}  {trainer.metrics}  lr: {lr:.5f}")


class RecallCallback(Callback):
    def __init__(self, images, labels, ks=(1, 2, 4)):
        self.images, self.labels, self.ks = images, labels, ks

    @torch.no_grad()
    def on_epoch_end(self, trainer):
        trainer.model.eval()
        chunks = self.images.split(32)
        feats = torch.cat([trainer.model(x.to(trainer.device)) for x in chunks])
        labels = self.labels.to(trainer.device)
        sim = feats @ feats.t()
        sim.fill_diagonal_(-1)
        neighbours = labels[sim.topk(max(self.ks), dim=1)[1]]
        for k in self.ks:
            hit = (neighbours[:, :k] == labels[:, None]).any(dim=1).float().mean()
            print(f"  recall@{k}: {hit.item():.3f}")


class Trainer:
    def __init__(self, model, optimizer, scheduler, criterion, xbm, device, callbacks, xbm_start=3):
        self.model, self.optimizer, self.scheduler = model, optimizer, scheduler
        self.criterion, self.xbm, self.device = criterion, xbm, device
        self.callbacks, self.xbm_start = callbacks, xbm_start
        self.metrics = MetricLogger()
        self.iteration = 0

    def call(self, hook):
        for callback in self.callbacks:
            getattr(callback, hook)(self)

    def train_step(self, images, targets):
        images, targets = images.to(self.device), targets.to(self.device)
        feats = self.model(images)
        if self.iteration > self.xbm_start:
            self.xbm.enqueue_dequeue(feats.detach(), targets.detach())
        loss, neg = self.criterion(feats, targets, feats, targets)
        self.metrics.update(batch_loss=loss, average_neg=neg)
        if self.iteration > self.xbm_start:
            xbm_feats, xbm_targets = self.xbm.get()
            xbm_loss, _ = self.criterion(feats, targets, xbm_feats, xbm_targets)
            self.metrics.update(xbm_loss=xbm_loss)
            loss = loss + xbm_loss
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        self.metrics.update(loss=loss)

    def fit(self, loader, epochs):
        self.call("on_train_begin")
        for _ in range(epochs):
            self.model.train()
            for images, targets in loader:
                self.iteration += 1
                self.train_step(images, targets)
                self.call("on_step_end")
            self.call("on_epoch_end")


class Encoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(inplace=True), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(inplace=True),
            nn.AdaptiveAvgPool2d(1),
        )  # fmt: skip
        self.head = nn.Linear(32, dim)

    def forward(self, x):
        return F.normalize(self.head(self.body(x).flatten(1)), dim=1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batches", type=int, default=7)
    parser.add_argument("--memory", type=int, default=48)
    parser.add_argument("--lr", type=float, default=3e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    labels = torch.arange(160) % 10 + 1  # 0 marks an empty slot of the memory
    images = torch.randn(11, 3, 16, 16)[labels] + 0.7 * torch.randn(160, 3, 16, 16)
    sampler = PKSampler(labels[:120], p=4, k=3, batches=args.batches)
    loader = DataLoader(TensorDataset(images[:120], labels[:120]), batch_size=12, sampler=sampler)

    model = Encoder().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=10, gamma=0.1)
    callbacks = [LoggingCallback(every=3), RecallCallback(images[120:], labels[120:])]
    xbm = XBM(args.memory, 32, device)
    Trainer(model, optimizer, scheduler, ContrastiveLoss(), xbm, device, callbacks).fit(loader, args.epochs)

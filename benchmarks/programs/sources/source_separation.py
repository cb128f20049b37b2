"""Two-speaker separation in the time domain with permutation invariant SI-SNR."""

import argparse
import copy
from itertools import permutations

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Mixtures(Dataset):
    def __init__(self, size, samples=512, seed=0):
        g = torch.Generator().manual_seed(seed)
        t = torch.arange(samples) / 4000
        pitch = torch.rand(size, 2, 1, generator=g) * torch.tensor([[60.0], [180.0]]) + 100
        phase = 2 * torch.pi * pitch * t + 3 * torch.rand(size, 2, 1, generator=g)
        self.sources = sum(torch.sin(k * phase) / k for k in (1, 2, 3))

    def __len__(self):
        return len(self.sources)

    def __getitem__(self, index):
        sources = self.sources[index]
        return sources.sum(0), sources


class Block(nn.Module):
    def __init__(self, channels, hidden, dilation):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv1d(channels, hidden, 1),
            nn.PReLU(),
            nn.Conv1d(hidden, hidden, 3, padding=dilation, dilation=dilation, groups=hidden),
            nn.PReLU(),
            nn.GroupNorm(1, hidden),
            nn.Conv1d(hidden, channels, 1),
        )

    def forward(self, x):
        return x + self.net(x)


class Separator(nn.Module):
    def __init__(self, n_sources=2, filters=24, kernel=16, layers=3):
        super().__init__()
        self.n_sources, self.filters = n_sources, filters
        self.encoder = nn.Conv1d(1, filters, kernel, stride=kernel // 2, bias=False)
        self.blocks = nn.Sequential(*(Block(filters, 2 * filters, 2**i) for i in range(layers)))
        self.mask = nn.Conv1d(filters, n_sources * filters, 1)
        self.decoder = nn.ConvTranspose1d(filters, 1, kernel, stride=kernel // 2, bias=False)

    def forward(self, mixture):
        batch, samples = mixture.shape
        features = self.encoder(mixture.unsqueeze(1)).relu()
        masks = self.mask(self.blocks(features)).sigmoid()
        masked = masks.view(batch, self.n_sources, self.filters, -1) * features.unsqueeze(1)
        return self.decoder(masked.flatten(0, 1)).view(batch, self.n_sources, samples)


def si_snr(estimate, target, eps=1e-8):
    estimate = estimate - estimate.mean(-1, keepdim=True)
    target = target - target.mean(-1, keepdim=True)
    scale = (estimate * target).sum(-1, keepdim=True) / (target.pow(2).sum(-1, keepdim=True) + eps)
    projection = scale * target
    noise = estimate - projection
    return 10 * torch.log10(projection.pow(2).sum(-1) / (noise.pow(2).sum(-1) + eps) + eps)


class PITLoss(nn.Module):
    def forward(self, estimates, sources):
        orders = permutations(range(sources.shape[1]))
        scores = torch.stack([si_snr(estimates[:, list(order)], sources).mean(-1) for order in orders])
        best, _ = scores.max(dim=0)
        return -best.mean()


class Callback:
    def on_batch_end(self, trainer, loss): ...
    def on_epoch_end(self, trainer, logs): ...


class Progress(Callback):
    def __init__(self, every):
        self.every = every

    def on_batch_end(self, trainer, loss):
        if trainer.step % self.every == 0:
            print(f"  step {trainer.step}: SI-SNR {-loss.item():.2f} dB")

    def on_epoch_end(self, trainer, logs):
        print(f"epoch {trainer.epoch}: " + ", ".join(f"{k} {v:.3f}" for k, v in logs.items()))


class BestWeights(Callback):
    best = float("inf")

    def on_epoch_end(self, trainer, logs):
        if logs["val_loss"] < self.best:
            self.best = logs["val_loss"]
            self.weights = copy.deepcopy(trainer.model.state_dict())


class Trainer:
    def __init__(self, model, loss, optimizer, device, callbacks=()):
        self.model, self.loss, self.optimizer = model, loss, optimizer
        self.device, self.callbacks = device, list(callbacks)
        self.step = self.epoch = 0

    def call(self, event, *args):
        for callback in self.callbacks:
            getattr(callback, event)(self, *args)

    def to_device(self, batch):
        return tuple(x.to(self.device, non_blocking=True) for x in batch)

    def train_epoch(self, loader):
        self.model.train()
        total = torch.zeros((), device=self.device)
        for batch in loader:
            mixture, sources = self.to_device(batch)
            loss = self.loss(self.model(mixture), sources)
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            self.optimizer.step()
            self.step += 1
            total += loss.detach()
            self.call("on_batch_end", loss)
        return (total / len(loader)).item()

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        losses = []
        for batch in loader:
            mixture, sources = self.to_device(batch)
            losses.append(self.loss(self.model(mixture), sources))
        return torch.stack(losses).mean().item()

    def fit(self, train_loader, val_loader, epochs):
        for self.epoch in range(1, epochs + 1):
            logs = {"loss": self.train_epoch(train_loader), "val_loss": self.validate(val_loader)}
            self.call("on_epoch_end", logs)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = Separator().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    callbacks = [Progress(every=3), BestWeights()]
    trainer = Trainer(model, PITLoss(), optimizer, device, callbacks)
    train_loader = DataLoader(Mixtures(48), batch_size=8, shuffle=True, drop_last=True)
    val_loader = DataLoader(Mixtures(16, seed=1), batch_size=8)
    trainer.fit(train_loader, val_loader, options.epochs)
    print(f"best validation SI-SNR {-callbacks[1].best:.2f} dB")

"""A convolutional forecaster of several series, with quantile loss and early stopping."""

from __future__ import annotations

import argparse
import copy
import math

import torch
import torch.nn as nn
from torch import Tensor
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    """Pairs of a context and the horizon after it."""

    def __init__(self, series: Tensor, context: int, horizon: int) -> None:
        self.series, self.context, self.horizon = series, context, horizon

    def __len__(self) -> int:
        return self.series.size(1) - self.context - self.horizon + 1

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        end = index + self.context
        return self.series[:, index:end], self.series[:, end : end + self.horizon]


class CausalConv(nn.Module):
    def __init__(self, channels: int, dilation: int) -> None:
        super().__init__()
        self.padding = 2 * dilation
        self.conv = nn.Conv1d(channels, 2 * channels, 3, dilation=dilation)

    def forward(self, x: Tensor) -> Tensor:
        h = self.conv(nn.functional.pad(x, (self.padding, 0)))
        value, gate = h.chunk(2, dim=1)
        return x + torch.tanh(value) * torch.sigmoid(gate)


class Forecaster(nn.Module):
    def __init__(self, variables: int, horizon: int, quantiles: int, channels: int = 8) -> None:
        super().__init__()
        self.shape = (variables, horizon, quantiles)
        self.inp = nn.Conv1d(variables, channels, 1)
        self.layers = nn.Sequential(*(CausalConv(channels, 2**i) for i in range(2)))
        self.out = nn.Linear(channels, variables * horizon * quantiles)

    def forward(self, x: Tensor) -> Tensor:
        mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True) + 1e-5
        h = self.layers(self.inp((x - mean) / std))
        out = self.out(h[..., -1]).view(-1, *self.shape)
        return out * std.unsqueeze(-1) + mean.unsqueeze(-1)


class QuantileLoss(nn.Module):
    def __init__(self, quantiles: tuple[float, ...]) -> None:
        super().__init__()
        self.register_buffer("quantiles", torch.tensor(quantiles))

    def forward(self, prediction: Tensor, target: Tensor) -> Tensor:
        error = target.unsqueeze(-1) - prediction
        return torch.maximum(self.quantiles * error, (self.quantiles - 1) * error).mean()


def synthetic_series(length: int, variables: int) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    time = torch.arange(length).float()
    period = 8 + 8 * torch.rand(variables, 1, generator=generator)
    noise = 0.1 * torch.randn(variables, length, generator=generator)
    return torch.sin(2 * math.pi * time / period) + 0.01 * time + noise


class EarlyStopping:
    def __init__(self, patience: int) -> None:
        self.patience, self.best, self.bad_epochs = patience, math.inf, 0
        self.state: dict[str, Tensor] = {}

    def should_stop(self, loss: float, model: nn.Module) -> bool:
        if loss < self.best:
            self.best, self.bad_epochs = loss, 0
            self.state = copy.deepcopy(model.state_dict())
        else:
            self.bad_epochs += 1
        return self.bad_epochs >= self.patience


def run_epoch(model, loader, criterion, device, optimizer=None) -> float:
    training = optimizer is not None
    model.train(training)
    losses = []
    with torch.set_grad_enabled(training):
        for context, horizon in loader:
            context = context.to(device, non_blocking=True)
            horizon = horizon.to(device, non_blocking=True)
            loss = criterion(model(context), horizon)
            if training:
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
            losses.append(loss.detach())
    return torch.stack(losses).mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--context", type=int, default=16)
    parser.add_argument("--horizon", type=int, default=4)
    parser.add_argument("--patience", type=int, default=2)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    cuda = torch.cuda.is_available()
    device = torch.device("cuda" if cuda else "cpu")
    series = synthetic_series(length=140, variables=3)
    train_set = Windows(series[:, :90], args.context, args.horizon)
    valid_set = Windows(series[:, 90:], args.context, args.horizon)
    options = {"batch_size": args.batch_size, "drop_last": True, "pin_memory": cuda}
    train_loader = DataLoader(train_set, shuffle=True, **options)
    valid_loader = DataLoader(valid_set, **options)

    quantiles = (0.1, 0.5, 0.9)
    model = Forecaster(3, args.horizon, len(quantiles)).to(device)
    criterion = QuantileLoss(quantiles).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    stopping = EarlyStopping(args.patience)
    for epoch in range(args.epochs):
        train_loss = run_epoch(model, train_loader, criterion, device, optimizer)
        valid_loss = run_epoch(model, valid_loader, criterion, device)
        print(f"epoch {epoch}: train {train_loss:.4f} valid {valid_loss:.4f}")
        if stopping.should_stop(valid_loss, model):
            break
    model.load_state_dict(stopping.state)
    print(f"best valid loss {stopping.best:.4f}")


if __name__ == "__main__":
    main()

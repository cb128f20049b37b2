"""Semi-supervised learning with a mean teacher and confident pseudo labels."""

from __future__ import annotations

import argparse
import copy
import itertools
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset


class ConvNet(nn.Module):
    def __init__(self, num_classes: int, width: int = 8) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.BatchNorm2d(width), nn.LeakyReLU(0.1, True), nn.MaxPool2d(2)
        )
        self.classifier = nn.Linear(width * 16, num_classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.classifier(self.features(x).flatten(1))


class ModelEMA:
    def __init__(self, model: nn.Module, decay: float) -> None:
        self.ema = copy.deepcopy(model)
        self.ema.eval()
        self.decay = decay
        for p in self.ema.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model: nn.Module, step: int) -> None:
        decay = min(self.decay, (1 + step) / (10 + step))
        for ema_p, p in zip(self.ema.parameters(), model.parameters(), strict=True):
            ema_p.lerp_(p, 1 - decay)
        for ema_b, b in zip(self.ema.buffers(), model.buffers(), strict=True):
            ema_b.copy_(b)


def synthetic_patterns(count: int, num_classes: int, seed: int) -> TensorDataset:
    patterns = torch.randn(num_classes, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, num_classes, (count,), generator=generator)
    return TensorDataset(patterns[labels] + 0.4 * torch.randn(count, 1, 8, 8, generator=generator), labels)


def weak(x: Tensor) -> Tensor:
    return x + 0.05 * torch.randn_like(x)


def strong(x: Tensor) -> Tensor:
    keep = (torch.rand(x.size(0), 1, *x.shape[2:], device=x.device) > 0.2).float()
    return (x + 0.3 * torch.randn_like(x)) * keep


def sigmoid_rampup(step: int, length: int) -> float:
    phase = 1.0 - min(step, length) / length
    return math.exp(-5.0 * phase * phase)


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader, device: torch.device) -> float:
    model.eval()
    correct = torch.zeros((), dtype=torch.long, device=device)
    for images, labels in loader:
        predictions = model(images.to(device, non_blocking=True)).argmax(1)
        correct += (predictions == labels.to(device, non_blocking=True)).sum()
    return correct.item() / len(loader.dataset)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--mu", type=int, default=2, help="unlabelled per labelled sample")
    parser.add_argument("--threshold", type=float, default=0.5)
    parser.add_argument("--lambda-u", type=float, default=1.0)
    parser.add_argument("--consistency", type=float, default=2.0)
    parser.add_argument("--ema-decay", type=float, default=0.99)
    parser.add_argument("--lr", type=float, default=0.03)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    labelled = DataLoader(synthetic_patterns(16, 5, 1), args.batch_size, shuffle=True, drop_last=True)
    unlabelled = DataLoader(
        synthetic_patterns(64, 5, 2), args.batch_size * args.mu, shuffle=True, drop_last=True
    )
    test_loader = DataLoader(synthetic_patterns(40, 5, 3), batch_size=20)

    student = ConvNet(num_classes=5).to(device)
    teacher = ModelEMA(student, args.ema_decay)
    optimizer = torch.optim.SGD(student.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.steps)
    stream = zip(itertools.cycle(labelled), itertools.cycle(unlabelled), strict=False)

    student.train()
    for step, ((x_l, y_l), (x_u, _)) in enumerate(itertools.islice(stream, args.steps)):
        x_l, y_l, x_u = x_l.to(device), y_l.to(device), x_u.to(device)
        logits = student(torch.cat((weak(x_l), strong(x_u))))
        logits_l, logits_u = logits.split((len(x_l), len(x_u)))
        with torch.no_grad():
            teacher_probs = teacher.ema(weak(x_u)).softmax(-1)
            max_probs, pseudo_labels = teacher_probs.max(-1)
            mask = max_probs.ge(args.threshold).float()

        loss_l = F.cross_entropy(logits_l, y_l)
        loss_u = (F.cross_entropy(logits_u, pseudo_labels, reduction="none") * mask).mean()
        weight = args.consistency * sigmoid_rampup(step, args.steps // 2)
        loss_c = F.mse_loss(logits_u.softmax(-1), teacher_probs)
        loss = loss_l + args.lambda_u * loss_u + weight * loss_c

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        teacher.update(student, step)
        if step % 4 == 3:
            print(f"step {step}: labelled {loss_l:.4f} pseudo {loss_u:.4f} kept {mask.mean().item():.2f}")

    print(f"student {evaluate(student, test_loader, device):.3f}")
    print(f"teacher {evaluate(teacher.ema, test_loader, device):.3f}")


if __name__ == "__main__":
    main()

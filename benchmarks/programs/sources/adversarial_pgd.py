"""Adversarial training with projected gradient descent, and robust accuracy."""

from __future__ import annotations

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset


class SmallCNN(nn.Module):
    def __init__(self, num_classes: int = 4) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, stride=2, padding=1)
        self.fc = nn.Linear(6 * 16, num_classes)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(F.relu(self.conv(x)).flatten(1))


def synthetic_images(count: int, seed: int) -> TensorDataset:
    """Four patterns with values in [0, 1]."""
    patterns = torch.rand(4, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 4, (count,), generator=generator)
    noise = 0.1 * torch.randn(count, 1, 8, 8, generator=generator)
    return TensorDataset((patterns[labels] + noise).clamp(0, 1), labels)


def pgd_attack(model: nn.Module, x: Tensor, y: Tensor, epsilon: float, alpha: float, steps: int) -> Tensor:
    model.eval()
    x_adv = x.detach() + torch.empty_like(x).uniform_(-epsilon, epsilon)
    x_adv = torch.clamp(x_adv, 0.0, 1.0)
    for _ in range(steps):
        x_adv.requires_grad_()
        loss = F.cross_entropy(model(x_adv), y)
        grad = torch.autograd.grad(loss, x_adv)[0]
        x_adv = x_adv.detach() + alpha * torch.sign(grad.detach())
        x_adv = torch.min(torch.max(x_adv, x - epsilon), x + epsilon)
        x_adv = torch.clamp(x_adv, 0.0, 1.0)
    model.train()
    return x_adv.detach()


def train(args, model, device, loader, optimizer, epoch: int) -> None:
    model.train()
    for batch_idx, (data, target) in enumerate(loader):
        data, target = data.to(device), target.to(device)
        perturbed = pgd_attack(model, data, target, args.epsilon, args.step_size, args.num_steps)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(perturbed), target)
        loss.backward()
        optimizer.step()
        if batch_idx % args.log_interval == 0:
            print(f"Train Epoch: {epoch} [{batch_idx}/{len(loader)}]\tLoss: {loss.item():.6f}")


def evaluate(args, model, device, loader) -> None:
    model.eval()
    robust_err_total = natural_err_total = 0
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        adversarial = pgd_attack(model, data, target, args.epsilon, args.step_size, args.num_steps)
        model.eval()
        with torch.no_grad():
            natural_err_total += (model(data).max(1)[1] != target).float().sum()
            robust_err_total += (model(adversarial).max(1)[1] != target).float().sum()
    print("natural_err_total: ", natural_err_total)
    print("robust_err_total: ", robust_err_total)


def adjust_learning_rate(args, optimizer, epoch: int) -> None:
    lr = args.lr * (0.1 if epoch >= 2 else 1.0)
    for param_group in optimizer.param_groups:
        param_group["lr"] = lr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--epsilon", type=float, default=0.1)
    parser.add_argument("--num-steps", type=int, default=3)
    parser.add_argument("--step-size", type=float, default=0.05)
    parser.add_argument("--log-interval", type=int, default=2)
    args = parser.parse_args()

    torch.manual_seed(1)
    use_cuda = torch.cuda.is_available()
    device = torch.device("cuda" if use_cuda else "cpu")
    kwargs = {"num_workers": 0, "pin_memory": True} if use_cuda else {}
    train_loader = DataLoader(synthetic_images(64, 1), args.batch_size, shuffle=True, **kwargs)
    test_loader = DataLoader(synthetic_images(24, 2), args.batch_size, **kwargs)

    model = SmallCNN().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=args.momentum, weight_decay=2e-4)
    for epoch in range(1, args.epochs + 1):
        adjust_learning_rate(args, optimizer, epoch)
        train(args, model, device, train_loader, optimizer, epoch)
        evaluate(args, model, device, test_loader)


if __name__ == "__main__":
    main()

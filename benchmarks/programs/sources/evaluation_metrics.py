"""Trains a linear classifier and evaluates it: confusion matrix, per-class scores, AUC, calibration."""

from __future__ import annotations

import argparse

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset


class ConfusionMatrix:
    def __init__(self, num_classes: int, device: torch.device) -> None:
        self.num_classes = num_classes
        self.matrix = torch.zeros(num_classes, num_classes, dtype=torch.int64, device=device)

    def update(self, preds: Tensor, labels: Tensor) -> None:
        for t, p in zip(labels.view(-1), preds.view(-1), strict=True):
            self.matrix[t.long(), p.long()] += 1

    def compute(self) -> dict[str, Tensor]:
        matrix = self.matrix.float()
        true_positives = matrix.diag()
        precision = true_positives / matrix.sum(0).clamp(min=1)
        recall = true_positives / matrix.sum(1).clamp(min=1)
        f1 = 2 * precision * recall / (precision + recall).clamp(min=1e-12)
        return {"precision": precision, "recall": recall, "f1": f1}


def binary_auc(scores: Tensor, positive: Tensor) -> float:
    """By ranks, as Mann and Whitney have it; ties are left in the order they come."""
    order = torch.argsort(scores)
    ranks = torch.empty_like(order)
    ranks[order] = torch.arange(1, len(scores) + 1, device=scores.device)
    n_pos = positive.sum().item()
    n_neg = len(positive) - n_pos
    if n_pos == 0 or n_neg == 0:
        return float("nan")
    rank_sum = ranks[positive].sum().item()
    return (rank_sum - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)


def macro_auc(probs: Tensor, labels: Tensor) -> float:
    aucs = [binary_auc(probs[:, c], labels == c) for c in range(probs.size(1))]
    return sum(aucs) / len(aucs)


def expected_calibration_error(probs: Tensor, labels: Tensor, n_bins: int = 5) -> Tensor:
    boundaries = torch.linspace(0, 1, n_bins + 1)
    bin_lowers, bin_uppers = boundaries[:-1], boundaries[1:]
    confidences, predictions = torch.max(probs, 1)
    accuracies = predictions.eq(labels)
    ece = torch.zeros(1, device=probs.device)
    for bin_lower, bin_upper in zip(bin_lowers, bin_uppers, strict=True):
        in_bin = confidences.gt(bin_lower.item()) & confidences.le(bin_upper.item())
        prop_in_bin = in_bin.float().mean()
        if prop_in_bin.item() > 0:
            accuracy_in_bin = accuracies[in_bin].float().mean()
            avg_confidence_in_bin = confidences[in_bin].mean()
            ece += torch.abs(avg_confidence_in_bin - accuracy_in_bin) * prop_in_bin
    return ece


class MetricLogger:
    """Running means of named values."""

    def __init__(self) -> None:
        self.totals: dict[str, float] = {}
        self.counts: dict[str, int] = {}

    def update(self, n: int = 1, **values: Tensor | float) -> None:
        for name, value in values.items():
            if isinstance(value, torch.Tensor):
                value = value.item()
            self.totals[name] = self.totals.get(name, 0.0) + value * n
            self.counts[name] = self.counts.get(name, 0) + n

    def __str__(self) -> str:
        return "  ".join(f"{name}: {self.totals[name] / self.counts[name]:.4f}" for name in self.totals)


def clusters(count: int, num_classes: int, features: int, seed: int) -> TensorDataset:
    centres = torch.randn(num_classes, features, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, num_classes, (count,), generator=generator)
    return TensorDataset(centres[labels] + torch.randn(count, features, generator=generator), labels)


def train(model: nn.Module, loader: DataLoader, epochs: int, device: torch.device) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(epochs):
        metrics = MetricLogger()
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            logits = model(x)
            loss = F.cross_entropy(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            metrics.update(n=len(x), loss=loss, accuracy=(logits.argmax(1) == y).float().mean())
        print(f"epoch {epoch}  {metrics}")


@torch.no_grad()
def evaluate(model: nn.Module, loader: DataLoader, num_classes: int, device: torch.device) -> None:
    model.eval()
    confusion = ConfusionMatrix(num_classes, device)
    all_probs, all_labels = [], []
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        probs = model(x).softmax(dim=1)
        confusion.update(probs.argmax(dim=1), y)
        all_probs.append(probs)
        all_labels.append(y)
    probs, labels = torch.cat(all_probs), torch.cat(all_labels)

    for name, values in confusion.compute().items():
        print(f"{name:>10}", " ".join(f"{value:.3f}" for value in values))
    print(confusion.matrix.cpu().numpy())
    print(f"macro AUC {macro_auc(probs, labels):.4f}")
    print(f"calibration error {expected_calibration_error(probs, labels).item():.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--num-classes", type=int, default=3)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_set = clusters(72, args.num_classes, 6, seed=1)
    test_set = clusters(24, args.num_classes, 6, seed=2)
    model = nn.Linear(6, args.num_classes).to(device)
    train(model, DataLoader(train_set, args.batch_size, shuffle=True), args.epochs, device)
    evaluate(model, DataLoader(test_set, args.batch_size), args.num_classes, device)


if __name__ == "__main__":
    main()

"""Knowledge distillation: soft targets of a trained teacher and a hint on its features."""

from __future__ import annotations

import argparse
import logging

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger(__name__)


def conv_net(width: int, num_classes: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(width * 16, num_classes),
    )


class FeatureHook:
    """Keeps what a layer put out last."""

    def __init__(self, module: nn.Module) -> None:
        self.output: Tensor | None = None
        self.handle = module.register_forward_hook(self._keep)

    def _keep(self, module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        self.output = output

    def remove(self) -> None:
        self.handle.remove()


def distillation_loss(student_logits: Tensor, teacher_logits: Tensor, T: float) -> Tensor:
    soft_targets = F.softmax(teacher_logits / T, dim=-1)
    soft_prob = F.log_softmax(student_logits / T, dim=-1)
    return F.kl_div(soft_prob, soft_targets, reduction="batchmean") * T**2


def synthetic_textures(count: int, seed: int, num_classes: int = 6) -> TensorDataset:
    prototypes = torch.randn(num_classes, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    generator = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, num_classes, (count,), generator=generator)
    return TensorDataset(prototypes[labels] + 0.7 * torch.randn(count, 1, 8, 8, generator=generator), labels)


def train_teacher(model: nn.Module, loader: DataLoader, epochs: int, device: torch.device) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    criterion = nn.CrossEntropyLoss()
    model.train()
    for epoch in range(epochs):
        running_loss = 0.0
        for inputs, labels in loader:
            inputs, labels = inputs.to(device), labels.to(device)
            optimizer.zero_grad()
            loss = criterion(model(inputs), labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        log.info("teacher epoch %d/%d, loss %.4f", epoch + 1, epochs, running_loss / len(loader))


def train_student(
    teacher: nn.Module, student: nn.Module, loader: DataLoader, args: argparse.Namespace, device: torch.device
) -> None:
    regressor = nn.Conv2d(args.student_width, args.teacher_width, 1).to(device)
    teacher_hook, student_hook = FeatureHook(teacher[2]), FeatureHook(student[2])
    optimizer = torch.optim.Adam([*student.parameters(), *regressor.parameters()], lr=5e-3)
    ce_loss, hint_loss = nn.CrossEntropyLoss(), nn.MSELoss()
    teacher.eval()
    student.train()
    for epoch in range(args.epochs):
        running = torch.zeros(3)
        for inputs, labels in loader:
            inputs, labels = inputs.to(device), labels.to(device)
            optimizer.zero_grad()
            with torch.no_grad():
                teacher_logits = teacher(inputs)
            student_logits = student(inputs)
            label_loss = ce_loss(student_logits, labels)
            soft_loss = distillation_loss(student_logits, teacher_logits, args.temperature)
            hint = hint_loss(regressor(student_hook.output), teacher_hook.output)
            loss = args.ce_weight * label_loss + args.soft_weight * soft_loss + args.hint_weight * hint
            loss.backward()
            optimizer.step()
            running += torch.tensor([label_loss.item(), soft_loss.item(), hint.item()])
        means = (running / len(loader)).tolist()
        log.info("student epoch %d/%d, label %.4f soft %.4f hint %.4f", epoch + 1, args.epochs, *means)
    teacher_hook.remove()
    student_hook.remove()


def test(model: nn.Module, loader: DataLoader, device: torch.device) -> float:
    model.eval()
    correct = total = 0
    with torch.no_grad():
        for inputs, labels in loader:
            inputs, labels = inputs.to(device), labels.to(device)
            _, predicted = torch.max(model(inputs).data, 1)
            total += labels.size(0)
            correct += (predicted == labels).sum().item()
    return 100 * correct / total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--teacher-epochs", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--teacher-width", type=int, default=12)
    parser.add_argument("--student-width", type=int, default=4)
    parser.add_argument("-T", "--temperature", type=float, default=2.0)
    parser.add_argument("--ce-weight", type=float, default=0.75)
    parser.add_argument("--soft-weight", type=float, default=0.25)
    parser.add_argument("--hint-weight", type=float, default=0.1)
    args = parser.parse_args()

    torch.manual_seed(42)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_loader = DataLoader(synthetic_textures(80, 1), args.batch_size, shuffle=True)
    test_loader = DataLoader(synthetic_textures(30, 2), args.batch_size)

    teacher = conv_net(args.teacher_width, 6).to(device)
    train_teacher(teacher, train_loader, args.teacher_epochs, device)
    for param in teacher.parameters():
        param.requires_grad = False
    student = conv_net(args.student_width, 6).to(device)
    train_student(teacher, student, train_loader, args, device)
    log.info("teacher %.1f%%", test(teacher, test_loader, device))
    log.info("student %.1f%%", test(student, test_loader, device))


if __name__ == "__main__":
    main()

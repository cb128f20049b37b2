"""Contrastive learning with two augmented views per image and the NT-Xent loss."""

from __future__ import annotations

import argparse
import logging

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset


class TwoViews(Dataset):
    """Two noisy, shifted and flipped views of each image."""

    def __init__(self, count: int, size: int = 12) -> None:
        generator = torch.Generator().manual_seed(0)
        self.images = torch.randn(count, 3, size, size, generator=generator)

    def __len__(self) -> int:
        return len(self.images)

    def _augment(self, image: Tensor) -> Tensor:
        if torch.rand(1).item() < 0.5:
            image = image.flip(-1)
        shift = int(torch.randint(-2, 3, (1,)))
        return torch.roll(image, shift, dims=-1) + 0.2 * torch.randn_like(image)

    def __getitem__(self, index: int) -> list[Tensor]:
        return [self._augment(self.images[index]) for _ in range(2)]


class Encoder(nn.Module):
    def __init__(self, out_dim: int) -> None:
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten()
        )
        self.projector = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, out_dim))

    def forward(self, x: Tensor) -> Tensor:
        return self.projector(self.backbone(x))


def accuracy(output: Tensor, target: Tensor, topk: tuple[int, ...] = (1,)) -> list[Tensor]:
    with torch.no_grad():
        _, pred = output.topk(max(topk), 1, True, True)
        correct = pred.t().eq(target.view(1, -1).expand_as(pred.t()))
        return [correct[:k].reshape(-1).float().sum(0, keepdim=True).mul_(100.0 / len(target)) for k in topk]


class SimCLR:
    def __init__(self, args: argparse.Namespace, model: nn.Module, optimizer, scheduler) -> None:
        self.args = args
        self.model = model.to(args.device)
        self.optimizer, self.scheduler = optimizer, scheduler
        self.criterion = nn.CrossEntropyLoss().to(args.device)

    def info_nce_loss(self, features: Tensor) -> tuple[Tensor, Tensor]:
        labels = torch.cat([torch.arange(self.args.batch_size) for _ in range(2)], dim=0)
        labels = (labels.unsqueeze(0) == labels.unsqueeze(1)).float()
        labels = labels.to(self.args.device)

        features = F.normalize(features, dim=1)
        similarity_matrix = torch.matmul(features, features.T)

        mask = torch.eye(labels.shape[0], dtype=torch.bool).to(self.args.device)
        labels = labels[~mask].view(labels.shape[0], -1)
        similarity_matrix = similarity_matrix[~mask].view(similarity_matrix.shape[0], -1)

        positives = similarity_matrix[labels.bool()].view(labels.shape[0], -1)
        negatives = similarity_matrix[~labels.bool()].view(similarity_matrix.shape[0], -1)

        logits = torch.cat([positives, negatives], dim=1)
        labels = torch.zeros(logits.shape[0], dtype=torch.long).to(self.args.device)
        return logits / self.args.temperature, labels

    def train(self, train_loader: DataLoader) -> None:
        scaler = torch.amp.GradScaler("cuda", enabled=self.args.fp16_precision)
        n_iter = 0
        logging.info("Start SimCLR training for %d epochs.", self.args.epochs)
        for epoch_counter in range(self.args.epochs):
            for views in train_loader:
                images = torch.cat(views, dim=0).to(self.args.device)
                with torch.autocast("cuda", enabled=self.args.fp16_precision):
                    features = self.model(images)
                    logits, labels = self.info_nce_loss(features)
                    loss = self.criterion(logits, labels)

                self.optimizer.zero_grad()
                scaler.scale(loss).backward()
                scaler.step(self.optimizer)
                scaler.update()

                if n_iter % self.args.log_every_n_steps == 0:
                    top1, top5 = accuracy(logits, labels, topk=(1, 5))
                    lr = self.scheduler.get_last_lr()[0]
                    logging.info(
                        "iter %d loss %.4f acc/top1 %.1f acc/top5 %.1f lr %.5f",
                        n_iter, loss, top1[0], top5[0], lr,
                    )  # fmt: skip
                n_iter += 1
            if epoch_counter >= 1:
                self.scheduler.step()
            logging.info("Epoch: %d\tLoss: %.4f\tTop1 accuracy: %.1f", epoch_counter, loss, top1[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("-b", "--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--wd", type=float, default=1e-4)
    parser.add_argument("--out-dim", type=int, default=16)
    parser.add_argument("--temperature", type=float, default=0.07)
    parser.add_argument("--log-every-n-steps", type=int, default=2)
    parser.add_argument("--fp16-precision", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(args.seed)
    if torch.cuda.is_available():
        args.device = torch.device("cuda")
        torch.backends.cudnn.deterministic = True
        torch.backends.cudnn.benchmark = True
    else:
        args.device = torch.device("cpu")

    loader = DataLoader(TwoViews(40), args.batch_size, shuffle=True, pin_memory=True, drop_last=True)
    model = Encoder(args.out_dim).to(args.device)
    optimizer = torch.optim.Adam(model.parameters(), args.lr, weight_decay=args.wd)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=len(loader))
    SimCLR(args, model, optimizer, scheduler).train(loader)


if __name__ == "__main__":
    main()

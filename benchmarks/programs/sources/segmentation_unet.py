"""A U-Net on synthetic shapes: cross-entropy plus dice, an ignored class, mean IoU."""

from __future__ import annotations

import argparse
import logging
import tempfile
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, random_split

IGNORE_INDEX = 255
NUM_CLASSES = 3


class DoubleConv(nn.Sequential):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(
            nn.Conv2d(in_channels, out_channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(out_channels),
            nn.ReLU(inplace=True),
        )


class Up(nn.Module):
    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(in_channels, in_channels // 2, kernel_size=2, stride=2)
        self.conv = DoubleConv(in_channels, out_channels)

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        x1 = self.up(x1)
        diff_y, diff_x = x2.size(2) - x1.size(2), x2.size(3) - x1.size(3)
        x1 = F.pad(x1, [diff_x // 2, diff_x - diff_x // 2, diff_y // 2, diff_y - diff_y // 2])
        return self.conv(torch.cat([x2, x1], dim=1))


class UNet(nn.Module):
    def __init__(self, n_channels: int = 1, n_classes: int = NUM_CLASSES, width: int = 4) -> None:
        super().__init__()
        self.n_classes = n_classes
        self.inc = DoubleConv(n_channels, width)
        self.down1 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(width, 2 * width))
        self.up1 = Up(2 * width, width)
        self.outc = nn.Conv2d(width, n_classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        x1 = self.inc(x)
        return self.outc(self.up1(self.down1(x1), x1))


class Shapes(Dataset):
    """A disc and a bar, with an unlabelled band between them and the background."""

    def __init__(self, count: int, size: int = 15, seed: int = 0) -> None:
        generator = torch.Generator().manual_seed(seed)
        centre = torch.randint(4, size - 4, (count, 2, 1, 1), generator=generator)
        grid = torch.stack(torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij"))
        distance = (grid - centre).pow(2).sum(1).float().sqrt()
        self.masks = torch.zeros(count, size, size, dtype=torch.long)
        self.masks[:, :, -3:] = 2
        self.masks[distance < 4] = IGNORE_INDEX
        self.masks[distance < 3] = 1
        noise = torch.randn(count, size, size, generator=generator)
        self.images = ((self.masks % IGNORE_INDEX).float() + 0.3 * noise).unsqueeze(1)

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        return {"image": self.images[index], "mask": self.masks[index]}


def dice_loss(logits: Tensor, target: Tensor, eps: float = 1e-6) -> Tensor:
    valid = target != IGNORE_INDEX
    one_hot = F.one_hot(target * valid, NUM_CLASSES).permute(0, 3, 1, 2).float() * valid.unsqueeze(1)
    probs = F.softmax(logits, dim=1).float() * valid.unsqueeze(1)
    inter = 2 * (probs * one_hot).sum(dim=(0, 2, 3))
    sets_sum = (probs + one_hot).sum(dim=(0, 2, 3))
    return 1 - ((inter + eps) / (sets_sum + eps)).mean()


def confusion(pred: Tensor, target: Tensor) -> Tensor:
    keep = (target >= 0) & (target < NUM_CLASSES)
    indices = NUM_CLASSES * target[keep] + pred[keep]
    return torch.bincount(indices, minlength=NUM_CLASSES**2).reshape(NUM_CLASSES, NUM_CLASSES)


@torch.no_grad()
def evaluate(net: UNet, loader: DataLoader, device: torch.device, amp: bool) -> float:
    net.eval()
    matrix = torch.zeros(NUM_CLASSES, NUM_CLASSES, device=device)
    for batch in loader:
        image = batch["image"].to(device=device, dtype=torch.float32)
        mask_true = batch["mask"].to(device=device, dtype=torch.long)
        with torch.autocast(device.type if device.type != "mps" else "cpu", enabled=amp):
            mask_pred = net(image).argmax(dim=1)
        matrix += confusion(mask_pred.flatten(), mask_true.flatten())
    net.train()
    intersection = matrix.diag()
    union = matrix.sum(0) + matrix.sum(1) - intersection
    return (intersection / union.clamp(min=1)).mean().item()


def train_model(net: UNet, device: torch.device, args: argparse.Namespace) -> None:
    train_set, val_set = random_split(Shapes(40), [32, 8], generator=torch.Generator().manual_seed(0))
    loader_args = {"batch_size": args.batch_size, "pin_memory": torch.cuda.is_available()}
    train_loader = DataLoader(train_set, shuffle=True, **loader_args)
    val_loader = DataLoader(val_set, shuffle=False, drop_last=True, **loader_args)

    optimizer = torch.optim.RMSprop(
        net.parameters(), lr=args.lr, weight_decay=1e-8, momentum=0.9, foreach=True
    )
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "max", patience=5)
    grad_scaler = torch.amp.GradScaler(device.type, enabled=args.amp)
    criterion = nn.CrossEntropyLoss(ignore_index=IGNORE_INDEX)

    for epoch in range(1, args.epochs + 1):
        epoch_loss = 0.0
        for batch in train_loader:
            images, true_masks = batch["image"], batch["mask"]
            assert images.shape[1] == 1, f"expected grey images, got {images.shape[1]} channels"
            images = images.to(device=device, dtype=torch.float32, memory_format=torch.channels_last)
            true_masks = true_masks.to(device=device, dtype=torch.long)

            with torch.autocast(device.type if device.type != "mps" else "cpu", enabled=args.amp):
                masks_pred = net(images)
                loss = criterion(masks_pred, true_masks)
                loss += dice_loss(masks_pred, true_masks)

            optimizer.zero_grad(set_to_none=True)
            grad_scaler.scale(loss).backward()
            grad_scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            grad_scaler.step(optimizer)
            grad_scaler.update()
            epoch_loss += loss.item()

        miou = evaluate(net, val_loader, device, args.amp)
        scheduler.step(miou)
        logging.info("epoch %d: loss %.4f, mIoU %.4f", epoch, epoch_loss / len(train_loader), miou)
        torch.save(net.state_dict(), Path(args.checkpoints) / f"checkpoint_epoch{epoch}.pth")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--amp", action="store_true")
    args = parser.parse_args()

    logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s")
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    logging.info("Using device %s", device)
    net = UNet().to(memory_format=torch.channels_last)
    net.to(device=device)
    with tempfile.TemporaryDirectory() as folder:
        args.checkpoints = folder
        train_model(net, device, args)


if __name__ == "__main__":
    main()

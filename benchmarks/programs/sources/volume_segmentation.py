"""Train a small 3D U-Net on synthetic CT-like volumes; validate by sliding window inference."""

from __future__ import annotations

import itertools
import logging
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger("seg3d")


@dataclass(frozen=True)
class Config:
    num_classes: int = 3
    roi: tuple[int, int, int] = (12, 12, 12)
    overlap: float = 0.5
    sw_batch_size: int = 4
    batch_size: int = 2
    crops_per_volume: int = 2
    max_epochs: int = 4
    val_interval: int = 2
    patience: int = 3
    lr: float = 2e-3
    weight_decay: float = 1e-5
    grad_clip: float = 12.0
    seed: int = 42


class Phantoms(Dataset):
    """Volumes of different depths: an ellipsoid organ (1) that may hold a spherical lesion (2)."""

    def __init__(self, count: int, seed: int):
        rng = np.random.default_rng(seed)
        self.cases = [self._draw(rng, (int(rng.integers(14, 17)), 16, 16)) for _ in range(count)]

    @staticmethod
    def _draw(rng: np.random.Generator, shape: Sequence[int]) -> dict[str, Tensor]:
        grid = np.stack(np.meshgrid(*(np.arange(s) for s in shape), indexing="ij")).astype(np.float32)
        centre = np.array(shape, dtype=np.float32)[:, None, None, None] / 2 + rng.normal(0, 1, (3, 1, 1, 1))
        label = (((grid - centre) / rng.uniform(4, 6, (3, 1, 1, 1))) ** 2).sum(0) < 1
        label = label.astype(np.int64)
        if rng.random() < 0.7:
            label[(((grid - centre - 1.5) / 2.5) ** 2).sum(0) < 1] = 2
        image = 100.0 * label + rng.normal(0, 40, label.shape)
        return {"image": torch.from_numpy(image[None]).float(), "label": torch.from_numpy(label[None])}

    def __len__(self) -> int:
        return len(self.cases)

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        return self.cases[index]


def normalise(image: Tensor) -> Tensor:
    """Z-score over the body, as the acquisition leaves a background of zeros."""
    body = image[image > image.mean()]
    return (image - body.mean()) / body.std().clamp(min=1e-5)


def random_crop(item: dict[str, Tensor], size: Sequence[int], pos: float = 0.67) -> dict[str, Tensor]:
    """Centred on foreground with a probability of `pos`."""
    foreground = (item["label"][0] > 0).nonzero()
    shape = item["label"].shape[1:]
    if len(foreground) and torch.rand(()).item() < pos:
        centre = foreground[torch.randint(len(foreground), ()).item()].tolist()
    else:
        centre = [int(torch.randint(s, ())) for s in shape]
    corner = [min(max(c - s // 2, 0), full - s) for c, s, full in zip(centre, size, shape, strict=True)]
    where = [slice(c, c + s) for c, s in zip(corner, size, strict=True)]
    return {key: value[(slice(None), *where)] for key, value in item.items()}


def collate_crops(items: list[dict[str, Tensor]], size: Sequence[int], num: int) -> dict[str, Tensor]:
    items = [{**item, "image": normalise(item["image"])} for item in items]
    crops = [random_crop(item, size) for item in items for _ in range(num)]
    return {key: torch.stack([crop[key] for crop in crops]) for key in crops[0]}


class ConvBlock(nn.Sequential):
    def __init__(self, cin: int, cout: int):
        super().__init__(
            nn.Conv3d(cin, cout, 3, padding=1, bias=False),
            nn.InstanceNorm3d(cout, affine=True),
            nn.LeakyReLU(0.01, inplace=True),
        )


class UNet3D(nn.Module):
    def __init__(self, num_classes: int, widths: Sequence[int] = (4, 8)):
        super().__init__()
        self.down = nn.ModuleList(ConvBlock(i, o) for i, o in itertools.pairwise((1, *widths)))
        self.up = nn.ModuleList(ConvBlock(i + o, o) for i, o in itertools.pairwise(reversed(widths)))
        self.head = nn.Conv3d(widths[0], num_classes, 1)

    def forward(self, x: Tensor) -> Tensor:
        skips = []
        for i, block in enumerate(self.down):
            x = block(x if i == 0 else F.max_pool3d(x, 2))
            skips.append(x)
        skips.pop()
        for block in self.up:
            skip = skips.pop()
            x = F.interpolate(x, size=skip.shape[2:], mode="trilinear", align_corners=False)
            x = block(torch.cat([x, skip], dim=1))
        return self.head(x)


class DiceCELoss(nn.Module):
    def __init__(self, num_classes: int, smooth: float = 1e-5):
        super().__init__()
        self.num_classes, self.smooth = num_classes, smooth
        self.register_buffer("class_weight", torch.tensor([0.5, 1.0, 2.0]))

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        logits = logits.float()
        ce = F.cross_entropy(logits, target[:, 0], weight=self.class_weight)
        onehot = F.one_hot(target[:, 0], self.num_classes).movedim(-1, 1).float()
        probs = logits.softmax(1)
        axes = (2, 3, 4)
        inter = (probs * onehot).sum(axes)
        dice = (2 * inter + self.smooth) / (probs.sum(axes) + onehot.sum(axes) + self.smooth)
        return ce + 1 - dice[:, 1:].mean()


class DiceMetric:
    """Mean Dice over cases, ignoring classes that a case does not have."""

    def __init__(self, num_classes: int):
        self.num_classes = num_classes
        self.buffer: list[Tensor] = []

    def __call__(self, pred: Tensor, target: Tensor) -> None:
        scores = torch.full((self.num_classes - 1,), float("nan"), device=pred.device)
        for c in range(1, self.num_classes):
            p, t = pred == c, target == c
            if t.any():
                scores[c - 1] = 2 * (p & t).sum() / (p.sum() + t.sum())
        self.buffer.append(scores)

    def aggregate(self) -> list[float]:
        scores = torch.stack(self.buffer).nanmean(dim=0).cpu().tolist()
        self.buffer.clear()
        return scores


def gaussian_map(size: Sequence[int], device: torch.device, sigma: float = 0.125) -> Tensor:
    out = torch.ones(1, device=device)
    for s in size:
        x = torch.arange(s, device=device) - (s - 1) / 2
        out = out[..., None] * torch.exp(-(x**2) / (2 * (s * sigma) ** 2))
    return out[0].clamp(min=1e-3)


def windows(shape: Sequence[int], roi: Sequence[int], overlap: float) -> Iterator[tuple[slice, ...]]:
    starts = []
    for full, size in zip(shape, roi, strict=True):
        step = max(int(size * (1 - overlap)), 1)
        starts.append(sorted({min(s, full - size) for s in range(0, full - size + step, step)}))
    for corner in itertools.product(*starts):
        yield tuple(slice(c, c + size) for c, size in zip(corner, roi, strict=True))


@torch.no_grad()
def sliding_window_inference(image: Tensor, model: nn.Module, cfg: Config) -> Tensor:
    importance = gaussian_map(cfg.roi, image.device)
    todo = list(windows(image.shape[2:], cfg.roi, cfg.overlap))
    output = torch.zeros((cfg.num_classes, *image.shape[2:]), device=image.device)
    weight = torch.zeros_like(output[:1])
    for start in range(0, len(todo), cfg.sw_batch_size):
        group = todo[start : start + cfg.sw_batch_size]
        logits = model(torch.cat([image[(..., *w)] for w in group]))
        for w, prediction in zip(group, logits.float(), strict=True):
            output[(slice(None), *w)] += prediction * importance
            weight[(slice(None), *w)] += importance
    return output / weight


def main(cfg: Config) -> None:
    torch.manual_seed(cfg.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    amp = device.type == "cuda"
    collate = partial(collate_crops, size=cfg.roi, num=cfg.crops_per_volume)
    train = DataLoader(Phantoms(4, 1), cfg.batch_size, shuffle=True, collate_fn=collate, pin_memory=amp)
    val = DataLoader(Phantoms(2, 2), batch_size=1)
    model = UNet3D(cfg.num_classes).to(device)
    criterion = DiceCELoss(cfg.num_classes).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), cfg.lr, weight_decay=cfg.weight_decay)
    scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, cfg.max_epochs, power=0.9)
    scaler = torch.amp.GradScaler(device.type, enabled=amp)
    metric = DiceMetric(cfg.num_classes)
    best, best_epoch = -1.0, -1
    checkpoint = Path(tempfile.mkdtemp()) / "best.pt"

    for epoch in range(cfg.max_epochs):
        running = 0.0
        model.train()
        for step, batch in enumerate(train, 1):
            image = batch["image"].to(device, non_blocking=True)
            label = batch["label"].to(device, non_blocking=True)
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(device.type, enabled=amp):
                loss = criterion(model(image), label)
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(model.parameters(), cfg.grad_clip)
            scaler.step(optimizer)
            scaler.update()
            running += loss.item()
            log.debug("step %d loss %.4f norm %.2f", step, loss, norm)
        scheduler.step()
        log.info("epoch %d loss %.4f", epoch, running / len(train))
        if (epoch + 1) % cfg.val_interval:
            continue
        model.eval()
        for case in val:
            logits = sliding_window_inference(normalise(case["image"].to(device)), model, cfg)
            metric(logits.argmax(0), case["label"][0, 0].to(device))
        scores = metric.aggregate()
        mean = float(np.nanmean(scores))
        log.info("epoch %d dice %s mean %.4f", epoch, [round(s, 3) for s in scores], mean)
        if mean > best:
            best, best_epoch = mean, epoch
            torch.save({"model": model.state_dict(), "epoch": epoch, "dice": mean}, checkpoint)
        elif epoch - best_epoch >= cfg.patience:
            log.info("early stop")
            break
    model.load_state_dict(torch.load(checkpoint, map_location=device)["model"])
    log.info("best %.4f at epoch %d", best, best_epoch)


if __name__ == "__main__":
    main(Config())

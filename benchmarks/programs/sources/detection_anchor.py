"""A single-shot detector: anchors, matching, hard negative mining and non-maximum suppression."""

from __future__ import annotations

import argparse
import itertools

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

NUM_CLASSES = 3  # with the background as class 0
IMAGE_SIZE = 32


class Rectangles(Dataset):
    """One to three coloured rectangles; the colour tells the class."""

    def __init__(self, count: int, seed: int) -> None:
        self.count, self.seed = count, seed

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor, Tensor]:
        generator = torch.Generator().manual_seed(self.seed + index)
        number = int(torch.randint(1, 4, (1,), generator=generator))
        image = 0.1 * torch.randn(3, IMAGE_SIZE, IMAGE_SIZE, generator=generator)
        corners = torch.randint(0, 18, (number, 2), generator=generator)
        sizes = torch.randint(8, 14, (number, 2), generator=generator)
        boxes = torch.cat((corners, corners + sizes), dim=1)
        labels = torch.randint(1, NUM_CLASSES, (number,), generator=generator)
        for (x1, y1, x2, y2), label in zip(boxes.tolist(), labels.tolist(), strict=True):
            image[label, y1:y2, x1:x2] += 1.0
        return image, boxes.float() / IMAGE_SIZE, labels


def detection_collate(batch):
    images, boxes, labels = zip(*batch, strict=True)
    return torch.stack(images), list(boxes), list(labels)


class TinySSD(nn.Module):
    def __init__(self, anchors_per_cell: int) -> None:
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.ReLU(), nn.MaxPool2d(2)
        )
        self.loc = nn.Conv2d(16, anchors_per_cell * 4, 3, padding=1)
        self.conf = nn.Conv2d(16, anchors_per_cell * NUM_CLASSES, 3, padding=1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        features = self.backbone(x)
        loc = self.loc(features).permute(0, 2, 3, 1).contiguous()
        conf = self.conf(features).permute(0, 2, 3, 1).contiguous()
        return loc.view(x.size(0), -1, 4), conf.view(x.size(0), -1, NUM_CLASSES)


def make_anchors(cells: int = 4, scales: tuple[float, ...] = (0.3, 0.45)) -> Tensor:
    """(cx, cy, w, h) for each cell and scale."""
    centres = [(i + 0.5) / cells for i in range(cells)]
    rows = [(cx, cy, s, s) for cy, cx, s in itertools.product(centres, centres, scales)]
    return torch.tensor(rows)


def to_corners(boxes: Tensor) -> Tensor:
    return torch.cat((boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2), dim=1)


def box_iou(a: Tensor, b: Tensor) -> Tensor:
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:], b[None, :, 2:])
    inter = (rb - lt).clamp(min=0).prod(dim=2)
    area_a = (a[:, 2:] - a[:, :2]).prod(dim=1)
    area_b = (b[:, 2:] - b[:, :2]).prod(dim=1)
    return inter / (area_a[:, None] + area_b[None, :] - inter)


def encode(matched: Tensor, anchors: Tensor, variances: tuple[float, float] = (0.1, 0.2)) -> Tensor:
    g_cxcy = (matched[:, :2] + matched[:, 2:]) / 2 - anchors[:, :2]
    g_wh = (matched[:, 2:] - matched[:, :2]) / anchors[:, 2:]
    return torch.cat((g_cxcy / (variances[0] * anchors[:, 2:]), torch.log(g_wh) / variances[1]), dim=1)


def decode(loc: Tensor, anchors: Tensor, variances: tuple[float, float] = (0.1, 0.2)) -> Tensor:
    centres = anchors[:, :2] + loc[:, :2] * variances[0] * anchors[:, 2:]
    sizes = anchors[:, 2:] * torch.exp(loc[:, 2:] * variances[1])
    return to_corners(torch.cat((centres, sizes), dim=1))


def match(boxes: Tensor, labels: Tensor, anchors: Tensor, threshold: float) -> tuple[Tensor, Tensor]:
    """The box targets and class targets of all anchors of one image."""
    overlaps = box_iou(boxes, to_corners(anchors))
    best_truth_overlap, best_truth_idx = overlaps.max(0)
    best_prior_idx = overlaps.argmax(1)
    best_truth_overlap.index_fill_(0, best_prior_idx, 2)
    for j in range(best_prior_idx.size(0)):
        best_truth_idx[best_prior_idx[j]] = j
    conf = labels[best_truth_idx]
    conf[best_truth_overlap < threshold] = 0
    return encode(boxes[best_truth_idx], anchors), conf


class MultiBoxLoss(nn.Module):
    def __init__(self, anchors: Tensor, threshold: float = 0.4, neg_pos_ratio: int = 3) -> None:
        super().__init__()
        self.register_buffer("anchors", anchors)
        self.threshold, self.neg_pos_ratio = threshold, neg_pos_ratio

    def forward(self, predictions: tuple[Tensor, Tensor], boxes: list[Tensor], labels: list[Tensor]):
        loc_data, conf_data = predictions
        with torch.no_grad():
            targets = [match(b, y, self.anchors, self.threshold) for b, y in zip(boxes, labels, strict=True)]
        loc_t = torch.stack([loc for loc, _ in targets])
        conf_t = torch.stack([conf for _, conf in targets])

        pos = conf_t > 0
        loss_l = F.smooth_l1_loss(loc_data[pos], loc_t[pos], reduction="sum")

        loss_c = F.cross_entropy(conf_data.transpose(1, 2), conf_t, reduction="none")
        ranked = loss_c.detach().masked_fill(pos, 0).sort(1, descending=True)[1]
        rank = ranked.sort(1)[1]
        num_neg = (self.neg_pos_ratio * pos.sum(1, keepdim=True)).clamp(max=pos.size(1) - 1)
        neg = rank < num_neg
        loss_c = loss_c[pos | neg].sum()

        N = pos.sum()
        return loss_l / N, loss_c / N


def nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0:
        best = order[0]
        keep.append(best)
        if order.numel() == 1:
            break
        ious = box_iou(boxes[best].unsqueeze(0), boxes[order[1:]]).squeeze(0)
        order = order[1:][ious <= iou_threshold]
    return torch.stack(keep) if keep else order


@torch.no_grad()
def detect(model: TinySSD, image: Tensor, anchors: Tensor, min_score: float, iou_threshold: float):
    model.eval()
    loc, conf = model(image.unsqueeze(0))
    boxes, scores = decode(loc[0], anchors), conf[0].softmax(-1)
    detections = []
    for label in range(1, NUM_CLASSES):
        mask = scores[:, label] > min_score
        if mask.sum() == 0:
            continue
        kept = nms(boxes[mask], scores[mask, label], iou_threshold)
        for i in kept[:2]:
            detections.append((label, scores[mask, label][i].item(), boxes[mask][i].tolist()))
    return detections


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--lr", type=float, default=2e-2)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    anchors = make_anchors().to(device)
    model = TinySSD(anchors_per_cell=2).to(device)
    criterion = MultiBoxLoss(anchors)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
    dataset = Rectangles(args.steps * args.batch_size, seed=100)
    loader = DataLoader(dataset, args.batch_size, shuffle=True, collate_fn=detection_collate)

    model.train()
    for step, (images, boxes, labels) in enumerate(loader):
        images = images.to(device)
        boxes = [box.to(device) for box in boxes]
        labels = [label.to(device) for label in labels]
        loss_l, loss_c = criterion(model(images), boxes, labels)
        loss = loss_l + loss_c
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 2 == 0:
            print(f"step {step}: loc {loss_l.item():.4f} conf {loss_c.item():.4f}")

    image, boxes, labels = dataset[0]
    print("truth", labels.tolist(), boxes.tolist())
    for label, score, box in detect(model, image.to(device), anchors, 0.3, iou_threshold=0.3):
        print(f"class {label} score {score:.3f} box", [round(value, 2) for value in box])


if __name__ == "__main__":
    main()

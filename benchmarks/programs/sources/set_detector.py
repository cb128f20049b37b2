# Toy DETR on coloured rectangles. Loosely follows the structure of the public DETR code.
import argparse
import math
import time
from collections import defaultdict, deque

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

try:
    from scipy.optimize import linear_sum_assignment
except ImportError:
    def linear_sum_assignment(cost):  # cluster image without scipy: greedy matching is good enough for the toy
        cost, rows, cols = cost.numpy().copy(), [], []
        for _ in range(min(cost.shape)):
            r, c = np.unravel_index(cost.argmin(), cost.shape)
            rows.append(r), cols.append(c)
            cost[r, :] = cost[:, c] = np.inf
        order = np.argsort(rows)
        return np.array(rows)[order], np.array(cols)[order]


def get_args_parser():
    parser = argparse.ArgumentParser('Set detector', add_help=False)
    parser.add_argument('--lr', default=1e-3, type=float)
    parser.add_argument('--lr_backbone', default=5e-4, type=float)
    parser.add_argument('--batch_size', default=4, type=int)
    parser.add_argument('--epochs', default=2, type=int)
    parser.add_argument('--images', default=32, type=int)
    parser.add_argument('--hidden_dim', default=48, type=int)
    parser.add_argument('--num_queries', default=12, type=int)
    parser.add_argument('--num_classes', default=3, type=int)
    parser.add_argument('--no_aux_loss', dest='aux_loss', action='store_false')
    parser.add_argument('--device', default='cuda')
    return parser


def box_cxcywh_to_xyxy(x):
    xc, yc, w, h = x.unbind(-1)
    return torch.stack([xc - 0.5 * w, yc - 0.5 * h, xc + 0.5 * w, yc + 0.5 * h], dim=-1)


def generalized_box_iou(a, b):
    assert (a[:, 2:] >= a[:, :2]).all()
    assert (b[:, 2:] >= b[:, :2]).all()
    area = lambda t: (t[..., 2] - t[..., 0]) * (t[..., 3] - t[..., 1])
    lt, rb = torch.max(a[:, None, :2], b[:, :2]), torch.min(a[:, None, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    union = area(a)[:, None] + area(b) - inter
    lt, rb = torch.min(a[:, None, :2], b[:, :2]), torch.max(a[:, None, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    hull = wh[..., 0] * wh[..., 1]
    return inter / union - (hull - union) / hull


def make_dataset(n, num_classes, size=48, seed=0):
    rng = np.random.RandomState(seed)
    out = []
    for _ in range(n):
        img = rng.randn(3, size, size).astype(np.float32) * 0.1
        labels, boxes = [], []
        for _ in range(rng.randint(1, 5)):
            w, h = rng.uniform(0.15, 0.5, 2)
            cx, cy = rng.uniform(w / 2, 1 - w / 2), rng.uniform(h / 2, 1 - h / 2)
            c = rng.randint(num_classes)
            x0, x1, y0, y1 = [int(v * size) for v in (cx - w / 2, cx + w / 2, cy - h / 2, cy + h / 2)]
            img[c, y0:y1, x0:x1] += 1
            labels.append(c), boxes.append([cx, cy, w, h])
        out.append((torch.from_numpy(img), {'labels': torch.tensor(labels), 'boxes': torch.tensor(boxes).float()}))
    return out


def collate_fn(batch):
    imgs, targets = zip(*batch)
    return torch.stack(imgs), list(targets)


class Detr(nn.Module):
    def __init__(self, args, feat=6):
        super().__init__()
        d = args.hidden_dim
        self.backbone = nn.Sequential(
            nn.Conv2d(3, 16, 3, 2, 1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU(),
            nn.Conv2d(32, d, 3, 2, 1))
        self.pos = nn.Parameter(torch.randn(1, feat * feat, d) * 0.1)
        self.encoder = nn.TransformerEncoderLayer(d, 4, 96, dropout=0.1, batch_first=True)
        self.decoder = nn.ModuleList(nn.TransformerDecoderLayer(d, 4, 96, dropout=0.1, batch_first=True) for _ in range(2))
        self.query_embed = nn.Embedding(args.num_queries, d)
        self.class_embed = nn.Linear(d, args.num_classes + 1)
        self.bbox_embed = nn.Sequential(nn.Linear(d, d), nn.ReLU(), nn.Linear(d, d), nn.ReLU(), nn.Linear(d, 4))
        self.aux_loss = args.aux_loss

    def forward(self, x):
        mem = self.encoder(self.backbone(x).flatten(2).transpose(1, 2) + self.pos)
        h = self.query_embed.weight.unsqueeze(0).repeat(x.shape[0], 1, 1)
        outs = []
        for layer in self.decoder:
            h = layer(h, mem)
            outs.append({'pred_logits': self.class_embed(h), 'pred_boxes': self.bbox_embed(h).sigmoid()})
        out = outs[-1]
        if self.aux_loss:
            out['aux_outputs'] = outs[:-1]
        return out


class HungarianMatcher(nn.Module):
    @torch.no_grad()
    def forward(self, outputs, targets):
        bs, nq = outputs['pred_logits'].shape[:2]
        prob = outputs['pred_logits'].flatten(0, 1).softmax(-1)
        box = outputs['pred_boxes'].flatten(0, 1)
        ids, tb = torch.cat([t['labels'] for t in targets]), torch.cat([t['boxes'] for t in targets])
        C = 5 * torch.cdist(box, tb, p=1) - prob[:, ids] \
            - 2 * generalized_box_iou(box_cxcywh_to_xyxy(box), box_cxcywh_to_xyxy(tb))
        C = C.view(bs, nq, -1).cpu()
        sizes = [len(t['boxes']) for t in targets]
        ind = [linear_sum_assignment(c[i]) for i, c in enumerate(C.split(sizes, -1))]
        return [(torch.as_tensor(i, dtype=torch.int64), torch.as_tensor(j, dtype=torch.int64)) for i, j in ind]


class SetCriterion(nn.Module):
    def __init__(self, num_classes, eos_coef=0.1):
        super().__init__()
        self.num_classes, self.matcher = num_classes, HungarianMatcher()
        self.weight_dict = {'loss_ce': 1, 'loss_bbox': 5, 'loss_giou': 2}
        w = torch.ones(num_classes + 1)
        w[-1] = eos_coef
        self.register_buffer('empty_weight', w)

    def single(self, outputs, targets, num_boxes):
        indices = self.matcher(outputs, targets)
        idx = (torch.cat([torch.full_like(s, i) for i, (s, _) in enumerate(indices)]), torch.cat([s for s, _ in indices]))
        logits = outputs['pred_logits']
        tc_o = torch.cat([t['labels'][j] for t, (_, j) in zip(targets, indices)])
        tc = torch.full(logits.shape[:2], self.num_classes, dtype=torch.int64, device=logits.device)
        tc[idx] = tc_o
        src, tgt = outputs['pred_boxes'][idx], torch.cat([t['boxes'][j] for t, (_, j) in zip(targets, indices)])
        giou = torch.diag(generalized_box_iou(box_cxcywh_to_xyxy(src), box_cxcywh_to_xyxy(tgt)))
        return {'loss_ce': F.cross_entropy(logits.transpose(1, 2), tc, self.empty_weight),
                'loss_bbox': F.l1_loss(src, tgt, reduction='none').sum() / num_boxes,
                'loss_giou': (1 - giou).sum() / num_boxes,
                'class_error': 100 - (logits[idx].argmax(-1) == tc_o).float().mean() * 100}

    def forward(self, outputs, targets):
        num_boxes = sum(len(t['labels']) for t in targets)
        num_boxes = torch.as_tensor([num_boxes], dtype=torch.float, device=outputs['pred_logits'].device)
        num_boxes = torch.clamp(num_boxes, min=1).item()
        losses = self.single(outputs, targets, num_boxes)
        for i, aux in enumerate(outputs.get('aux_outputs', [])):
            losses.update({f'{k}_{i}': v for k, v in self.single(aux, targets, num_boxes).items() if k in self.weight_dict})
        return losses


def train_one_epoch(model, criterion, loader, optimizer, device, epoch, max_norm=0.1):
    model.train()
    meters = defaultdict(lambda: deque(maxlen=20))
    for it, (samples, targets) in enumerate(loader):
        targets = [{k: v.to(device) for k, v in t.items()} for t in targets]
        loss_dict = criterion(model(samples.to(device)), targets)
        wd = criterion.weight_dict
        losses = sum(v * wd['_'.join(k.split('_')[:2])] for k, v in loss_dict.items() if k.startswith('loss'))
        loss_value = losses.item()
        if not math.isfinite(loss_value):
            print("Loss is {}, stopping training".format(loss_value))
            exit(1)
        optimizer.zero_grad()
        losses.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        optimizer.step()
        meters['loss'].append(loss_value)
        for k in ('class_error', 'loss_ce', 'loss_bbox', 'loss_giou'):
            meters[k].append(loss_dict[k].item())
        if it % 2 == 0:
            print(f'Epoch: [{epoch}] [{it}/{len(loader)}] ' + '  '.join(f'{k}: {v[-1]:.4f} ({np.mean(v):.4f})' for k, v in meters.items()))


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    hits = total = 0
    for samples, targets in loader:
        out = model(samples.to(device))
        scores, labels = out['pred_logits'].softmax(-1)[..., :-1].max(-1)
        boxes = box_cxcywh_to_xyxy(out['pred_boxes'])
        for s, l, b, t in zip(scores, labels, boxes, targets):
            keep = s > 0.3
            total += len(t['boxes'])
            if keep.sum() == 0:
                continue
            g = generalized_box_iou(box_cxcywh_to_xyxy(t['boxes'].to(device)), b[keep])
            hits += (g.max(1)[0] > 0.3).sum().item()
    print(f'eval: recall {hits}/{total}')


def main(args):
    device = torch.device(args.device)
    torch.manual_seed(42)
    model = Detr(args).to(device)
    criterion = SetCriterion(args.num_classes).to(device)
    print('number of params:', sum(p.numel() for p in model.parameters() if p.requires_grad))
    groups = [{'params': [p for n, p in model.named_parameters() if 'backbone' not in n]},
              {'params': [p for n, p in model.named_parameters() if 'backbone' in n], 'lr': args.lr_backbone}]
    optimizer = torch.optim.AdamW(groups, lr=args.lr, weight_decay=1e-4)
    lr_scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    mk = lambda n, seed, sh: torch.utils.data.DataLoader(make_dataset(n, args.num_classes, seed=seed), args.batch_size,
                                                         shuffle=sh, collate_fn=collate_fn)
    train, val = mk(args.images, 0, True), mk(8, 1, False)
    start = time.time()
    for epoch in range(args.epochs):
        train_one_epoch(model, criterion, train, optimizer, device, epoch)
        lr_scheduler.step()
        evaluate(model, val, device)
    print('Training time {:.1f}s'.format(time.time() - start))


if __name__ == '__main__':
    main(argparse.ArgumentParser(parents=[get_args_parser()]).parse_args())

"""A vision transformer with stochastic depth, mixup and a warm-up cosine schedule."""

from __future__ import annotations

import argparse
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class DropPath(nn.Module):
    """Drops whole residual branches, per sample."""

    def __init__(self, drop_prob: float) -> None:
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x: Tensor) -> Tensor:
        if self.drop_prob == 0.0 or not self.training:
            return x
        keep_prob = 1 - self.drop_prob
        shape = (x.shape[0],) + (1,) * (x.ndim - 1)
        random_tensor = x.new_empty(shape).bernoulli_(keep_prob)
        if keep_prob > 0.0:
            random_tensor.div_(keep_prob)
        return x * random_tensor


class Attention(nn.Module):
    def __init__(self, dim: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x: Tensor) -> Tensor:
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        x = F.scaled_dot_product_attention(q, k, v)
        return self.proj(x.transpose(1, 2).reshape(B, N, C))


class Block(nn.Module):
    def __init__(self, dim: int, num_heads: int, drop_path: float) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(dim, eps=1e-6)
        self.attn = Attention(dim, num_heads)
        self.norm2 = nn.LayerNorm(dim, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.drop_path = DropPath(drop_path)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.drop_path(self.attn(self.norm1(x)))
        return x + self.drop_path(self.mlp(self.norm2(x)))


class VisionTransformer(nn.Module):
    def __init__(
        self,
        image: int = 16,
        patch: int = 4,
        dim: int = 32,
        depth: int = 2,
        heads: int = 4,
        classes: int = 10,
    ) -> None:
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, kernel_size=patch, stride=patch)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, (image // patch) ** 2 + 1, dim))
        rates = [x.item() for x in torch.linspace(0, 0.1, depth)]
        self.blocks = nn.ModuleList(Block(dim, heads, rate) for rate in rates)
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.head = nn.Linear(dim, classes)
        nn.init.trunc_normal_(self.pos_embed, std=0.02)
        nn.init.trunc_normal_(self.cls_token, std=0.02)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch_embed(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1)
        x = x + self.pos_embed
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


def mixup(x: Tensor, y: Tensor, alpha: float, classes: int) -> tuple[Tensor, Tensor]:
    lam = np.random.beta(alpha, alpha)
    index = torch.randperm(x.size(0), device=x.device)
    mixed = lam * x + (1 - lam) * x[index]
    target = F.one_hot(y, classes).float()
    return mixed, lam * target + (1 - lam) * target[index]


def soft_target_loss(logits: Tensor, target: Tensor) -> Tensor:
    return torch.sum(-target * F.log_softmax(logits, dim=-1), dim=-1).mean()


def adjust_learning_rate(optimizer: torch.optim.Optimizer, step: int, args: argparse.Namespace) -> float:
    if step < args.warmup_steps:
        lr = args.lr * (step + 1) / args.warmup_steps
    else:
        progress = (step - args.warmup_steps) / max(1, args.steps - args.warmup_steps)
        lr = args.min_lr + (args.lr - args.min_lr) * 0.5 * (1.0 + math.cos(math.pi * progress))
    for group in optimizer.param_groups:
        group["lr"] = lr
    return lr


def param_groups(model: nn.Module, weight_decay: float) -> list[dict]:
    decay, no_decay = [], []
    for name, param in model.named_parameters():
        (no_decay if param.ndim <= 1 or name in ("pos_embed", "cls_token") else decay).append(param)
    return [{"params": decay, "weight_decay": weight_decay}, {"params": no_decay, "weight_decay": 0.0}]


def synthetic_batches(steps: int, batch_size: int, seed: int = 0):
    generator = torch.Generator().manual_seed(seed)
    prototypes = torch.randn(10, 3, 16, 16, generator=generator)
    for _ in range(steps):
        labels = torch.randint(0, 10, (batch_size,), generator=generator)
        yield prototypes[labels] + torch.randn(batch_size, 3, 16, 16, generator=generator), labels


@torch.inference_mode()
def evaluate(model: nn.Module, device: str, batch_size: int) -> float:
    model.eval()
    correct = total = 0
    for images, labels in synthetic_batches(3, batch_size, seed=1):
        predictions = model(images.to(device)).argmax(dim=-1)
        correct += (predictions.cpu() == labels).sum().item()
        total += labels.numel()
    return correct / total


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--min-lr", type=float, default=1e-5)
    parser.add_argument("--warmup-steps", type=int, default=3)
    parser.add_argument("--weight-decay", type=float, default=0.05)
    parser.add_argument("--mixup", type=float, default=0.8)
    parser.add_argument("--clip-grad", type=float, default=1.0)
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    torch.manual_seed(0)
    np.random.seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = VisionTransformer().to(device)
    optimizer = torch.optim.AdamW(param_groups(model, args.weight_decay), lr=args.lr, betas=(0.9, 0.95))

    model.train()
    for step, (images, labels) in enumerate(synthetic_batches(args.steps, args.batch_size)):
        lr = adjust_learning_rate(optimizer, step, args)
        images, labels = images.to(device), labels.to(device)
        images, targets = mixup(images, labels, args.mixup, classes=10)

        with torch.autocast(device_type=device, dtype=torch.bfloat16):
            loss = soft_target_loss(model(images), targets)
        loss_value = loss.item()
        if not math.isfinite(loss_value):
            raise SystemExit(f"Loss is {loss_value}, stopping training")

        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip_grad)
        optimizer.step()
        if step % 4 == 0 or step == args.steps - 1:
            print(f"step {step:3d}  loss {loss_value:.4f}  lr {lr:.2e}")

    print(f"accuracy {evaluate(model, device, args.batch_size):.3f}")


if __name__ == "__main__":
    main()

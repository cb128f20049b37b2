"""A GPT on random text: gradient accumulation, periodic evaluation, checkpoint with resume state."""

from __future__ import annotations

import argparse
import inspect
import math
import tempfile
import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn as nn
from torch import Tensor
from torch.nn import functional as F


@dataclass
class GPTConfig:
    block_size: int = 32
    vocab_size: int = 64
    n_layer: int = 2
    n_head: int = 2
    n_embd: int = 32
    dropout: float = 0.1


class CausalSelfAttention(nn.Module):
    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        assert config.n_embd % config.n_head == 0
        self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd)
        self.resid_dropout = nn.Dropout(config.dropout)
        self.n_head, self.n_embd, self.dropout = config.n_head, config.n_embd, config.dropout

    def forward(self, x: Tensor) -> Tensor:
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for t in (q, k, v))
        dropout = self.dropout if self.training else 0
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


class Block(nn.Module):
    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        width = config.n_embd
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = CausalSelfAttention(config)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(config.dropout)
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, config: GPTConfig) -> None:
        super().__init__()
        self.config = config
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(config.block_size, config.n_embd)
        self.drop = nn.Dropout(config.dropout)
        self.h = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.ln_f = nn.LayerNorm(config.n_embd)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.wte.weight = self.lm_head.weight
        self.apply(self._init_weights)

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            torch.nn.init.zeros_(module.bias)

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        device = idx.device
        _, t = idx.size()
        pos = torch.arange(0, t, dtype=torch.long, device=device)
        x = self.drop(self.wte(idx) + self.wpe(pos))
        for block in self.h:
            x = block(x)
        x = self.ln_f(x)
        if targets is None:
            return self.lm_head(x[:, [-1], :]), None
        logits = self.lm_head(x)
        loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
        return logits, loss

    def configure_optimizers(self, weight_decay: float, lr: float, fused: bool) -> torch.optim.Optimizer:
        params = [p for p in self.parameters() if p.requires_grad]
        groups = [
            {"params": [p for p in params if p.dim() >= 2], "weight_decay": weight_decay},
            {"params": [p for p in params if p.dim() < 2], "weight_decay": 0.0},
        ]
        extra = (
            {"fused": True} if fused and "fused" in inspect.signature(torch.optim.AdamW).parameters else {}
        )
        return torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.95), **extra)


class Corpus:
    """A Markov chain, so that there is something to learn."""

    def __init__(self, vocab_size: int, length: int = 4000) -> None:
        rng = np.random.default_rng(1337)
        follow = rng.integers(0, vocab_size, (vocab_size, 4))
        tokens = [0]
        for choice in rng.integers(0, 4, length):
            tokens.append(int(follow[tokens[-1], choice]))
        data = np.array(tokens, dtype=np.uint16)
        self.splits = {"train": data[: length * 9 // 10], "val": data[length * 9 // 10 :]}

    def get_batch(self, split: str, batch_size: int, block_size: int, device: str) -> tuple[Tensor, Tensor]:
        data = self.splits[split]
        ix = torch.randint(len(data) - block_size, (batch_size,))
        x = torch.stack([torch.from_numpy(data[i : i + block_size].astype(np.int64)) for i in ix])
        y = torch.stack([torch.from_numpy(data[i + 1 : i + 1 + block_size].astype(np.int64)) for i in ix])
        if device == "cuda":
            return x.pin_memory().to(device, non_blocking=True), y.pin_memory().to(device, non_blocking=True)
        return x.to(device), y.to(device)


def get_lr(it: int, args: argparse.Namespace) -> float:
    if it < args.warmup_iters:
        return args.lr * (it + 1) / (args.warmup_iters + 1)
    ratio = (it - args.warmup_iters) / max(1, args.steps - args.warmup_iters)
    return args.lr * (0.1 + 0.45 * (1.0 + math.cos(math.pi * ratio)))


@torch.no_grad()
def estimate_loss(model: GPT, corpus: Corpus, ctx, device: str, args: argparse.Namespace) -> dict[str, float]:
    out = {}
    model.eval()
    for split in ("train", "val"):
        losses = torch.zeros(args.eval_iters)
        for k in range(args.eval_iters):
            X, Y = corpus.get_batch(split, args.batch_size, model.config.block_size, device)
            with ctx:
                _, loss = model(X, Y)
            losses[k] = loss.item()
        out[split] = losses.mean().item()
    model.train()
    return out


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--gradient-accumulation-steps", type=int, default=2)
    parser.add_argument("--eval-interval", type=int, default=5)
    parser.add_argument("--eval-iters", type=int, default=2)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--warmup-iters", type=int, default=2)
    parser.add_argument("--fused", action="store_true", help="the fused AdamW kernel")
    parser.add_argument("--compile", action="store_true")
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    torch.manual_seed(1337)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    device = "cuda" if torch.cuda.is_available() else "cpu"
    bf16 = torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    ctx = torch.amp.autocast(device_type=device, dtype=torch.bfloat16) if bf16 else nullcontext()

    config = GPTConfig()
    corpus = Corpus(config.vocab_size)
    model = GPT(config).to(device)
    optimizer = model.configure_optimizers(0.1, args.lr, args.fused)
    if args.compile:
        model = torch.compile(model)

    best_val_loss = 1e9
    checkpoints = Path(tempfile.mkdtemp())
    X, Y = corpus.get_batch("train", args.batch_size, config.block_size, device)
    t0 = time.time()
    for it in range(args.steps):
        lr = get_lr(it, args)
        for group in optimizer.param_groups:
            group["lr"] = lr
        if it % args.eval_interval == 0:
            losses = estimate_loss(model, corpus, ctx, device, args)
            print(f"step {it}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
            if it > 0 and losses["val"] < best_val_loss:
                best_val_loss = losses["val"]
                state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "iter_num": it}
                torch.save({**state, "config": asdict(config)}, checkpoints / "ckpt.pt")

        for _ in range(args.gradient_accumulation_steps):
            with ctx:
                _, loss = model(X, Y)
                loss = loss / args.gradient_accumulation_steps
            X, Y = corpus.get_batch("train", args.batch_size, config.block_size, device)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

        dt, t0 = time.time() - t0, time.time()
        lossf = loss.item() * args.gradient_accumulation_steps
        print(f"iter {it}: loss {lossf:.4f}, time {dt * 1000:.2f}ms")


if __name__ == "__main__":
    main()

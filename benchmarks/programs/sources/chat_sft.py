"""Minimal supervised fine-tuning of a small decoder on synthetic multi-turn chats.

Only assistant tokens contribute to the loss. Sequences are right-padded per batch
to a multiple of ``pad_multiple``.
"""
from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass, field
from typing import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader

PAD, BOS, EOT, SYS, USER, ASST = range(6)
IGNORE_INDEX = -100
Example = tuple[list[int], list[int]]


@dataclass(slots=True)
class ModelConfig:
    vocab_size: int = 160
    dim: int = 64
    n_layers: int = 3
    n_heads: int = 4
    n_kv_heads: int = 2
    ffn_mult: float = 8 / 3
    max_seq_len: int = 256
    rope_theta: float = 10_000.0

    @property
    def head_dim(self) -> int:
        return self.dim // self.n_heads


@dataclass(slots=True)
class TrainConfig:
    seed: int = 1337
    n_train: int = 64
    n_val: int = 12
    micro_batch_size: int = 4
    grad_accum: int = 2
    max_steps: int = 9
    warmup_steps: int = 2
    lr: float = 3e-3
    min_lr_ratio: float = 0.1
    weight_decay: float = 0.1
    clip: float = 1.0
    pad_multiple: int = 8
    eval_every: int = 5
    model: ModelConfig = field(default_factory=ModelConfig)


def make_chats(n: int, vocab: int, rng: random.Random) -> list[Example]:
    """Each chat: <bos> [sys] (user turn, assistant turn)+; the assistant repeats the user reversed."""
    chats: list[Example] = []
    for _ in range(n):
        ids, mask = [BOS], [0]
        if rng.random() < 0.3:
            ids += [SYS, rng.randrange(6, 12), EOT]
            mask += [0, 0, 0]
        for _turn in range(rng.randint(1, 3)):
            msg = [rng.randrange(12, vocab // 4) for _ in range(rng.randint(3, 10))]
            ids += [USER, *msg, EOT]
            mask += [0] * (len(msg) + 2)
            ids += [ASST, *reversed(msg), EOT]
            mask += [0] + [1] * (len(msg) + 1)
        chats.append((ids, mask))
    return chats


def make_collate(pad_multiple: int) -> Callable[[list[Example]], dict[str, Tensor]]:
    def collate(batch: list[Example]) -> dict[str, Tensor]:
        longest = max(len(ids) for ids, _ in batch) - 1
        T = math.ceil(longest / pad_multiple) * pad_multiple
        x = torch.full((len(batch), T), PAD, dtype=torch.long)
        y = torch.full((len(batch), T), IGNORE_INDEX, dtype=torch.long)
        for row, (ids, mask) in enumerate(batch):
            n = len(ids) - 1
            x[row, :n] = torch.tensor(ids[:-1])
            tgt = torch.tensor(ids[1:])
            y[row, :n] = torch.where(torch.tensor(mask[1:]).bool(), tgt, IGNORE_INDEX)
        return {"input_ids": x, "labels": y, "attention_mask": x.ne(PAD)}
    return collate


def apply_rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((x1 * cos - x2 * sin, x2 * cos + x1 * sin), dim=-1)


class Block(nn.Module):
    def __init__(self, cfg: ModelConfig) -> None:
        super().__init__()
        self.cfg = cfg
        hidden = int(cfg.dim * cfg.ffn_mult) // 8 * 8
        self.norm1, self.norm2 = nn.RMSNorm(cfg.dim), nn.RMSNorm(cfg.dim)
        self.wq = nn.Linear(cfg.dim, cfg.n_heads * cfg.head_dim, bias=False)
        self.wkv = nn.Linear(cfg.dim, 2 * cfg.n_kv_heads * cfg.head_dim, bias=False)
        self.wo = nn.Linear(cfg.dim, cfg.dim, bias=False)
        self.w13 = nn.Linear(cfg.dim, 2 * hidden, bias=False)
        self.w2 = nn.Linear(hidden, cfg.dim, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor) -> Tensor:
        B, T, _ = x.shape
        c = self.cfg
        h = self.norm1(x)
        q = self.wq(h).view(B, T, c.n_heads, c.head_dim).transpose(1, 2)
        k, v = self.wkv(h).view(B, T, 2 * c.n_kv_heads, c.head_dim).transpose(1, 2).chunk(2, dim=1)
        q, k = apply_rope(q, cos, sin), apply_rope(k, cos, sin)
        rep = c.n_heads // c.n_kv_heads
        k, v = k.repeat_interleave(rep, dim=1), v.repeat_interleave(rep, dim=1)
        a = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.wo(a.transpose(1, 2).reshape(B, T, -1))
        gate, up = self.w13(self.norm2(x)).chunk(2, dim=-1)
        return x + self.w2(F.silu(gate) * up)


class Decoder(nn.Module):
    def __init__(self, cfg: ModelConfig) -> None:
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab_size, cfg.dim)
        self.blocks = nn.ModuleList(Block(cfg) for _ in range(cfg.n_layers))
        self.norm = nn.RMSNorm(cfg.dim)
        nn.init.normal_(self.embed.weight, std=0.02)
        inv = cfg.rope_theta ** (-torch.arange(0, cfg.head_dim, 2).float() / cfg.head_dim)
        ang = torch.outer(torch.arange(cfg.max_seq_len).float(), inv)
        self.register_buffer("cos", ang.cos(), persistent=False)
        self.register_buffer("sin", ang.sin(), persistent=False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        T = input_ids.size(1)
        causal = torch.ones(T, T, dtype=torch.bool, device=input_ids.device).tril()
        mask = causal & attention_mask[:, None, None, :]
        x = self.embed(input_ids)
        for blk in self.blocks:
            x = blk(x, self.cos[:T], self.sin[:T], mask)
        return F.linear(self.norm(x), self.embed.weight)


def infinite(loader: DataLoader) -> Iterator[dict[str, Tensor]]:
    while True:
        yield from loader


@torch.inference_mode()
def evaluate(model: Decoder, loader: DataLoader, device: torch.device) -> tuple[float, float]:
    model.eval()
    total, correct, count = 0.0, 0, 0
    for batch in loader:
        batch = {k: v.to(device) for k, v in batch.items()}
        logits = model(batch["input_ids"], batch["attention_mask"])
        labels, valid = batch["labels"], batch["labels"].ne(IGNORE_INDEX)
        total += F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), reduction="sum").item()
        correct += ((logits.argmax(-1) == labels) & valid).sum().item()
        count += valid.sum().item()
    model.train()
    return total / count, correct / count


def main(cfg: TrainConfig) -> None:
    torch.manual_seed(cfg.seed)
    rng = random.Random(cfg.seed)
    device = torch.device("cuda")
    torch.set_float32_matmul_precision("high")

    collate = make_collate(cfg.pad_multiple)
    train = DataLoader(make_chats(cfg.n_train, cfg.model.vocab_size, rng), cfg.micro_batch_size,
                       shuffle=True, drop_last=True, collate_fn=collate)
    val = DataLoader(make_chats(cfg.n_val, cfg.model.vocab_size, rng), cfg.micro_batch_size, collate_fn=collate)

    model = Decoder(cfg.model).to(device)
    print(f"{sum(p.numel() for p in model.parameters()) / 1e3:.1f}k parameters")
    decay = [p for p in model.parameters() if p.ndim >= 2]
    no_decay = [p for p in model.parameters() if p.ndim < 2]
    groups = [{"params": decay, "weight_decay": cfg.weight_decay}, {"params": no_decay, "weight_decay": 0.0}]
    opt = torch.optim.AdamW(groups, lr=cfg.lr, betas=(0.9, 0.95))

    def schedule(step: int) -> float:
        if step < cfg.warmup_steps:
            return (step + 1) / cfg.warmup_steps
        p = (step - cfg.warmup_steps) / max(1, cfg.max_steps - cfg.warmup_steps)
        return cfg.min_lr_ratio + 0.5 * (1 - cfg.min_lr_ratio) * (1 + math.cos(math.pi * p))

    sched = torch.optim.lr_scheduler.LambdaLR(opt, schedule)
    batches, t0, tokens = infinite(train), time.perf_counter(), 0
    for step in range(1, cfg.max_steps + 1):
        micro = [next(batches) for _ in range(cfg.grad_accum)]
        # normalise by the number of supervised tokens over the whole accumulation window
        n_target = sum(int(b["labels"].ne(IGNORE_INDEX).sum()) for b in micro)
        running = torch.zeros((), device=device)
        for b in micro:
            tokens += b["input_ids"].numel()
            b = {k: v.to(device, non_blocking=True) for k, v in b.items()}
            with torch.autocast("cuda", dtype=torch.bfloat16):
                logits = model(b["input_ids"], b["attention_mask"])
            loss = F.cross_entropy(logits.float().flatten(0, 1), b["labels"].flatten(),
                                   ignore_index=IGNORE_INDEX, reduction="sum") / n_target
            loss.backward()
            running += loss.detach()
        gnorm = nn.utils.clip_grad_norm_(model.parameters(), cfg.clip)
        opt.step()
        sched.step()
        opt.zero_grad(set_to_none=True)
        dt = time.perf_counter() - t0
        print(f"step {step:3d} | loss {running.item():.4f} | gnorm {gnorm.item():.2f} | "
              f"lr {sched.get_last_lr()[0]:.2e} | {tokens / dt:,.0f} tok/s")
        if step % cfg.eval_every == 0 or step == cfg.max_steps:
            vl, acc = evaluate(model, val, device)
            print(f"  val loss {vl:.4f}  ppl {math.exp(vl):.2f}  token acc {acc:.3f}")


if __name__ == "__main__":
    main(TrainConfig())

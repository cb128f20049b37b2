"""
Online handwriting with a recurrent mixture density network, after Graves 2013 (unconditional).
Learns pen strokes, then writes some. Everything is in this file.
"""

import math
import time
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

# -----------------------------------------------------------------------------
# hyperparameters, small enough for a laptop
out_every = 2
eval_interval = 4
max_iters = 8
batch_size = 6
num_mixtures = 4
hidden_size = 32
learning_rate = 3e-3
min_lr = 3e-4
warmup_iters = 3
grad_clip = 10.0
sample_steps = 8
bias = 0.75
seed = 1337
device = "cuda" if torch.cuda.is_available() else "cpu"
dtype = "bfloat16" if device == "cuda" and torch.cuda.is_bf16_supported() else "float32"
# -----------------------------------------------------------------------------
torch.manual_seed(seed)
rng = np.random.default_rng(seed)
device_type = "cuda" if "cuda" in device else "cpu"
ptdtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[dtype]
ctx = nullcontext() if dtype == "float32" else torch.amp.autocast(device_type=device_type, dtype=ptdtype)


@dataclass
class MDNConfig:
    hidden: int = 32
    layers: int = 1
    mixtures: int = 4
    dropout: float = 0.0


def make_stroke():
    """Loops of varying width: (dx, dy, pen lifted)."""
    n = int(rng.integers(6, 10))
    t = np.linspace(0, n / 4 * 2 * np.pi, n + 1)
    radius = rng.uniform(0.6, 1.4)
    x = radius * np.cos(t) + 0.25 * t + rng.normal(0, 0.03, n + 1)
    y = radius * np.sin(t) * rng.uniform(0.7, 1.2) + rng.normal(0, 0.03, n + 1)
    lift = (rng.random(n) < 0.08).astype(np.float32)
    lift[-1] = 1.0
    return torch.tensor(np.stack([np.diff(x), np.diff(y), lift], axis=1), dtype=torch.float32)


train_data = [make_stroke() for _ in range(96)]
val_data = [make_stroke() for _ in range(24)]
offsets = torch.cat(train_data)[:, :2]
scale = offsets.std(0)
for strokes in train_data + val_data:
    strokes[:, :2] /= scale


def get_batch(split):
    data = train_data if split == "train" else val_data
    chosen = sorted((data[int(i)] for i in torch.randint(len(data), (batch_size,))), key=len, reverse=True)
    lengths = torch.tensor([len(s) - 1 for s in chosen])
    x = pad_sequence([s[:-1] for s in chosen], batch_first=True)
    y = pad_sequence([s[1:] for s in chosen], batch_first=True)
    if device_type == "cuda":
        # pin arrays x,y, which allows us to move them to GPU asynchronously (non_blocking=True)
        x, y = x.pin_memory().to(device, non_blocking=True), y.pin_memory().to(device, non_blocking=True)
    return x, y, lengths


class HandwritingMDN(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.rnn = nn.LSTM(3, config.hidden, config.layers, batch_first=True, dropout=config.dropout)
        self.head = nn.Linear(config.hidden, 6 * config.mixtures + 1)
        print("number of parameters: %.2fK" % (sum(p.numel() for p in self.parameters()) / 1e3,))  # noqa: UP031

    def split(self, out, bias=0.0):
        M = self.config.mixtures
        pi, mu_x, mu_y, s_x, s_y, rho, end = torch.split(out.float(), [M, M, M, M, M, M, 1], dim=-1)
        log_pi = F.log_softmax(pi * (1 + bias), dim=-1)
        s_x, s_y = torch.exp(s_x - bias).clamp(min=1e-3), torch.exp(s_y - bias).clamp(min=1e-3)
        return log_pi, mu_x, mu_y, s_x, s_y, torch.tanh(rho) * 0.95, end.squeeze(-1)

    def forward(self, x, lengths=None, targets=None, state=None):
        if lengths is not None:
            packed, state = self.rnn(pack_padded_sequence(x, lengths, batch_first=True), state)
            hidden, _ = pad_packed_sequence(packed, batch_first=True)
        else:
            hidden, state = self.rnn(x, state)
        out = self.head(hidden)
        if targets is None:
            return out, state, None
        mask = torch.arange(x.size(1))[None, :] < lengths[:, None]
        loss = self.nll(out, targets)[mask.to(x.device)].mean()
        return out, state, loss

    def nll(self, out, targets):
        log_pi, mu_x, mu_y, s_x, s_y, rho, end = self.split(out)
        dx = (targets[..., 0:1] - mu_x) / s_x
        dy = (targets[..., 1:2] - mu_y) / s_y
        one_minus = 1 - rho**2
        z = dx**2 + dy**2 - 2 * rho * dx * dy
        log_n = -z / (2 * one_minus) - torch.log(2 * math.pi * s_x * s_y) - 0.5 * torch.log(one_minus)
        pen = F.binary_cross_entropy_with_logits(end, targets[..., 2], reduction="none")
        return pen - torch.logsumexp(log_pi + log_n, dim=-1)

    def configure_optimizers(self, weight_decay, lr):
        params = [p for p in self.parameters() if p.requires_grad]
        groups = [
            {"params": [p for p in params if p.dim() >= 2], "weight_decay": weight_decay},
            {"params": [p for p in params if p.dim() < 2], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.98), fused=device_type == "cuda" or None)

    @torch.no_grad()
    def write(self, steps, bias, prime=None):
        self.eval()
        x, state = torch.zeros(1, 1, 3, device=device), None
        if prime is not None:
            _, state, _ = self(prime[None].to(device))
            x = prime[-1].to(device).view(1, 1, 3)
        points = []
        for _ in range(steps):
            out, state, _ = self(x, state=state)
            log_pi, mu_x, mu_y, s_x, s_y, rho, end = self.split(out[:, -1], bias)
            k = torch.distributions.Categorical(logits=log_pi).sample().item()
            z = torch.randn(2, device=device)
            dx = mu_x[0, k] + s_x[0, k] * z[0]
            dy = mu_y[0, k] + s_y[0, k] * (z[0] * rho[0, k] + z[1] * torch.sqrt(1 - rho[0, k] ** 2))
            lift = torch.bernoulli(torch.sigmoid(end[0]))
            x = torch.stack([dx, dy, lift]).view(1, 1, 3)
            points.append(x.view(3).tolist())
        self.train()
        return np.array(points)


def render(points, rows=8, cols=48):
    """ASCII, because there is no matplotlib on the cluster."""
    xy = np.cumsum(points[:, :2] * scale.numpy(), axis=0)
    low, high = xy.min(0), xy.max(0)
    cell = ((xy - low) / np.maximum(high - low, 1e-6) * [cols - 1, rows - 1]).astype(int)
    canvas = [[" "] * cols for _ in range(rows)]
    for (c, r), lifted in zip(cell, points[:, 2], strict=True):
        canvas[rows - 1 - r][c] = "o" if lifted else "."
    return "\n".join("".join(row) for row in canvas)


@torch.no_grad()
def estimate_loss(eval_iters=1):
    out = {}
    model.eval()
    for split in ["train", "val"]:
        losses = torch.zeros(eval_iters)
        for k in range(eval_iters):
            X, Y, lengths = get_batch(split)
            with ctx:
                _, _, loss = model(X, lengths, Y)
            losses[k] = loss.item()
        out[split] = losses.mean()
    model.train()
    return out


def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / (warmup_iters + 1)
    ratio = (it - warmup_iters) / (max_iters - warmup_iters)
    return min_lr + 0.5 * (1.0 + math.cos(math.pi * ratio)) * (learning_rate - min_lr)


model = HandwritingMDN(MDNConfig(hidden=hidden_size, mixtures=num_mixtures)).to(device)
optimizer = model.configure_optimizers(1e-4, learning_rate)
X, Y, lengths = get_batch("train")  # fetch the very first batch
best_val_loss, t0 = 1e9, time.time()
for iter_num in range(max_iters + 1):
    for param_group in optimizer.param_groups:
        param_group["lr"] = get_lr(iter_num)
    if iter_num > 0 and iter_num % eval_interval == 0:
        losses = estimate_loss()
        print(f"step {iter_num}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
        best_val_loss = min(best_val_loss, losses["val"])
    with ctx:
        _, _, loss = model(X, lengths, Y)
    # immediately prefetch the next batch while the model is busy
    X, Y, lengths = get_batch("train")
    loss.backward()
    torch.nn.utils.clip_grad_value_(model.parameters(), grad_clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    t1 = time.time()
    if iter_num % out_every == 0:
        lossf = loss.item()  # note: this is a CPU-GPU sync point
        print(f"iter {iter_num}: loss {lossf:.4f}, time {(t1 - t0) * 1000:.2f}ms")
    t0 = t1

print(f"best val loss {best_val_loss:.4f}")
print(render(model.write(sample_steps, bias, prime=val_data[0][:4])))

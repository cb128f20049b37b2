"""
The simplest RealNVP I could come up with: density estimation on two moons.
Run as $ python realnvp.py --max_iters=50
"""

import math
import sys
import time
from contextlib import nullcontext

import numpy as np
import torch
import torch.nn as nn
from torch.nn import functional as F

# -----------------------------------------------------------------------------
# default config values, override as --key=value
eval_interval = 8
eval_iters = 2
log_interval = 4
batch_size = 128
gradient_accumulation_steps = 1
n_flow = 6
n_hidden = 32
learning_rate = 1e-3
min_lr = 1e-4
max_iters = 20
warmup_iters = 4
weight_decay = 1e-2
grad_clip = 1.0
seed = 1337
device = "cuda" if torch.cuda.is_available() else "cpu"
dtype = "float32"  # 'float32' or 'bfloat16', flows do not like half precision
compile = False
for arg in sys.argv[1:]:
    k, v = arg.lstrip("-").split("=")
    globals()[k] = type(globals()[k])(v)
# -----------------------------------------------------------------------------

torch.manual_seed(seed)
torch.backends.cuda.matmul.allow_tf32 = True
device_type = "cuda" if "cuda" in device else "cpu"
ctx = (
    nullcontext() if dtype == "float32" else torch.amp.autocast(device_type=device_type, dtype=torch.bfloat16)
)


def moons(n, rng):
    t = rng.uniform(0, math.pi, n)
    up = rng.integers(0, 2, n)
    x = np.where(up, np.cos(t), 1 - np.cos(t))
    y = np.where(up, np.sin(t), 0.5 - np.sin(t))
    return (np.stack([x, y], 1) + 0.06 * rng.standard_normal((n, 2))).astype(np.float32)


rng = np.random.default_rng(seed)
data = moons(4000, rng)
n = int(0.9 * len(data))
train_data, val_data = data[:n], data[n:]


def get_batch(split):
    d = train_data if split == "train" else val_data
    ix = torch.randint(len(d), (batch_size,))
    x = torch.from_numpy(d[ix.numpy()])
    if device_type == "cuda":  # noqa: SIM108
        # pin arrays x, which allows us to move them to GPU asynchronously (non_blocking=True)
        x = x.pin_memory().to(device, non_blocking=True)
    else:
        x = x.to(device)
    return x


class MLP(nn.Module):
    def __init__(self, nin, nout, nh):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(nin, nh), nn.SiLU(), nn.Linear(nh, nh), nn.SiLU(), nn.Linear(nh, nout)
        )
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        return self.net(x)


class ActNorm(nn.Module):
    """an affine layer whose first batch sets it to zero mean and unit variance"""

    def __init__(self, dim):
        super().__init__()
        self.s = nn.Parameter(torch.zeros(1, dim))
        self.t = nn.Parameter(torch.zeros(1, dim))
        self.register_buffer("initialized", torch.tensor(0))

    def forward(self, x):
        if self.initialized.item() == 0:
            self.s.data = -x.std(dim=0, keepdim=True).log().detach()
            self.t.data = -(x * self.s.exp()).mean(dim=0, keepdim=True).detach()
            self.initialized.fill_(1)
        return x * self.s.exp() + self.t, self.s.sum(1)

    def inverse(self, z):
        return (z - self.t) * (-self.s).exp()


class Coupling(nn.Module):
    def __init__(self, parity):
        super().__init__()
        self.parity = parity
        self.s_cond = MLP(1, 1, n_hidden)
        self.t_cond = MLP(1, 1, n_hidden)

    def forward(self, x):
        x0, x1 = x[:, ::2], x[:, 1::2]
        if self.parity:
            x0, x1 = x1, x0
        s, t = torch.tanh(self.s_cond(x0)) * 2, self.t_cond(x0)
        z0, z1 = x0, torch.exp(s) * x1 + t
        if self.parity:
            z0, z1 = z1, z0
        return torch.cat([z0, z1], dim=1), s.sum(1)

    def inverse(self, z):
        z0, z1 = z[:, ::2], z[:, 1::2]
        if self.parity:
            z0, z1 = z1, z0
        s, t = torch.tanh(self.s_cond(z0)) * 2, self.t_cond(z0)
        x0, x1 = z0, (z1 - t) * torch.exp(-s)
        if self.parity:
            x0, x1 = x1, x0
        return torch.cat([x0, x1], dim=1)


class Flow(nn.Module):
    def __init__(self):
        super().__init__()
        self.flows = nn.ModuleList(f for i in range(n_flow) for f in (ActNorm(2), Coupling(i % 2)))
        print(f"number of parameters: {sum(p.numel() for p in self.parameters()) / 1e3:.1f}K")

    def forward(self, x):
        log_det = torch.zeros(x.size(0), device=x.device)
        for flow in self.flows:
            x, ld = flow(x)
            log_det = log_det + ld
        prior = -0.5 * (x**2).sum(1) - math.log(2 * math.pi)
        return x, -(prior + log_det).mean()

    @torch.no_grad()
    def sample(self, n):
        z = torch.randn(n, 2, device=next(self.parameters()).device)
        for flow in reversed(self.flows):
            z = flow.inverse(z)
        return z

    def configure_optimizers(self):
        decay = [p for p in self.parameters() if p.dim() >= 2]
        nodecay = [p for p in self.parameters() if p.dim() < 2]
        groups = [{"params": decay, "weight_decay": weight_decay}, {"params": nodecay, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, lr=learning_rate, betas=(0.9, 0.99))


model = Flow()
model.to(device)
optimizer = model.configure_optimizers()
if compile:
    model = torch.compile(model)


@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split in ["train", "val"]:
        losses = torch.zeros(eval_iters)
        for k in range(eval_iters):
            with ctx:
                _, loss = model(get_batch(split))
            losses[k] = loss.item()
        out[split] = losses.mean()
    model.train()
    return out


# learning rate decay scheduler (cosine with warmup)
def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / (warmup_iters + 1)
    decay_ratio = (it - warmup_iters) / max(1, max_iters - warmup_iters)
    coeff = 0.5 * (1.0 + math.cos(math.pi * min(1.0, decay_ratio)))
    return min_lr + coeff * (learning_rate - min_lr)


X = get_batch("train")
t0 = time.time()
for iter_num in range(max_iters + 1):
    lr = get_lr(iter_num)
    for param_group in optimizer.param_groups:
        param_group["lr"] = lr
    if iter_num % eval_interval == 0:
        losses = estimate_loss()
        print(f"step {iter_num}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
    for _ in range(gradient_accumulation_steps):
        with ctx:
            _, loss = model(X)
            loss = loss / gradient_accumulation_steps
        X = get_batch("train")  # immediately async prefetch next batch
        loss.backward()
    if grad_clip != 0.0:
        torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    t1 = time.time()
    dt, t0 = t1 - t0, t1
    if iter_num % log_interval == 0:
        lossf = loss.item() * gradient_accumulation_steps
        print(f"iter {iter_num}: loss {lossf:.4f}, time {dt * 1000:.2f}ms")

model.eval()
samples = model.sample(500).cpu().numpy()
ref = moons(500, rng)
dist = F.pairwise_distance(torch.from_numpy(samples.mean(0)), torch.from_numpy(ref.mean(0)), eps=0)
print(f"distance of means {dist.item():.3f}")

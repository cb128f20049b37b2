import math

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(2)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = torch.randint(0, 32, (4000,)).cumsum(0) % 32


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        q, k, v = (y.unflatten(2, (2, -1)).transpose(1, 2) for y in self.qkv(self.norm1(x)).chunk(3, 2))
        scores = (q @ k.transpose(2, 3)) / math.sqrt(q.size(-1))
        mask = torch.ones(x.size(1), x.size(1), device=x.device).tril()
        scores = scores.masked_fill(mask == 0, float("-inf")).softmax(-1)
        x = x + self.drop(self.proj((scores @ v).transpose(1, 2).flatten(2)))
        return x + self.drop(self.mlp(self.norm2(x)))


class GPT(nn.Module):
    def __init__(self, vocabulary=32, width=16, length=8):
        super().__init__()
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(vocabulary, width), "wpe": nn.Embedding(length, width),
            "h": nn.ModuleList([Block(width), Block(width)]), "norm": nn.LayerNorm(width),
        })  # fmt: skip
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.tie()

    def tie(self):
        self.transformer.wte.weight = self.lm_head.weight

    def forward(self, tokens, targets):
        positions = torch.arange(tokens.size(1), device=tokens.device)
        x = self.transformer.wte(tokens) + self.transformer.wpe(positions)
        for block in self.transformer.h:
            x = block(x)
        logits = self.lm_head(self.transformer.norm(x))
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def batch():
    starts = torch.randint(0, len(data) - 9, (8,))
    tokens = torch.stack([data[i : i + 8] for i in starts.tolist()])
    targets = torch.stack([data[i + 1 : i + 9] for i in starts.tolist()])
    return tokens.to(device), targets.to(device)


model = GPT().to(device)
decay = [p for p in model.parameters() if p.dim() > 1]
plain = [p for p in model.parameters() if p.dim() < 2]
groups = [{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=3e-3, betas=(0.9, 0.95), fused=device.type == "cuda")
for step in range(40):
    for group in optimizer.param_groups:
        group["lr"] = 3e-3 * min(1.0, (step + 1) / 5)
    tokens, targets = batch()
    loss = model(tokens, targets)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()

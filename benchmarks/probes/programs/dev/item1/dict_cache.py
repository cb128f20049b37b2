import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla


class Block(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.n_head = n_head
        self.ln = nn.LayerNorm(n_embd)
        self.c_attn = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=False)

    def split(self, t):
        return t.unflatten(-1, (self.n_head, -1)).transpose(1, 2)

    def forward(self, x, cache):
        q, k, v = map(self.split, self.c_attn(self.ln(x)).chunk(3, dim=-1))
        if "k" in cache:
            cache["k"] = torch.cat([cache["k"], k], dim=2)  # expect: XLA302
            cache["v"] = torch.cat([cache["v"], v], dim=2)  # expect: XLA302
        else:
            cache["k"], cache["v"] = k, v
        y = F.scaled_dot_product_attention(q, cache["k"], cache["v"])
        return x + self.c_proj(y.transpose(1, 2).flatten(2))


class Decoder(nn.Module):
    def __init__(self, vocab=1000, n_embd=128, n_layer=3):
        super().__init__()
        self.wte = nn.Embedding(vocab, n_embd)
        self.h = nn.ModuleList([Block(n_embd, 4) for _ in range(n_layer)])
        self.lm_head = nn.Linear(n_embd, vocab, bias=False)

    def forward(self, idx, caches):
        x = self.wte(idx)
        for blk, c in zip(self.h, caches):
            x = blk(x, c)
        return self.lm_head(x[:, -1])


def run(steps=100):
    device = torch_xla.device()
    model = Decoder().to(device).eval()
    caches = [dict() for _ in model.h]
    cur = torch.ones(2, 1, dtype=torch.long, device=device)
    for _ in range(steps):
        with torch.no_grad():
            cur = model(cur, caches).argmax(-1, keepdim=True)
        torch_xla.sync()
    return cur


run()

import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla


class CausalAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, past=None):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        if past is not None:
            k = torch.cat((past[0], k), dim=-2)  # expect: XLA302
            v = torch.cat((past[1], v), dim=-2)  # expect: XLA302
        att = (q @ k.transpose(-2, -1)) / math.sqrt(d // self.heads)
        y = F.softmax(att, dim=-1) @ v
        return self.proj(y.transpose(1, 2).reshape(b, t, d)), (k, v)


class TinyLM(nn.Module):
    def __init__(self, vocab=512, dim=128, heads=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.attn = CausalAttention(dim, heads)
        self.head = nn.Linear(dim, vocab)

    def forward(self, idx, past=None):
        x = self.emb(idx)
        y, present = self.attn(x, past)
        return self.head(x + y), present


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tokens", type=int, default=64)
    args = p.parse_args()
    device = torch_xla.device()
    net = TinyLM().to(device).eval()
    tok = torch.zeros(4, 1, dtype=torch.long, device=device)
    past = None
    with torch.no_grad():
        for _ in range(args.tokens):
            logits, past = net(tok, past)
            tok = logits[:, -1:].argmax(-1)
            torch_xla.sync()


if __name__ == "__main__":
    main()

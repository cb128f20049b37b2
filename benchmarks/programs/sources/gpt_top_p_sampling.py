"""Sample from a small GPT: temperature, repetition penalty, top-k and top-p as composable processors."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

CHARS = "\n abcdefghijklmnopqrstuvwxyz.,'"
EOS = 0


class CausalSelfAttention(nn.Module):
    def __init__(self, dim, heads, block_size):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)
        self.register_buffer("bias", torch.tril(torch.ones(block_size, block_size)).bool())

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (
            t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1)
        )
        att = (q @ k.transpose(-2, -1)) * k.size(-1) ** -0.5
        att = att.masked_fill(~self.bias[:T, :T], float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self, dim, heads, block_size):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = CausalSelfAttention(dim, heads, block_size)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocab_size, block_size=48, dim=32, heads=4, layers=2):
        super().__init__()
        self.block_size = block_size
        self.wte, self.wpe = nn.Embedding(vocab_size, dim), nn.Embedding(block_size, dim)
        self.blocks = nn.ModuleList([Block(dim, heads, block_size) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocab_size, bias=False)

    def forward(self, idx):
        pos = torch.arange(idx.size(1), device=idx.device)
        x = self.wte(idx) + self.wpe(pos)
        for block in self.blocks:
            x = block(x)
        return self.lm_head(self.ln_f(x))


class Temperature:
    def __init__(self, temperature):
        self.temperature = temperature

    def __call__(self, idx, logits):
        return logits / self.temperature


class RepetitionPenalty:
    def __init__(self, penalty):
        self.penalty = penalty

    def __call__(self, idx, logits):
        score = torch.gather(logits, 1, idx)
        score = torch.where(score < 0, score * self.penalty, score / self.penalty)
        return logits.scatter(1, idx, score)


class TopK:
    def __init__(self, k):
        self.k = k

    def __call__(self, idx, logits):
        values, _ = torch.topk(logits, min(self.k, logits.size(-1)))
        logits[logits < values[:, [-1]]] = -float("inf")
        return logits


class TopP:
    def __init__(self, p):
        self.p = p

    def __call__(self, idx, logits):
        sorted_logits, order = torch.sort(logits, descending=True)
        cumulative = F.softmax(sorted_logits, dim=-1).cumsum(dim=-1)
        remove = cumulative > self.p
        remove[:, 1:] = remove[:, :-1].clone()
        remove[:, 0] = False
        return logits.masked_fill(remove.scatter(1, order, remove), float("-inf"))


def get_processors(args):
    processors = [RepetitionPenalty(args.repetition_penalty), Temperature(args.temperature)]
    if args.top_k > 0:
        processors.append(TopK(args.top_k))
    if args.top_p < 1.0:
        processors.append(TopP(args.top_p))
    return processors


@torch.no_grad()
def generate(model, idx, max_new_tokens, processors, stream=False):
    model.eval()
    finished = torch.zeros(idx.size(0), dtype=torch.bool, device=idx.device)
    logprob = torch.zeros(idx.size(0), device=idx.device)
    for _ in range(max_new_tokens):
        context = idx if idx.size(1) <= model.block_size else idx[:, -model.block_size :]
        logits = model(context)[:, -1, :].float()
        for process in processors:
            logits = process(idx, logits)
        probs = F.softmax(logits, dim=-1)
        next_token = torch.multinomial(probs, num_samples=1)
        next_token[finished] = EOS
        logprob += torch.where(finished, 0.0, probs.gather(1, next_token).squeeze(1).log())
        idx = torch.cat((idx, next_token), dim=1)
        finished |= next_token.squeeze(1) == EOS
        if stream:
            print(CHARS[next_token[0].item()], end="", flush=True)
        if finished.all():
            break
    return idx, logprob


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--prompt", default="once upon a time")
    p.add_argument("--num-samples", type=int, default=3)
    p.add_argument("--max-new-tokens", type=int, default=16)
    p.add_argument("--temperature", type=float, default=0.8)
    p.add_argument("--top-k", type=int, default=20)
    p.add_argument("--top-p", type=float, default=0.95)
    p.add_argument("--repetition-penalty", type=float, default=1.2)
    args = p.parse_args()

    torch.manual_seed(7)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = GPT(len(CHARS)).to(device)
    prompt = torch.tensor([CHARS.index(c) for c in args.prompt], dtype=torch.long, device=device)
    idx = prompt[None].repeat(args.num_samples, 1)
    out, logprob = generate(model, idx, args.max_new_tokens, get_processors(args), stream=True)
    print()
    for ids, score in zip(out.tolist(), logprob.tolist(), strict=True):
        print(f"[{score:8.2f}] {''.join(CHARS[i] for i in ids)!r}")

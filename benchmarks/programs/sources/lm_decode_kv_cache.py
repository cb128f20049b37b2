"""Decodes with a growing key-value cache and rotary embeddings, and measures latency per token."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

KVCache = list[tuple[Tensor, Tensor] | None]


@dataclass
class ModelArgs:
    dim: int = 16
    n_layers: int = 1
    n_heads: int = 4
    n_kv_heads: int = 2
    vocab_size: int = 64
    norm_eps: float = 1e-5
    max_seq_len: int = 64


class RMSNorm(nn.Module):
    def __init__(self, dim: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x: Tensor) -> Tensor:
        norm = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + self.eps)
        return norm.type_as(x) * self.weight


def precompute_cos_sin(dim: int, end: int, theta: float = 10000.0) -> tuple[Tensor, Tensor]:
    freqs = 1.0 / (theta ** (torch.arange(0, dim, 2)[: dim // 2].float() / dim))
    angles = torch.outer(torch.arange(end).float(), freqs)
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos(), angles.sin()


def rotate_half(x: Tensor) -> Tensor:
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary(q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    return q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin


class Attention(nn.Module):
    def __init__(self, args: ModelArgs) -> None:
        super().__init__()
        self.n_heads, self.n_kv_heads = args.n_heads, args.n_kv_heads
        self.head_dim = args.dim // args.n_heads
        self.wq = nn.Linear(args.dim, args.n_heads * self.head_dim, bias=False)
        self.wk = nn.Linear(args.dim, args.n_kv_heads * self.head_dim, bias=False)
        self.wv = nn.Linear(args.dim, args.n_kv_heads * self.head_dim, bias=False)
        self.wo = nn.Linear(args.n_heads * self.head_dim, args.dim, bias=False)

    def forward(
        self, x: Tensor, cos: Tensor, sin: Tensor, past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        B, T, _ = x.shape
        q = self.wq(x).view(B, T, self.n_heads, self.head_dim).transpose(1, 2)
        k = self.wk(x).view(B, T, self.n_kv_heads, self.head_dim).transpose(1, 2)
        v = self.wv(x).view(B, T, self.n_kv_heads, self.head_dim).transpose(1, 2)
        q, k = apply_rotary(q, k, cos, sin)
        if past is not None:
            k = torch.cat((past[0], k), dim=2)
            v = torch.cat((past[1], v), dim=2)
        present = (k, v)
        groups = self.n_heads // self.n_kv_heads
        k, v = k.repeat_interleave(groups, dim=1), v.repeat_interleave(groups, dim=1)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=T > 1)
        return self.wo(out.transpose(1, 2).reshape(B, T, -1)), present


class FeedForward(nn.Module):
    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class TransformerBlock(nn.Module):
    def __init__(self, args: ModelArgs) -> None:
        super().__init__()
        self.attention = Attention(args)
        self.feed_forward = FeedForward(args.dim, 4 * args.dim)
        self.attention_norm = RMSNorm(args.dim, args.norm_eps)
        self.ffn_norm = RMSNorm(args.dim, args.norm_eps)

    def forward(self, x, cos, sin, past):
        h, present = self.attention(self.attention_norm(x), cos, sin, past)
        x = x + h
        return x + self.feed_forward(self.ffn_norm(x)), present


class Llama(nn.Module):
    def __init__(self, args: ModelArgs) -> None:
        super().__init__()
        self.args = args
        self.tok_embeddings = nn.Embedding(args.vocab_size, args.dim)
        self.layers = nn.ModuleList(TransformerBlock(args) for _ in range(args.n_layers))
        self.norm = RMSNorm(args.dim, args.norm_eps)
        self.output = nn.Linear(args.dim, args.vocab_size, bias=False)
        cos, sin = precompute_cos_sin(args.dim // args.n_heads, args.max_seq_len)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, tokens: Tensor, cache: KVCache | None = None) -> tuple[Tensor, KVCache]:
        cache = cache if cache is not None else [None] * len(self.layers)
        start = 0 if cache[0] is None else cache[0][0].shape[2]
        end = start + tokens.shape[1]
        h = self.tok_embeddings(tokens)
        presents: KVCache = []
        for layer, past in zip(self.layers, cache, strict=True):
            h, present = layer(h, self.cos[start:end], self.sin[start:end], past)
            presents.append(present)
        return self.output(self.norm(h)[:, -1]), presents


def sample(logits: Tensor, temperature: float) -> Tensor:
    if temperature == 0.0:
        return logits.argmax(dim=-1, keepdim=True)
    probs = F.softmax(logits / temperature, dim=-1)
    noise = torch.empty_like(probs).exponential_(1)
    return torch.argmax(probs / noise, dim=-1, keepdim=True)


@torch.no_grad()
def generate(
    model: Llama, prompt: Tensor, max_new_tokens: int, temperature: float, eos_id: int
) -> tuple[Tensor, list[float]]:
    latencies = []
    finished = torch.zeros(prompt.shape[0], dtype=torch.bool, device=prompt.device)
    tokens, cache, out = prompt, None, [prompt]
    for _ in range(max_new_tokens):
        start = time.perf_counter()
        logits, cache = model(tokens, cache)
        tokens = sample(logits, temperature)
        tokens = torch.where(finished[:, None], torch.full_like(tokens, eos_id), tokens)
        finished |= tokens.squeeze(1) == eos_id
        if prompt.is_cuda:
            torch.cuda.synchronize()
        latencies.append(time.perf_counter() - start)
        out.append(tokens)
        if finished.all():
            break
    return torch.cat(out, dim=1), latencies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10, help="new tokens")
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--prompt-length", type=int, default=6)
    parser.add_argument("--temperature", type=float, default=0.7)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    config = ModelArgs()
    model = Llama(config).eval().to(device)
    if device.type == "cuda":
        model = model.to(torch.bfloat16)

    prompt = torch.randint(1, config.vocab_size, (args.batch_size, args.prompt_length)).to(device)
    tokens, latencies = generate(model, prompt, args.steps, args.temperature, eos_id=0)
    for row in tokens.tolist():
        print(" ".join(map(str, row)))
    decode = latencies[1:]
    print(f"prefill {latencies[0] * 1e3:.1f} ms, decode {sum(decode) / len(decode) * 1e3:.1f} ms/token")
    print(f"{args.batch_size * len(decode) / sum(decode):.1f} tokens/s")


if __name__ == "__main__":
    main()

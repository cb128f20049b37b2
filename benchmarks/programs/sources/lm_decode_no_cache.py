"""Trains a character model for a moment, then samples from it without a key-value cache."""

from __future__ import annotations

import argparse

import torch
import torch.nn as nn
from torch import Tensor
from torch.nn import functional as F

TEXT = "the quick brown fox jumps over the lazy dog. pack my box with five dozen liquor jugs. " * 20
EOS = "."


class CharTokenizer:
    def __init__(self, text: str) -> None:
        self.chars = sorted(set(text))
        self.index = {char: i for i, char in enumerate(self.chars)}

    def encode(self, text: str) -> list[int]:
        return [self.index[char] for char in text]

    def decode(self, tokens: list[int]) -> str:
        return "".join(self.chars[token] for token in tokens)


class CharTransformer(nn.Module):
    def __init__(self, vocab_size: int, block_size: int = 16, width: int = 16, depth: int = 1) -> None:
        super().__init__()
        self.block_size = block_size
        self.tokens = nn.Embedding(vocab_size, width)
        self.positions = nn.Embedding(block_size, width)
        layer = nn.TransformerEncoderLayer(width, 2, 4 * width, 0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab_size, bias=False)

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        T = idx.size(1)
        mask = nn.Transformer.generate_square_subsequent_mask(T, device=idx.device)
        x = self.tokens(idx) + self.positions(torch.arange(T, device=idx.device))
        logits = self.head(self.norm(self.blocks(x, mask=mask, is_causal=True)))
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))

    @torch.no_grad()
    def generate(
        self,
        idx: Tensor,
        max_new_tokens: int,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        eos: int | None = None,
    ) -> Tensor:
        for _ in range(max_new_tokens):
            idx_cond = idx if idx.size(1) <= self.block_size else idx[:, -self.block_size :]
            logits, _ = self(idx_cond)
            logits = logits[:, -1, :] / temperature
            if top_k is not None:
                v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
                logits[logits < v[:, [-1]]] = -float("Inf")
            if top_p is not None:
                logits = nucleus(logits, top_p)
            probs = F.softmax(logits, dim=-1)
            idx_next = torch.multinomial(probs, num_samples=1)
            idx = torch.cat((idx, idx_next), dim=1)
            if eos is not None and (idx_next == eos).all():
                break
        return idx


def nucleus(logits: Tensor, top_p: float) -> Tensor:
    """Keeps the smallest set of tokens whose probability exceeds top_p."""
    sorted_logits, sorted_indices = torch.sort(logits, descending=True)
    cumulative = torch.cumsum(F.softmax(sorted_logits, dim=-1), dim=-1)
    remove = cumulative > top_p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    return logits.masked_fill(remove.scatter(1, sorted_indices, remove), float("-inf"))


def get_batch(data: Tensor, batch_size: int, block_size: int, device: str) -> tuple[Tensor, Tensor]:
    ix = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([data[i : i + block_size] for i in ix])
    y = torch.stack([data[i + 1 : i + block_size + 1] for i in ix])
    return x.to(device), y.to(device)


def pretrain(model: CharTransformer, data: Tensor, steps: int, device: str) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    model.train()
    for step in range(steps):
        x, y = get_batch(data, 16, model.block_size, device)
        _, loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % 5 == 0 or step == steps - 1:
            print(f"step {step}: loss {loss.item():.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=11)
    parser.add_argument("--prompt", default="the quick ")
    parser.add_argument("--num-samples", type=int, default=1)
    parser.add_argument("--max-new-tokens", type=int, default=4)
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--top-k", type=int, default=10)
    parser.add_argument("--top-p", type=float, default=0.95)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = CharTokenizer(TEXT)
    data = torch.tensor(tokenizer.encode(TEXT), dtype=torch.long)
    model = CharTransformer(len(tokenizer.chars)).to(device)
    pretrain(model, data, args.steps, device)

    model.eval()
    prompt = torch.tensor(tokenizer.encode(args.prompt), dtype=torch.long, device=device)[None, ...]
    for _ in range(args.num_samples):
        eos = tokenizer.index[EOS]
        y = model.generate(prompt, args.max_new_tokens, args.temperature, args.top_k, args.top_p, eos)
        print(tokenizer.decode(y[0].tolist()))
        print("---------------")


if __name__ == "__main__":
    main()

"""Low-rank adapters on a frozen transformer; saves and merges the adapters."""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint


class LoRALinear(nn.Module):
    """A frozen linear layer plus a trainable update of low rank."""

    def __init__(self, base: nn.Linear, r: int, alpha: float, dropout: float) -> None:
        super().__init__()
        self.base = base
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        self.scaling = alpha / r
        self.dropout = nn.Dropout(dropout)
        self.merged = False
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))

    def forward(self, x: Tensor) -> Tensor:
        result = self.base(x)
        if not self.merged:
            result = result + F.linear(F.linear(self.dropout(x), self.lora_A), self.lora_B) * self.scaling
        return result

    @torch.no_grad()
    def merge(self) -> None:
        self.base.weight.data += (self.lora_B @ self.lora_A) * self.scaling
        self.merged = True


class Layer(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.q_proj, self.k_proj = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.v_proj, self.o_proj = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.up_proj, self.down_proj = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        h = self.norm1(x)
        q, k, v = self._split(self.q_proj(h)), self._split(self.k_proj(h)), self._split(self.v_proj(h))
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        T = x.size(1)
        causal = torch.tril(torch.ones(T, T, device=x.device)).bool()
        scores = scores.masked_fill(~causal, torch.finfo(scores.dtype).min)
        h = (scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(2)
        x = x + self.o_proj(h)
        return x + self.down_proj(F.gelu(self.up_proj(self.norm2(x)), approximate="tanh"))


class CausalLM(nn.Module):
    def __init__(self, vocab: int, dim: int = 16, layers: int = 2, heads: int = 2) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(Layer(dim, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        self.gradient_checkpointing = False

    def forward(self, input_ids: Tensor, labels: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        x = self.embed_tokens(input_ids)
        for layer in self.layers:
            if self.gradient_checkpointing and self.training:
                x = checkpoint(layer, x, use_reentrant=False)
            else:
                x = layer(x)
        logits = self.lm_head(self.norm(x))
        if labels is None:
            return logits, None
        shift_logits = logits[..., :-1, :].contiguous().float()
        shift_labels = labels[..., 1:].contiguous()
        loss = F.cross_entropy(
            shift_logits.view(-1, shift_logits.size(-1)), shift_labels.view(-1), ignore_index=-100
        )
        return logits, loss


def inject_lora(model: nn.Module, targets: tuple[str, ...], r: int, alpha: float, dropout: float) -> None:
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if name in targets and isinstance(child, nn.Linear):
                setattr(parent, name, LoRALinear(child, r, alpha, dropout))
    for name, param in model.named_parameters():
        param.requires_grad = "lora_" in name


def print_trainable_parameters(model: nn.Module) -> None:
    trainable = sum(p.numel() for p in model.parameters() if p.requires_grad)
    total = sum(p.numel() for p in model.parameters())
    print(
        f"trainable params: {trainable} || all params: {total} || trainable%: {100 * trainable / total:.2f}"
    )


def instruction_batches(steps: int, batch_size: int, vocab: int, prompt: int = 4, answer: int = 4):
    """The answer repeats the prompt; the prompt itself is not learned."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        head = torch.randint(1, vocab, (batch_size, prompt), generator=generator)
        input_ids = torch.cat((head, head[:, :answer]), dim=1)
        labels = input_ids.clone()
        labels[:, :prompt] = -100
        yield input_ids, labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--lora-r", type=int, default=4)
    parser.add_argument("--lora-alpha", type=float, default=8)
    parser.add_argument("--lora-dropout", type=float, default=0.05)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--gradient-checkpointing", action="store_true")
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    vocab = 20
    model = CausalLM(vocab).to(device)
    inject_lora(model, ("q_proj", "v_proj"), args.lora_r, args.lora_alpha, args.lora_dropout)
    model.gradient_checkpointing = args.gradient_checkpointing
    model.to(device)
    print_trainable_parameters(model)

    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=args.lr)
    model.train()
    for step, (input_ids, labels) in enumerate(instruction_batches(args.steps, args.batch_size, vocab)):
        input_ids, labels = input_ids.to(device), labels.to(device)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            _, loss = model(input_ids, labels)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 3 == 0:
            print(f"step {step}: loss {loss.item():.4f}")

    adapters = {name: p.detach().cpu() for name, p in model.named_parameters() if p.requires_grad}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "adapter_model.bin"
        torch.save(adapters, path)
        print(f"saved {len(adapters)} tensors, {path.stat().st_size} bytes")

    model.eval()
    with torch.no_grad():
        before, _ = model(input_ids)
        for module in model.modules():
            if isinstance(module, LoRALinear):
                module.merge()
        after, _ = model(input_ids)
    assert torch.allclose(before, after, atol=1e-3), "merging changed the model"


if __name__ == "__main__":
    main()

"""A sparse mixture of experts inside a sequence classifier: top-2 routing, load balancing."""

from __future__ import annotations

import argparse

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Expert(nn.Module):
    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.w2(F.silu(self.w1(x)))


class SparseMoeBlock(nn.Module):
    def __init__(self, dim: int, hidden: int, num_experts: int, top_k: int) -> None:
        super().__init__()
        self.num_experts, self.top_k = num_experts, top_k
        self.gate = nn.Linear(dim, num_experts, bias=False)
        self.experts = nn.ModuleList(Expert(dim, hidden) for _ in range(num_experts))

    def forward(self, hidden_states: Tensor) -> tuple[Tensor, Tensor]:
        batch_size, sequence_length, hidden_dim = hidden_states.shape
        hidden_states = hidden_states.view(-1, hidden_dim)
        router_logits = self.gate(hidden_states)
        routing_weights = F.softmax(router_logits, dim=1, dtype=torch.float)
        routing_weights, selected_experts = torch.topk(routing_weights, self.top_k, dim=-1)
        routing_weights /= routing_weights.sum(dim=-1, keepdim=True)
        routing_weights = routing_weights.to(hidden_states.dtype)

        final_hidden_states = torch.zeros_like(hidden_states)
        expert_mask = F.one_hot(selected_experts, num_classes=self.num_experts).permute(2, 1, 0)
        for expert_idx, expert in enumerate(self.experts):
            idx, top_x = torch.where(expert_mask[expert_idx])
            if top_x.shape[0] == 0:
                continue
            current = expert(hidden_states[top_x]) * routing_weights[top_x, idx, None]
            final_hidden_states.index_add_(0, top_x, current.to(hidden_states.dtype))
        return final_hidden_states.view(batch_size, sequence_length, hidden_dim), router_logits


def load_balancing_loss(router_logits: Tensor, num_experts: int, top_k: int) -> Tensor:
    routing_weights = F.softmax(router_logits, dim=-1)
    _, selected_experts = torch.topk(routing_weights, top_k, dim=-1)
    expert_mask = F.one_hot(selected_experts, num_experts)
    tokens_per_expert = torch.mean(expert_mask.float(), dim=0)
    router_prob_per_expert = torch.mean(routing_weights, dim=0)
    return torch.sum(tokens_per_expert * router_prob_per_expert.unsqueeze(0)) * num_experts


class MoeClassifier(nn.Module):
    def __init__(self, vocab: int, classes: int, dim: int = 16, num_experts: int = 3, top_k: int = 2) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.norm = nn.LayerNorm(dim)
        self.moe = SparseMoeBlock(dim, 2 * dim, num_experts, top_k)
        self.head = nn.Linear(dim, classes)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        x = self.embed(tokens)
        delta, router_logits = self.moe(self.norm(x))
        return self.head((x + delta).mean(dim=1)), router_logits


def batches(steps: int, batch_size: int, length: int, vocab: int, classes: int):
    """The class is that of the most frequent token group."""
    generator = torch.Generator().manual_seed(0)
    for _ in range(steps):
        tokens = torch.randint(0, vocab, (batch_size, length), generator=generator)
        counts = F.one_hot(tokens % classes, classes).sum(dim=1)
        yield tokens, counts.argmax(dim=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--length", type=int, default=4)
    parser.add_argument("--aux-coef", type=float, default=0.01)
    parser.add_argument("--lr", type=float, default=3e-3)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    vocab, classes = 24, 4
    model = MoeClassifier(vocab, classes).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    num_experts, top_k = model.moe.num_experts, model.moe.top_k

    usage = torch.zeros(num_experts, device=device)
    for step, (tokens, labels) in enumerate(
        batches(args.steps, args.batch_size, args.length, vocab, classes)
    ):
        tokens, labels = tokens.to(device), labels.to(device)
        logits, router_logits = model(tokens)
        ce_loss = F.cross_entropy(logits, labels)
        aux_loss = load_balancing_loss(router_logits, num_experts, top_k)
        loss = ce_loss + args.aux_coef * aux_loss
        if torch.isnan(loss):
            raise RuntimeError(f"loss is NaN at step {step}")

        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        usage += torch.bincount(router_logits.argmax(dim=-1), minlength=num_experts)
        if step % 2 == 0:
            print(f"step {step}: ce {ce_loss.item():.4f} aux {aux_loss.item():.4f}")

    print("first choices per expert:", usage.int().tolist())


if __name__ == "__main__":
    main()

"""A small transformer learns to reverse sequences; beam search then decodes some of them."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PAD, BOS, EOS = 0, 1, 2
FIRST_SYMBOL = 3


class ReverseModel(nn.Module):
    def __init__(self, vocab_size: int, d_model: int = 16, max_len: int = 16) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model, padding_idx=PAD)
        self.position = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
        self.transformer = nn.Transformer(
            d_model, 2, 1, 1, 32, dropout=0.0, batch_first=True, norm_first=True
        )
        self.generator = nn.Linear(d_model, vocab_size)

    def _embedded(self, ids: Tensor) -> Tensor:
        return self.embed(ids) + self.position[: ids.size(1)]

    def encode(self, src: Tensor) -> Tensor:
        return self.transformer.encoder(self._embedded(src))

    def decode(self, memory: Tensor, tgt: Tensor) -> Tensor:
        size = tgt.size(1)
        causal = torch.triu(torch.ones(size, size, dtype=torch.bool, device=tgt.device), diagonal=1)
        return self.generator(self.transformer.decoder(self._embedded(tgt), memory, tgt_mask=causal))

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        return self.decode(self.encode(src), tgt)


@dataclass
class Hypotheses:
    """The best finished sequences of one source sentence."""

    size: int
    length_penalty: float
    beams: list[tuple[float, list[int]]] = field(default_factory=list)

    def add(self, tokens: list[int], log_prob: float) -> None:
        self.beams.append((log_prob / len(tokens) ** self.length_penalty, tokens))
        self.beams = sorted(self.beams, reverse=True)[: self.size]

    def is_done(self, best_running: float, length: int) -> bool:
        full = len(self.beams) == self.size
        return full and self.beams[-1][0] >= best_running / length**self.length_penalty


@torch.no_grad()
def beam_search(
    model: ReverseModel, src: Tensor, beam_size: int, max_len: int, length_penalty: float
) -> list[tuple[float, list[int]]]:
    """Of one sentence; `src` has shape (1, length)."""
    device = src.device
    memory = model.encode(src).expand(beam_size, -1, -1)
    beams = torch.full((beam_size, 1), BOS, dtype=torch.long, device=device)
    scores = torch.full((beam_size,), float("-inf"), device=device)
    scores[0] = 0.0
    finished = Hypotheses(beam_size, length_penalty)

    for _ in range(max_len):
        log_probs = F.log_softmax(model.decode(memory, beams)[:, -1], dim=-1)
        vocab_size = log_probs.size(-1)
        candidates = (scores.unsqueeze(1) + log_probs).view(-1)
        top_scores, top_ids = candidates.topk(2 * beam_size)
        parents = torch.div(top_ids, vocab_size, rounding_mode="floor")
        tokens = top_ids % vocab_size

        kept: list[tuple[float, int, int]] = []
        triples = zip(top_scores.tolist(), parents.tolist(), tokens.tolist(), strict=True)
        for score, parent, token in triples:
            if token == EOS:
                finished.add([*beams[parent].tolist(), token], score)
            else:
                kept.append((score, parent, token))
            if len(kept) == beam_size:
                break
        if finished.is_done(kept[0][0], beams.size(1)):
            break
        scores = torch.tensor([score for score, _, _ in kept], device=device)
        parent_ids = torch.tensor([parent for _, parent, _ in kept], device=device)
        next_tokens = torch.tensor([[token] for _, _, token in kept], device=device)
        beams = torch.cat([beams.index_select(0, parent_ids), next_tokens], dim=1)

    if not finished.beams:
        for sequence, score in zip(beams.tolist(), scores.tolist(), strict=True):
            finished.add(sequence, score)
    return finished.beams


def make_batch(batch_size: int, length: int, vocab_size: int, generator: torch.Generator):
    src = torch.randint(FIRST_SYMBOL, vocab_size, (batch_size, length), generator=generator)
    bos = torch.full((batch_size, 1), BOS)
    eos = torch.full((batch_size, 1), EOS)
    target = torch.cat([bos, src.flip(1), eos], dim=1)
    return src, target[:, :-1], target[:, 1:]


def train(model: ReverseModel, args: argparse.Namespace, device: str) -> None:
    generator = torch.Generator().manual_seed(0)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.1)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.98), eps=1e-9)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 5))
    model.train()
    total = 0.0
    for step in range(1, args.steps + 1):
        batch = make_batch(args.batch_size, args.length, args.vocab_size, generator)
        src, tgt_in, tgt_out = (tensor.to(device) for tensor in batch)
        logits = model(src, tgt_in)
        loss = criterion(logits.reshape(-1, logits.size(-1)), tgt_out.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        total += loss.item()
        if step % 5 == 0:
            print(f"step {step}: loss {total / 5:.4f}")
            total = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--length", type=int, default=4)
    parser.add_argument("--vocab-size", type=int, default=12)
    parser.add_argument("--beam-size", type=int, default=2)
    parser.add_argument("--length-penalty", type=float, default=0.6)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = ReverseModel(args.vocab_size).to(device)
    train(model, args, device)

    model.eval()
    src, _, _ = make_batch(1, args.length, args.vocab_size, torch.Generator().manual_seed(1))
    best = beam_search(model, src.to(device), args.beam_size, args.length + 2, args.length_penalty)
    print("source    ", src[0].tolist())
    for score, tokens in best:
        print(f"{score:8.3f}  ", tokens)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# Speculative greedy decoding with preallocated key/value caches.
#   target: 3 layers, draft: 1 layer, both briefly trained on the same toy language.
import sys
import time
from typing import List, NamedTuple, Optional

import torch
import torch.nn as nn
import torch.nn.functional as F

kVocab = 32
kMaxSeq = 64
kTrainSteps = 8
kTrainLen = 32
kBatch = 32
kGamma = 3          # tokens proposed per round
kNewTokens = 10
kDevice = torch.device("cuda:0")


class ModelDesc(NamedTuple):
    layers: int
    heads: int
    headDim: int

    @property
    def width(self) -> int:
        return self.heads * self.headDim


class KVCache:
    """Contiguous [layers, 2, batch, heads, capacity, headDim] arena plus a write cursor."""

    __slots__ = ("data", "cursor", "capacity")

    def __init__(self, desc: ModelDesc, batch: int, capacity: int):
        self.data = torch.zeros(desc.layers, 2, batch, desc.heads, capacity, desc.headDim, device=kDevice)
        self.cursor = 0
        self.capacity = capacity

    def write(self, layer: int, k: torch.Tensor, v: torch.Tensor):
        n = k.size(2)
        assert self.cursor + n <= self.capacity, "kv cache overflow"
        begin, end = self.cursor, self.cursor + n
        self.data[layer, 0, :, :, begin:end] = k
        self.data[layer, 1, :, :, begin:end] = v
        return self.data[layer, 0, :, :, :end], self.data[layer, 1, :, :, :end]

    def advance(self, n: int) -> None:
        self.cursor += n

    def rollback(self, position: int) -> None:
        assert 0 <= position <= self.cursor
        self.cursor = position


class Layer(nn.Module):
    def __init__(self, desc: ModelDesc):
        super().__init__()
        w = desc.width
        self.desc = desc
        self.ln1 = nn.LayerNorm(w)
        self.ln2 = nn.LayerNorm(w)
        self.qkv = nn.Linear(w, 3 * w)
        self.proj = nn.Linear(w, w)
        self.up = nn.Linear(w, 4 * w)
        self.down = nn.Linear(4 * w, w)

    def forward(self, x: torch.Tensor, index: int, cache: Optional[KVCache]) -> torch.Tensor:
        b, n, w = x.size()
        qkv = self.qkv(self.ln1(x)).view(b, n, 3, self.desc.heads, self.desc.headDim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        if cache is None:
            o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            past = cache.cursor
            k, v = cache.write(index, k, v)
            if n == 1:
                o = F.scaled_dot_product_attention(q, k, v)
            else:
                mask = torch.ones(n, past + n, dtype=torch.bool, device=x.device).tril(diagonal=past)
                o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.proj(o.transpose(1, 2).reshape(b, n, w))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class Transformer(nn.Module):
    def __init__(self, desc: ModelDesc):
        super().__init__()
        self.desc = desc
        self.tok = nn.Embedding(kVocab, desc.width)
        self.pos = nn.Embedding(kMaxSeq, desc.width)
        self.layers = nn.ModuleList([Layer(desc) for _ in range(desc.layers)])
        self.norm = nn.LayerNorm(desc.width)
        self.head = nn.Linear(desc.width, kVocab, bias=False)

    def forward(self, ids: torch.Tensor, cache: Optional[KVCache] = None) -> torch.Tensor:
        n = ids.size(1)
        begin = 0 if cache is None else cache.cursor
        x = self.tok(ids) + self.pos(torch.arange(begin, begin + n, device=ids.device))
        for i in range(len(self.layers)):
            x = self.layers[i](x, i, cache)
        if cache is not None:
            cache.advance(n)
        return self.head(self.norm(x))


def make_language(batch: int, length: int, gen: torch.Generator) -> torch.Tensor:
    # x[t+1] = x[t] + step (mod vocab), the step is constant per sequence and one of {1, 2}
    start = torch.randint(0, kVocab, (batch, 1), generator=gen)
    step = torch.randint(1, 3, (batch, 1), generator=gen)
    return (start + step * torch.arange(length).unsqueeze(0)) % kVocab


def train(models: List[Transformer], gen: torch.Generator) -> None:
    optimizers = [torch.optim.AdamW(m.parameters(), lr=lr, fused=kDevice.type == "cuda") for m, lr in zip(models, (6e-3, 2e-2))]
    for step in range(kTrainSteps):
        ids = make_language(kBatch, kTrainLen + 1, gen).to(kDevice)
        report = []
        for m, opt in zip(models, optimizers):
            opt.zero_grad(set_to_none=True)
            logits = m(ids[:, :-1])
            loss = F.cross_entropy(logits.reshape(-1, kVocab), ids[:, 1:].reshape(-1))
            loss.backward()
            opt.step()
            report.append(loss.detach())
        if step == 0 or step == kTrainSteps - 1:
            print("train step %d: target %.4f draft %.4f" % (step, float(report[0]), float(report[1])))


@torch.inference_mode()
def decode_greedy(model: Transformer, prompt: torch.Tensor, count: int) -> List[int]:
    cache = KVCache(model.desc, 1, kMaxSeq)
    out: List[int] = []
    next_id = model(prompt, cache)[:, -1:].argmax(-1)
    while True:
        out.append(next_id.item())
        if len(out) == count:
            return out
        next_id = model(next_id, cache)[:, -1:].argmax(-1)


class SpecStats(NamedTuple):
    rounds: int
    proposed: int
    accepted: int


@torch.inference_mode()
def decode_speculative(target: Transformer, draft: Transformer, prompt: torch.Tensor, count: int, gamma: int):
    cacheT = KVCache(target.desc, 1, kMaxSeq)
    cacheD = KVCache(draft.desc, 1, kMaxSeq)
    last = target(prompt, cacheT)[:, -1:].argmax(-1)    # not yet in either cache
    draft(prompt, cacheD)
    out: List[int] = [last.item()]
    pending = last                                       # tokens the draft has not consumed
    rounds = proposed = accepted = 0
    while len(out) < count:
        base = cacheT.cursor
        # 1. draft proposes gamma tokens
        proposal: List[torch.Tensor] = []
        feed = pending
        for _ in range(gamma):
            feed = draft(feed, cacheD)[:, -1:].argmax(-1)
            proposal.append(feed)
        guess = torch.cat(proposal, dim=1)
        # 2. target scores last + proposal in one pass
        verdict = target(torch.cat([last, guess], dim=1), cacheT).argmax(-1)
        # 3. longest agreeing prefix
        agree = (verdict[:, :-1] == guess).long().cumprod(dim=1)
        n = int(agree.sum().item())
        fresh = verdict[0, : n + 1].tolist()
        out.extend(fresh)
        last = verdict[:, n : n + 1]
        cacheT.rollback(base + n + 1)
        if n == gamma:
            pending = torch.cat([guess[:, -1:], last], dim=1)   # draft never saw its final token
        else:
            pending = last
            cacheD.rollback(base + n + 1)
        rounds, proposed, accepted = rounds + 1, proposed + gamma, accepted + n
    return out[:count], SpecStats(rounds, proposed, accepted)


def main() -> int:
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(99)
    target = Transformer(ModelDesc(layers=3, heads=4, headDim=16)).to(kDevice)
    draft = Transformer(ModelDesc(layers=1, heads=2, headDim=16)).to(kDevice)
    for name, m in (("target", target), ("draft", draft)):
        print("%-6s %7d params" % (name, sum(p.numel() for p in m.parameters())))
    train([target, draft], gen)
    target.eval()
    draft.eval()

    failures = 0
    prompt = make_language(1, 9, gen).to(kDevice)
    t0 = time.perf_counter()
    reference = decode_greedy(target, prompt, kNewTokens)
    t1 = time.perf_counter()
    ids, stats = decode_speculative(target, draft, prompt, kNewTokens, kGamma)
    t2 = time.perf_counter()
    print("prompt     ", prompt[0].tolist())
    print("greedy     ", reference, "%.1f ms" % ((t1 - t0) * 1e3))
    print("speculative", ids, "%.1f ms" % ((t2 - t1) * 1e3))
    print("rounds %d, accepted %d of %d" % (stats.rounds, stats.accepted, stats.proposed))
    failures += int(ids != reference)
    return failures


if __name__ == "__main__":
    sys.exit(main())

"""Common false alarms: none of them gives a finding of families 1 to 4."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

HEAD = """
import copy, math, random, time
import torch
import torch.nn.functional as F
import torch_xla
from torch import nn

def train(model, loader, optimizer, scheduler, ema, names, config, extra, norm_layer):
    device = torch_xla.device()
    model = model.to(device)
    table = {"a": 1}
    layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
    best = 0.0
    for step, (x, y) in enumerate(loader):
        x, y = x.to(device), y.to(device)
        out = model(x)
        loss = F.cross_entropy(out, y)
"""
TAIL = """
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
"""
FINE = {
    "schedulers": "scheduler.step(); optimizer.param_groups[0]['lr'] = 0.1 * step",
    "clipping": "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)",
    "ema": "for a, b in zip(ema.parameters(), model.parameters()): a.mul_(0.99).add_(b.detach(), alpha=0.01)",
    "deepcopy": "kept = copy.deepcopy(model)",
    "rows": "for row in out: loss = loss + row.mean()",
    "unpacking": "a, b = out[0], out[1]; first, *rest = out",
    "length": "if len(x) > 3 and x.shape[0] > 1 and x.dim() == 2 and x.numel() > 4: loss = loss * 2",
    "metadata": "assert x.dtype == torch.float32 and x.device == y.device and x.requires_grad is False",
    "class": "if extra.to(device).__class__ == nn.Linear: loss = loss * 2",
    "none": "loss = loss if extra is None else loss + 1",
    "shapes shown": "print(x.shape, x.dtype, x.device, len(x), f'{x.shape[0]}')",
    "is_tensor": "if torch.is_tensor(x) or isinstance(x, torch.Tensor) or x.is_contiguous(): loss = loss + 0",
    "hooks": "handle = model.register_forward_hook(lambda module, inputs, output: output * 2)",
    "float64": "z = out.double() * 2.0",
    "attention": "z = F.scaled_dot_product_attention(out, out, out, attn_mask=(out > 0).float())",
    "topk": "z = out.topk(3).values; w = out.sort().values",
    "in place on views": "out[0].add_(1); out[:, 1:].mul_(2); out[0] = 0",
    "cudnn": "torch.backends.cudnn.benchmark = True",
    "scalars": "loss = loss * (0.1 * step) + step / 7 - math.sqrt(step + 1)",
    "temperature": "z = (out / max(0.1, 1.0 - step / 100)).clamp(max=step + 1.0)",
    "dropout p": "z = F.dropout(out, p=0.1)",
    "masked fill": "z = out.masked_fill(out < 0, float(step)); w = torch.where(out < 0, out, 0.0)",
    "where method": "z = out.where(out > 0, out * 0)",
    "one hot": "z = F.one_hot(y, 10)",
    "integer index": "z = out[y]; w = out[[0, 1]]; v = out[0]; u = out[:, -1]; t = out[..., None]",
    "layer loop": "for i in range(3): out = layers[i](out) + i",
    "list index": "z = names[step]; w = config.sizes[step]",
    "dictionary": "for name, value in table.items(): z = value; w = table.get('b')",
    "membership": "if 'weight' in model.state_dict() and 'a' in table: z = 1",
    "membership of a result": "assert 'logits' in extra(out) and 'a' not in out",
    "pairs of indices": "edge_index = y.long(); w = out[edge_index]; z = out[edge_index[0], :3]",
    "rows of pairs": "bonds = y.long(); w = out[bonds]; z = out[bonds[0], :3] + out[bonds[1], :3]",
    "class of a result": "z = model(x)\nif isinstance(z, Gaussian): w = z.mode() if z.mean() else 1",
    "sum and abs": "z = sum([loss, loss]); w = abs(loss); v = reversed(out); u = {loss, out}",
    "python max": "best = max(best, 0.5); z = min(step, 3); w = sorted([3, 1])",
    "repeat": "z = out.repeat_interleave(2, dim=0); w = torch.multinomial(out.softmax(-1), 1)",
    "random numbers": "z = out * random.random() + random.uniform(0, 1)",
    "train switch": "model.train(); model.eval(); model.train(step > 3)",
    "accumulation": "(loss / 4).backward()",
    "grad mode": "with torch.no_grad(): z = model(x).detach()",
    "cat": "z = torch.cat([out, out], 1); w = torch.stack([loss, loss])",
    "gather": "z = out.gather(1, y[:, None]); w = torch.zeros_like(out).scatter_add_(0, y[:, None], out)",
    "timing of loading": "start = time.time(); wait = time.time() - start",
    "cpu data": "z = torch.randint(0, 3, (4,)); w = z[z > 1].tolist(); v = int(z.sum())",
    "raise": "if len(x) > 9: raise ValueError(f'bad loss {loss}')",
    "check of shapes": "torch._check(x.shape[0] > 1)",
}


@pytest.mark.parametrize("case", FINE)
def test_reports_nothing_for(case: str) -> None:
    text = HEAD + "".join(f"        {line}\n" for line in FINE[case].split("\n")) + TAIL
    overrides = {"select": ["XLA1", "XLA2", "XLA3", "XLA4"], "ignore": ["XLA408"], "confidence": "possible"}
    options = engine.Options(overrides=overrides, isolated=True, stdin=("train.py", text.encode()))
    found = engine.check([Path("train.py")], options).findings
    assert [(f.code, f.message) for f in found] == []

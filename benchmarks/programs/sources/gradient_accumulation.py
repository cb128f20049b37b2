"""Masked language modelling in mixed precision with gradients accumulated over micro-batches."""

from __future__ import annotations

import argparse
import time

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

IGNORE = -100


class MaskedLM(nn.Module):
    def __init__(self, vocab: int, dim: int = 16, length: int = 16) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.zeros(length, dim))
        self.norm = nn.LayerNorm(dim)
        self.mix = nn.Conv1d(dim, dim, 5, padding=2)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids: Tensor, padding_mask: Tensor) -> Tensor:
        x = self.embed(ids) + self.pos[: ids.size(1)]
        x = x.masked_fill(padding_mask.unsqueeze(-1), 0.0)
        x = x + self.drop(F.gelu(self.mix(self.norm(x).transpose(1, 2)).transpose(1, 2)))
        return self.head(x)


def synthetic_tokens(count: int, length: int, vocab: int) -> TensorDataset:
    """Arithmetic progressions modulo the vocabulary, padded with zeros on the right."""
    generator = torch.Generator().manual_seed(0)
    start = torch.randint(0, vocab - 2, (count, 1), generator=generator)
    stride = torch.randint(1, 4, (count, 1), generator=generator)
    ids = 2 + (start + stride * torch.arange(length)) % (vocab - 2)
    real = torch.randint(length // 2, length + 1, (count, 1), generator=generator)
    return TensorDataset(ids * (torch.arange(length) < real))


def mask_tokens(ids: Tensor, probability: float) -> tuple[Tensor, Tensor]:
    labels = ids.clone()
    masked = (torch.rand(ids.shape, device=ids.device) < probability) & (ids != 0)
    labels[~masked] = IGNORE
    ids = ids.clone()
    ids[masked] = 1
    return ids, labels


class Accumulator:
    """Steps once every `every` micro-batches."""

    def __init__(self, model: nn.Module, optimizer, scheduler, scaler, every: int, max_norm: float) -> None:
        self.model, self.optimizer, self.scheduler, self.scaler = model, optimizer, scheduler, scaler
        self.every, self.max_norm = every, max_norm
        self.micro_steps = 0

    def backward(self, loss: Tensor) -> bool:
        self.scaler.scale(loss / self.every).backward()
        self.micro_steps += 1
        if self.micro_steps % self.every != 0:
            return False
        self.scaler.unscale_(self.optimizer)
        self.grad_norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.scheduler.step()
        self.optimizer.zero_grad(set_to_none=True)
        return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--micro-batch-size", type=int, default=4)
    parser.add_argument("--accumulation-steps", type=int, default=2)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--max-norm", type=float, default=1.0)
    args = parser.parse_args()

    torch.manual_seed(0)
    torch.set_float32_matmul_precision("high")
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    vocab, length = 32, 12
    loader = DataLoader(synthetic_tokens(32, length, vocab), args.micro_batch_size, shuffle=True)
    model = MaskedLM(vocab).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, foreach=True)
    total_steps = args.epochs * len(loader) // args.accumulation_steps
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=args.lr, total_steps=total_steps + 1)
    scaler = torch.amp.GradScaler(enabled=device.type == "cuda")
    accumulator = Accumulator(model, optimizer, scheduler, scaler, args.accumulation_steps, args.max_norm)

    for epoch in range(args.epochs):
        epoch_loss = torch.zeros((), device=device)
        started = time.time()
        for (ids,) in loader:
            ids = ids.to(device, non_blocking=True)
            inputs, labels = mask_tokens(ids, probability=0.3)
            with torch.autocast(device_type=device.type, dtype=torch.bfloat16):
                logits = model(inputs, padding_mask=ids == 0)
                loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORE)
            if accumulator.backward(loss):
                print(f"  grad norm {accumulator.grad_norm:.3f} lr {scheduler.get_last_lr()[0]:.2e}")
            epoch_loss += loss.detach()
        if device.type == "cuda":
            torch.cuda.synchronize()
        seconds = time.time() - started
        print(f"epoch {epoch}: loss {epoch_loss.item() / len(loader):.4f} in {seconds:.1f} s")


if __name__ == "__main__":
    main()

"""A module that defines its own steps, and the small trainer that runs it."""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset


class Module(nn.Module):
    """What is trained says how; the trainer says when."""

    trainer: Trainer

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def log(self, name: str, value: Tensor | float, prog_bar: bool = False) -> None:
        self.trainer.record(name, value, prog_bar)

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        raise NotImplementedError

    def validation_step(self, batch: Any, batch_idx: int) -> None: ...
    def on_train_epoch_end(self) -> None: ...
    def configure_optimizers(self) -> Any:
        raise NotImplementedError


class EarlyStopping:
    def __init__(self, monitor: str, patience: int) -> None:
        self.monitor, self.patience = monitor, patience
        self.best = torch.tensor(float("inf"))
        self.wait_count = 0

    def on_validation_end(self, trainer: Trainer) -> None:
        current = trainer.callback_metrics[self.monitor]
        if torch.lt(current, self.best.to(current.device)):
            self.best, self.wait_count = current, 0
        else:
            self.wait_count += 1
        trainer.should_stop = self.wait_count >= self.patience


class ModelCheckpoint:
    def __init__(self, folder: Path, monitor: str) -> None:
        self.folder, self.monitor = folder, monitor
        self.best_score: Tensor | None = None

    def on_validation_end(self, trainer: Trainer) -> None:
        current = trainer.callback_metrics[self.monitor]
        if self.best_score is None or current < self.best_score:
            self.best_score = current
            path = self.folder / f"epoch={trainer.current_epoch}-step={trainer.global_step}.ckpt"
            torch.save({"state_dict": trainer.module.state_dict(), "epoch": trainer.current_epoch}, path)


class Trainer:
    def __init__(
        self,
        max_epochs: int,
        accelerator: str = "auto",
        precision: str = "32",
        gradient_clip_val: float | None = None,
        log_every_n_steps: int = 5,
        callbacks: list[Any] | None = None,
    ) -> None:
        if accelerator == "auto":
            accelerator = "gpu" if torch.cuda.is_available() else "cpu"
        self.root_device = torch.device("cuda", 0) if accelerator == "gpu" else torch.device("cpu")
        self.max_epochs, self.precision = max_epochs, precision
        self.gradient_clip_val, self.log_every_n_steps = gradient_clip_val, log_every_n_steps
        self.callbacks = callbacks or []
        self.current_epoch = self.global_step = 0
        self.should_stop = False
        self.callback_metrics: dict[str, Tensor] = {}
        self._pending: dict[str, list[Tensor]] = defaultdict(list)

    def record(self, name: str, value: Tensor | float, prog_bar: bool) -> None:
        value = torch.as_tensor(value).detach()
        self._pending[name].append(value)
        if prog_bar and self.global_step % self.log_every_n_steps == 0:
            print(f"  {name} = {value.item():.4f}")

    def _reduce_metrics(self) -> None:
        for name, values in self._pending.items():
            self.callback_metrics[name] = torch.stack(values).mean()
        self._pending.clear()

    def _to_device(self, batch: Any) -> Any:
        if isinstance(batch, torch.Tensor):
            return batch.to(self.root_device, non_blocking=True)
        return type(batch)(self._to_device(item) for item in batch)

    def _autocast(self) -> torch.autocast:
        bf16 = self.precision == "bf16-mixed"
        return torch.autocast(self.root_device.type, dtype=torch.bfloat16, enabled=bf16)

    def fit(self, module: Module, train_loader: DataLoader, val_loader: DataLoader) -> None:
        self.module = module.to(self.root_device)
        module.trainer = self
        (optimizer,), (scheduler,) = module.configure_optimizers()
        for epoch in range(self.max_epochs):
            self.current_epoch = epoch
            self._train_epoch(module, train_loader, optimizer)
            scheduler.step()
            self._validate(module, val_loader)
            summary = "  ".join(f"{name}={value:.4f}" for name, value in self.callback_metrics.items())
            print(f"Epoch {epoch}: {summary}")
            if self.should_stop:
                break

    def _train_epoch(self, module: Module, loader: DataLoader, optimizer: torch.optim.Optimizer) -> None:
        module.train()
        torch.set_grad_enabled(True)
        for batch_idx, batch in enumerate(loader):
            with self._autocast():
                loss = module.training_step(self._to_device(batch), batch_idx)
            if not torch.isfinite(loss).all():
                raise ValueError(f"the loss returned in `training_step` is {loss}")
            optimizer.zero_grad()
            loss.backward()
            if self.gradient_clip_val is not None:
                nn.utils.clip_grad_norm_(module.parameters(), self.gradient_clip_val)
            optimizer.step()
            self.global_step += 1
        module.on_train_epoch_end()

    def _validate(self, module: Module, loader: DataLoader) -> None:
        module.eval()
        torch.set_grad_enabled(False)
        for batch_idx, batch in enumerate(loader):
            with self._autocast():
                module.validation_step(self._to_device(batch), batch_idx)
        self._reduce_metrics()
        for callback in self.callbacks:
            callback.on_validation_end(self)


class SineRegressor(Module):
    """Predicts the amplitude and frequency of a noisy sine wave."""

    def __init__(self, length: int, width: int = 32, lr: float = 1e-2) -> None:
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(
            nn.Conv1d(1, 8, 5, padding=2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * length, width), nn.ReLU()
        )
        self.head = nn.Linear(width, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.net(x))

    def training_step(self, batch: Any, batch_idx: int) -> Tensor:
        x, y = batch
        loss = F.mse_loss(self(x), y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch: Any, batch_idx: int) -> None:
        x, y = batch
        prediction = self(x)
        self.log("val_loss", F.mse_loss(prediction, y))
        self.log("val_mae", F.l1_loss(prediction, y))

    def configure_optimizers(self) -> Any:
        optimizer = torch.optim.Adam(self.parameters(), lr=self.lr)
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)]


class SineWaves(Dataset):
    def __init__(self, count: int, length: int, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.targets = torch.rand(count, 2, generator=generator) + 0.5
        time = torch.linspace(0, 6.28, length)
        waves = self.targets[:, :1] * torch.sin(self.targets[:, 1:] * time)
        self.waves = (waves + 0.05 * torch.randn(count, length, generator=generator)).unsqueeze(1)

    def __len__(self) -> int:
        return len(self.waves)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.waves[index], self.targets[index]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--precision", default="bf16-mixed", choices=("32", "bf16-mixed"))
    args = parser.parse_args()

    torch.manual_seed(0)
    train_loader = DataLoader(SineWaves(32, 24, seed=0), args.batch_size, shuffle=True)
    val_loader = DataLoader(SineWaves(16, 24, seed=1), args.batch_size)
    with tempfile.TemporaryDirectory() as folder:
        callbacks = [EarlyStopping("val_loss", patience=2), ModelCheckpoint(Path(folder), "val_loss")]
        trainer = Trainer(args.epochs, precision=args.precision, gradient_clip_val=1.0, callbacks=callbacks)
        trainer.fit(SineRegressor(length=24), train_loader, val_loader)


if __name__ == "__main__":
    main()

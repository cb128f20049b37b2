"""A Trainer with arguments, callbacks, a collator and checkpoints fine-tunes a sentence classifier."""

from __future__ import annotations

import argparse
import dataclasses
import json
import logging
import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, Dataset

logger = logging.getLogger(__name__)


@dataclass
class TrainingArguments:
    output_dir: str
    num_train_epochs: int = 2
    max_steps: int = -1
    per_device_train_batch_size: int = 4
    per_device_eval_batch_size: int = 8
    gradient_accumulation_steps: int = 1
    learning_rate: float = 1e-2
    weight_decay: float = 0.01
    max_grad_norm: float = 1.0
    warmup_ratio: float = 0.1
    logging_steps: int = 3
    bf16: bool = True
    logging_nan_inf_filter: bool = True
    seed: int = 42

    @property
    def device(self) -> torch.device:
        return torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


@dataclass
class TrainerState:
    epoch: float = 0.0
    global_step: int = 0
    max_steps: int = 0
    log_history: list[dict[str, float]] = field(default_factory=list)


class TrainerCallback:
    def on_step_end(self, args: TrainingArguments, state: TrainerState, **kwargs: Any) -> None: ...
    def on_log(self, args: TrainingArguments, state: TrainerState, logs: dict, **kwargs: Any) -> None: ...
    def on_epoch_end(self, args: TrainingArguments, state: TrainerState, **kwargs: Any) -> None: ...


class PrinterCallback(TrainerCallback):
    def on_log(self, args: TrainingArguments, state: TrainerState, logs: dict, **kwargs: Any) -> None:
        print(f"step {state.global_step}/{state.max_steps}", json.dumps(logs))


def get_linear_schedule_with_warmup(optimizer, num_warmup_steps: int, num_training_steps: int) -> LambdaLR:
    def lr_lambda(current_step: int) -> float:
        if current_step < num_warmup_steps:
            return float(current_step) / float(max(1, num_warmup_steps))
        remaining = num_training_steps - current_step
        return max(0.0, float(remaining) / float(max(1, num_training_steps - num_warmup_steps)))

    return LambdaLR(optimizer, lr_lambda)


class Trainer:
    def __init__(
        self,
        model: nn.Module,
        args: TrainingArguments,
        data_collator: Callable[[list[dict]], dict[str, Tensor]],
        train_dataset: Dataset,
        eval_dataset: Dataset,
        compute_metrics: Callable[[np.ndarray, np.ndarray], dict[str, float]],
        callbacks: list[TrainerCallback] | None = None,
    ) -> None:
        self.args, self.state = args, TrainerState()
        self.model = model.to(args.device)
        self.data_collator, self.compute_metrics = data_collator, compute_metrics
        self.train_dataset, self.eval_dataset = train_dataset, eval_dataset
        self.callbacks = callbacks or [PrinterCallback()]

    def call_event(self, event: str, **kwargs: Any) -> None:
        for callback in self.callbacks:
            getattr(callback, event)(self.args, self.state, **kwargs)

    def get_dataloader(self, dataset: Dataset, batch_size: int, shuffle: bool) -> DataLoader:
        pin_memory = torch.cuda.is_available()
        return DataLoader(
            dataset, batch_size, shuffle=shuffle, collate_fn=self.data_collator, pin_memory=pin_memory
        )

    def create_optimizer_and_scheduler(self, num_training_steps: int) -> None:
        no_decay = ("bias", "norm.weight")
        named = list(self.model.named_parameters())
        groups = [
            {
                "params": [p for n, p in named if not n.endswith(no_decay)],
                "weight_decay": self.args.weight_decay,
            },
            {"params": [p for n, p in named if n.endswith(no_decay)], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=self.args.learning_rate)
        warmup_steps = math.ceil(num_training_steps * self.args.warmup_ratio)
        self.lr_scheduler = get_linear_schedule_with_warmup(self.optimizer, warmup_steps, num_training_steps)

    def _prepare_inputs(self, data: Any) -> Any:
        if isinstance(data, Mapping):
            return type(data)({k: self._prepare_inputs(v) for k, v in data.items()})
        if isinstance(data, list | tuple):
            return type(data)(self._prepare_inputs(v) for v in data)
        if isinstance(data, torch.Tensor):
            return data.to(self.args.device, non_blocking=True)
        return data

    def compute_loss(self, inputs: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        with torch.autocast(self.args.device.type, dtype=torch.bfloat16, enabled=self.args.bf16):
            logits = self.model(inputs["input_ids"], inputs["attention_mask"])
            return nn.functional.cross_entropy(logits, inputs["labels"]), logits

    def training_step(self, inputs: dict[str, Tensor]) -> Tensor:
        self.model.train()
        inputs = self._prepare_inputs(inputs)
        loss, _ = self.compute_loss(inputs)
        loss = loss / self.args.gradient_accumulation_steps
        loss.backward()
        return loss.detach()

    def train(self) -> None:
        args = self.args
        dataloader = self.get_dataloader(self.train_dataset, args.per_device_train_batch_size, shuffle=True)
        steps_per_epoch = max(1, len(dataloader) // args.gradient_accumulation_steps)
        max_steps = args.max_steps if args.max_steps > 0 else steps_per_epoch * args.num_train_epochs
        self.state.max_steps = max_steps
        self.create_optimizer_and_scheduler(max_steps)

        tr_loss = torch.tensor(0.0).to(args.device)
        self._total_loss_scalar = 0.0
        self._globalstep_last_logged = 0
        for epoch in range(math.ceil(max_steps / steps_per_epoch)):
            for step, inputs in enumerate(dataloader):
                tr_loss_step = self.training_step(inputs)
                if args.logging_nan_inf_filter and (torch.isnan(tr_loss_step) or torch.isinf(tr_loss_step)):
                    tr_loss += tr_loss / (1 + self.state.global_step - self._globalstep_last_logged)
                else:
                    tr_loss += tr_loss_step

                if (step + 1) % args.gradient_accumulation_steps == 0:
                    grad_norm = nn.utils.clip_grad_norm_(self.model.parameters(), args.max_grad_norm)
                    self.optimizer.step()
                    self.lr_scheduler.step()
                    self.model.zero_grad()
                    self.state.global_step += 1
                    self.state.epoch = epoch + (step + 1) / len(dataloader)
                    self.call_event("on_step_end")
                    self._maybe_log(tr_loss, grad_norm)
                if self.state.global_step >= max_steps:
                    break
            self.log(self.evaluate())
            self._save_checkpoint()
            self.call_event("on_epoch_end")

    def _maybe_log(self, tr_loss: Tensor, grad_norm: Tensor) -> None:
        if self.state.global_step % self.args.logging_steps != 0:
            return
        tr_loss_scalar = tr_loss.mean().item()
        tr_loss -= tr_loss
        since = self.state.global_step - self._globalstep_last_logged
        self._total_loss_scalar += tr_loss_scalar
        self._globalstep_last_logged = self.state.global_step
        lr = self.lr_scheduler.get_last_lr()[0]
        self.log({"loss": round(tr_loss_scalar / since, 4), "grad_norm": grad_norm.item(), "lr": lr})

    def log(self, logs: dict[str, float]) -> None:
        logs["epoch"] = round(self.state.epoch, 2)
        self.state.log_history.append({**logs, "step": self.state.global_step})
        self.call_event("on_log", logs=logs)

    @torch.no_grad()
    def evaluate(self) -> dict[str, float]:
        self.model.eval()
        losses, logits, labels = [], [], []
        loader = self.get_dataloader(self.eval_dataset, self.args.per_device_eval_batch_size, shuffle=False)
        for inputs in loader:
            inputs = self._prepare_inputs(inputs)
            loss, outputs = self.compute_loss(inputs)
            losses.append(loss.repeat(len(outputs)).cpu())
            logits.append(outputs.float().cpu().numpy())
            labels.append(inputs["labels"].cpu().numpy())
        metrics = self.compute_metrics(np.concatenate(logits), np.concatenate(labels))
        metrics["loss"] = torch.cat(losses).mean().item()
        return {f"eval_{name}": round(value, 4) for name, value in metrics.items()}

    def _save_checkpoint(self) -> None:
        folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
        folder.mkdir(parents=True, exist_ok=True)
        torch.save(self.model.state_dict(), folder / "pytorch_model.bin")
        torch.save(self.optimizer.state_dict(), folder / "optimizer.pt")
        torch.save({"cpu": torch.random.get_rng_state()}, folder / "rng_state.pth")
        (folder / "trainer_state.json").write_text(json.dumps(dataclasses.asdict(self.state)))
        logger.info("saved %s", folder)


class BagClassifier(nn.Module):
    def __init__(self, vocab_size: int, num_labels: int, dim: int = 16) -> None:
        super().__init__()
        self.embeddings = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.dense = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.classifier = nn.Linear(dim, num_labels)

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        hidden = self.norm(torch.tanh(self.dense(self.embeddings(input_ids))))
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        pooled = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return self.classifier(pooled)


class Sentences(Dataset):
    """The label tells which half of the vocabulary most words come from."""

    def __init__(self, count: int, vocab_size: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        lengths = rng.integers(3, 9, count)
        self.rows = [rng.integers(1, vocab_size, length).tolist() for length in lengths]
        self.labels = [int(np.mean(row) > vocab_size / 2) for row in self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"input_ids": self.rows[index], "label": self.labels[index]}


def data_collator_with_padding(features: list[dict]) -> dict[str, Tensor]:
    longest = max(len(f["input_ids"]) for f in features)
    ids = torch.tensor([f["input_ids"] + [0] * (longest - len(f["input_ids"])) for f in features])
    labels = torch.tensor([f["label"] for f in features])
    return {"input_ids": ids, "attention_mask": (ids != 0).long(), "labels": labels}


def accuracy_metrics(predictions: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    return {"accuracy": float((predictions.argmax(-1) == labels).mean())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=-1, help="overrides the number of epochs")
    cli = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(folder, num_train_epochs=cli.epochs, max_steps=cli.steps)
        torch.manual_seed(args.seed)
        torch.cuda.manual_seed_all(args.seed)
        trainer = Trainer(
            model=BagClassifier(vocab_size=50, num_labels=2),
            args=args,
            data_collator=data_collator_with_padding,
            train_dataset=Sentences(24, 50, seed=0),
            eval_dataset=Sentences(12, 50, seed=1),
            compute_metrics=accuracy_metrics,
        )
        trainer.train()


if __name__ == "__main__":
    main()

"""Masked language model pre-training with dynamic masking."""

import logging
import math
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

logger = logging.getLogger(__name__)

PAD_ID, CLS_ID, SEP_ID, MASK_ID, N_SPECIAL = 0, 1, 2, 3, 4
VOCAB_SIZE = 120


@dataclass
class TrainingArguments:
    learning_rate: float = 3e-3
    num_train_epochs: int = 2
    batch_size: int = 16
    max_grad_norm: float = 1.0
    warmup_steps: int = 3
    logging_steps: int = 5
    mlm_probability: float = 0.15
    bf16: bool = True
    seed: int = 42
    device: str = field(default_factory=lambda: "cuda" if torch.cuda.is_available() else "cpu")


class SentenceDataset(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.sentences = []
        for _ in range(n):
            length, start, stride = (torch.randint(1, hi, (1,), generator=g).item() for hi in (14, 116, 4))
            ids = [(start + stride * i) % (VOCAB_SIZE - N_SPECIAL) + N_SPECIAL for i in range(length + 6)]
            self.sentences.append([CLS_ID, *ids, SEP_ID])

    def __len__(self):
        return len(self.sentences)

    def __getitem__(self, i):
        return {"input_ids": self.sentences[i]}


def pad_collator(features):
    longest = max(len(f["input_ids"]) for f in features)
    ids = [f["input_ids"] + [PAD_ID] * (longest - len(f["input_ids"])) for f in features]
    input_ids = torch.tensor(ids)
    return {"input_ids": input_ids, "attention_mask": input_ids.ne(PAD_ID)}


class TinyBert(nn.Module):
    def __init__(self, hidden=48, layers=1, heads=4, max_len=32):
        super().__init__()
        self.tok = nn.Embedding(VOCAB_SIZE, hidden, padding_idx=PAD_ID)
        self.pos = nn.Embedding(max_len, hidden)
        layer = nn.TransformerEncoderLayer(hidden, heads, 4 * hidden, 0.1, "gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.GELU(), nn.LayerNorm(hidden))
        self.bias = nn.Parameter(torch.zeros(VOCAB_SIZE))
        nn.init.normal_(self.tok.weight, std=0.05)
        self.register_buffer("position_ids", torch.arange(max_len).unsqueeze(0), persistent=False)

    def forward(self, input_ids, attention_mask, labels=None):
        x = self.tok(input_ids) + self.pos(self.position_ids[:, : input_ids.shape[1]])
        x = self.encoder(x, src_key_padding_mask=~attention_mask)
        logits = self.head(x) @ self.tok.weight.t() + self.bias
        loss = None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits.view(-1, VOCAB_SIZE), labels.view(-1))
        return {"loss": loss, "logits": logits}


class Trainer:
    def __init__(self, model, args, train_dataset, eval_dataset, data_collator):
        self.args, self.data_collator = args, data_collator
        self.train_dataset, self.eval_dataset = train_dataset, eval_dataset
        self.model = model.to(args.device)
        self.global_step = 0

    def get_dataloader(self, dataset, shuffle):
        return DataLoader(dataset, self.args.batch_size, shuffle=shuffle, collate_fn=self.data_collator)

    def _prepare_inputs(self, inputs):
        return {k: v.to(self.args.device) for k, v in inputs.items()}

    def compute_loss(self, model, inputs, return_outputs=False):
        outputs = model(**inputs)
        return (outputs["loss"], outputs) if return_outputs else outputs["loss"]

    def training_step(self, inputs):
        inputs = self._prepare_inputs(inputs)
        with torch.autocast(self.args.device, dtype=torch.bfloat16, enabled=self.args.bf16):
            loss = self.compute_loss(self.model, inputs)
        loss.backward()
        return loss.detach()

    def log(self, logs):
        logger.info("%s", {**logs, "step": self.global_step})

    def train(self):
        loader = self.get_dataloader(self.train_dataset, shuffle=True)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.args.learning_rate)
        warmup = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda s: min(1.0, (s + 1) / self.args.warmup_steps)
        )
        tr_loss = torch.tensor(0.0).to(self.args.device)
        for _ in range(self.args.num_train_epochs):
            self.model.train()
            for inputs in loader:
                step_loss = self.training_step(inputs)
                if torch.isnan(step_loss) or torch.isinf(step_loss):
                    step_loss = tr_loss / (1 + self.args.logging_steps)
                tr_loss += step_loss
                nn.utils.clip_grad_norm_(self.model.parameters(), self.args.max_grad_norm)
                self.optimizer.step()
                warmup.step()
                self.model.zero_grad()
                self.global_step += 1
                if self.global_step % self.args.logging_steps == 0:
                    loss = tr_loss.item() / self.args.logging_steps
                    tr_loss -= tr_loss
                    self.log({"loss": round(loss, 4), "lr": warmup.get_last_lr()[0]})
            self.log(self.evaluate())

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        losses, correct, total = [], 0, 0
        for inputs in self.get_dataloader(self.eval_dataset, shuffle=False):
            inputs = self._prepare_inputs(inputs)
            loss, outputs = self.compute_loss(self.model, inputs, return_outputs=True)
            losses.append(loss.item())
            masked = inputs["labels"] != -100
            preds = outputs["logits"].argmax(-1)
            correct += (preds[masked] == inputs["labels"][masked]).sum().item()
            total += masked.sum().item()
        mean = sum(losses) / len(losses)
        return {"eval_loss": mean, "perplexity": math.exp(mean), "accuracy": correct / max(total, 1)}


class MLMTrainer(Trainer):
    """Draws new masks whenever a batch is seen, instead of once when the data is prepared."""

    def mask_tokens(self, inputs):
        labels = inputs["input_ids"].clone()
        probability = torch.full(labels.shape, self.args.mlm_probability, device=labels.device)
        probability.masked_fill_(labels < N_SPECIAL, 0.0)
        masked = torch.bernoulli(probability).bool()
        labels[~masked] = -100
        replaced = torch.bernoulli(torch.full(labels.shape, 0.8, device=labels.device)).bool() & masked
        inputs["input_ids"][replaced] = MASK_ID
        randomized = torch.bernoulli(torch.full(labels.shape, 0.5, device=labels.device)).bool()
        randomized = randomized & masked & ~replaced
        words = torch.randint(N_SPECIAL, VOCAB_SIZE, labels.shape, device=labels.device)
        inputs["input_ids"][randomized] = words[randomized]
        inputs["labels"] = labels
        return inputs

    def compute_loss(self, model, inputs, return_outputs=False):
        return super().compute_loss(model, self.mask_tokens(inputs), return_outputs)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    args = TrainingArguments()
    torch.manual_seed(args.seed)
    MLMTrainer(TinyBert(), args, SentenceDataset(76, 0), SentenceDataset(32, 1), pad_collator).train()

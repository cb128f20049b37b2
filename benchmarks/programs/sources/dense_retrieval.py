#!/usr/bin/env python
"""Fine-tune a dual encoder for dense passage retrieval with in-batch negatives."""

import argparse
import logging
import math
import sys
from dataclasses import dataclass, field, fields

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, Dataset

logger = logging.getLogger(__name__)

PAD, CLS = 0, 1


@dataclass
class ModelConfig:
    vocab_size: int = field(default=200, metadata={"help": "Size of the vocabulary."})
    hidden_size: int = field(default=32, metadata={"help": "Width of the encoder."})
    num_hidden_layers: int = field(default=2, metadata={"help": "Number of layers."})
    num_attention_heads: int = field(default=4, metadata={"help": "Attention heads per layer."})
    max_position_embeddings: int = field(default=32, metadata={"help": "Longest input."})
    tie_encoders: bool = field(default=False, metadata={"help": "Share the two encoders."})


@dataclass
class TrainingArguments:
    learning_rate: float = field(default=2e-3, metadata={"help": "Peak learning rate."})
    weight_decay: float = field(default=0.01, metadata={"help": "Weight decay of matrices."})
    num_train_epochs: int = field(default=3, metadata={"help": "Epochs."})
    per_device_train_batch_size: int = field(default=16, metadata={"help": "Questions per batch."})
    warmup_ratio: float = field(default=0.1, metadata={"help": "Part of the steps spent on warmup."})
    max_grad_norm: float = field(default=1.0, metadata={"help": "Gradient clipping."})
    temperature: float = field(default=0.1, metadata={"help": "Softmax temperature."})
    logging_steps: int = field(default=5, metadata={"help": "Log every so many updates."})
    seed: int = field(default=42, metadata={"help": "Random seed."})


def parse_args_into_dataclasses(*dataclass_types):
    parser = argparse.ArgumentParser(description=__doc__)
    for dtype in dataclass_types:
        for f in fields(dtype):
            if f.type is bool:
                parser.add_argument(f"--{f.name}", action="store_true", help=f.metadata["help"])
            else:
                parser.add_argument(f"--{f.name}", type=f.type, default=f.default, help=f.metadata["help"])
    namespace = vars(parser.parse_args())
    return tuple(dtype(**{f.name: namespace[f.name] for f in fields(dtype)}) for dtype in dataclass_types)


class RetrievalDataset(Dataset):
    """A passage is some words, its question a shuffled part of them and a bit of noise."""

    def __init__(self, num_examples, vocab_size, seed):
        g = torch.Generator().manual_seed(seed)
        self.examples = []
        for _ in range(num_examples):
            length = int(torch.randint(10, 24, (1,), generator=g))
            passage = torch.randint(2, vocab_size, (length,), generator=g)
            keep = torch.randperm(length, generator=g)[: int(torch.randint(3, 8, (1,), generator=g))]
            noise = torch.randint(2, vocab_size, (1,), generator=g)
            self.examples.append({"question": torch.cat((passage[keep], noise)), "passage": passage})

    def __len__(self):
        return len(self.examples)

    def __getitem__(self, i):
        return self.examples[i]


@dataclass
class DataCollatorForRetrieval:
    max_length: int

    def pad(self, sequences):
        sequences = [[CLS, *s.tolist()][: self.max_length] for s in sequences]
        longest = max(len(s) for s in sequences)
        input_ids = torch.tensor([s + [PAD] * (longest - len(s)) for s in sequences])
        return {"input_ids": input_ids, "attention_mask": (input_ids != PAD).long()}

    def __call__(self, features):
        return {
            "question": self.pad([f["question"] for f in features]),
            "passage": self.pad([f["passage"] for f in features]),
        }


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=PAD)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.layer_norm = nn.LayerNorm(config.hidden_size)
        layer = nn.TransformerEncoderLayer(
            config.hidden_size,
            config.num_attention_heads,
            4 * config.hidden_size,
            dropout=0.1,
            activation="gelu",
            batch_first=True,
        )
        self.encoder = nn.TransformerEncoder(layer, config.num_hidden_layers, enable_nested_tensor=False)

    def forward(self, input_ids, attention_mask):
        position_ids = torch.arange(input_ids.size(1), device=input_ids.device)
        x = self.layer_norm(self.word_embeddings(input_ids) + self.position_embeddings(position_ids))
        x = self.encoder(x, src_key_padding_mask=attention_mask == 0)
        mask = attention_mask.unsqueeze(-1).to(x.dtype)
        return (x * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1e-9)


class BiEncoderModel(nn.Module):
    def __init__(self, config, temperature):
        super().__init__()
        self.question_encoder = Encoder(config)
        self.passage_encoder = self.question_encoder if config.tie_encoders else Encoder(config)
        self.temperature = temperature

    def forward(self, question, passage):
        q = F.normalize(self.question_encoder(**question), dim=-1)
        p = F.normalize(self.passage_encoder(**passage), dim=-1)
        scores = q @ p.transpose(0, 1) / self.temperature
        labels = torch.arange(scores.size(0), dtype=torch.long, device=scores.device)
        return {"loss": F.cross_entropy(scores, labels), "scores": scores}


def prepare_inputs(inputs, device):
    if isinstance(inputs, dict):
        return {k: prepare_inputs(v, device) for k, v in inputs.items()}
    return inputs.to(device)


def get_linear_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps):
    def lr_lambda(step):
        if step < num_warmup_steps:
            return step / max(1, num_warmup_steps)
        return max(0.0, (num_training_steps - step) / max(1, num_training_steps - num_warmup_steps))

    return LambdaLR(optimizer, lr_lambda)


@torch.no_grad()
def evaluate(model, dataloader, device):
    model.eval()
    questions, passages = [], []
    for batch in dataloader:
        batch = prepare_inputs(batch, device)
        questions.append(F.normalize(model.question_encoder(**batch["question"]), dim=-1).cpu())
        passages.append(F.normalize(model.passage_encoder(**batch["passage"]), dim=-1).cpu())
    scores = torch.cat(questions) @ torch.cat(passages).t()
    ranks = (scores > scores.diagonal().unsqueeze(1)).sum(dim=1) + 1
    reciprocal = torch.where(ranks <= 10, 1.0 / ranks, torch.zeros(()))
    return {"mrr@10": reciprocal.mean().item(), "recall@5": (ranks <= 5).float().mean().item()}


def main():
    model_config, training_args = parse_args_into_dataclasses(ModelConfig, TrainingArguments)
    logging.basicConfig(
        format="%(asctime)s - %(levelname)s - %(name)s - %(message)s",
        level=logging.INFO,
        handlers=[logging.StreamHandler(sys.stdout)],
    )
    logger.info(f"Training parameters {training_args}")
    torch.manual_seed(training_args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    collator = DataCollatorForRetrieval(model_config.max_position_embeddings)
    train_dataset = RetrievalDataset(90, model_config.vocab_size, seed=0)
    eval_dataset = RetrievalDataset(40, model_config.vocab_size, seed=1)
    train_dataloader = DataLoader(
        train_dataset, training_args.per_device_train_batch_size, shuffle=True, collate_fn=collator
    )
    eval_dataloader = DataLoader(eval_dataset, 20, collate_fn=collator)

    model = BiEncoderModel(model_config, training_args.temperature).to(device)
    no_decay = ["bias", "norm"]
    named = list(model.named_parameters())
    optimizer_grouped_parameters = [
        {
            "params": [p for n, p in named if not any(nd in n for nd in no_decay)],
            "weight_decay": training_args.weight_decay,
        },
        {"params": [p for n, p in named if any(nd in n for nd in no_decay)], "weight_decay": 0.0},
    ]
    optimizer = AdamW(optimizer_grouped_parameters, lr=training_args.learning_rate)
    max_steps = training_args.num_train_epochs * len(train_dataloader)
    warmup_steps = math.ceil(max_steps * training_args.warmup_ratio)
    scheduler = get_linear_schedule_with_warmup(optimizer, warmup_steps, max_steps)

    logger.info("***** Running training *****")
    logger.info(f"  Num examples = {len(train_dataset)}, total optimization steps = {max_steps}")
    global_step = 0
    tr_loss = torch.tensor(0.0).to(device)
    logging_loss = 0.0
    for epoch in range(training_args.num_train_epochs):
        model.train()
        for batch in train_dataloader:
            outputs = model(**prepare_inputs(batch, device))
            loss = outputs["loss"]
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), training_args.max_grad_norm)
            optimizer.step()
            scheduler.step()
            model.zero_grad()
            tr_loss += loss.detach()
            global_step += 1
            if global_step % training_args.logging_steps == 0:
                tr_loss_scalar = tr_loss.item()
                logs = {"loss": round((tr_loss_scalar - logging_loss) / training_args.logging_steps, 4)}
                logs["learning_rate"] = scheduler.get_last_lr()[0]
                logging_loss = tr_loss_scalar
                logger.info(logs)
        logger.info(f"epoch {epoch}: {evaluate(model, eval_dataloader, device)}")


if __name__ == "__main__":
    main()

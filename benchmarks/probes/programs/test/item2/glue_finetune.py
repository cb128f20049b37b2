import argparse

import torch
import torch_xla
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding


def get_dataloader(tokenizer, batch_size):
    raw = load_dataset("glue", "mrpc", split="train")
    ds = raw.map(lambda ex: tokenizer(ex["sentence1"], ex["sentence2"], truncation=True), batched=True)
    ds = ds.remove_columns(["sentence1", "sentence2", "idx"]).rename_column("label", "labels")
    collator = DataCollatorWithPadding(tokenizer)  # expect@a: XLA904
    return DataLoader(ds, batch_size=batch_size, shuffle=True, drop_last=True, collate_fn=collator)  # expect@a: XLA904


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="roberta-base")
    parser.add_argument("--bs", type=int, default=16)
    args = parser.parse_args()
    device = torch_xla.device()
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    model = AutoModelForSequenceClassification.from_pretrained(args.model).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)
    loader = get_dataloader(tokenizer, args.bs)
    model.train()
    for epoch in range(3):
        for batch in loader:
            batch = {k: v.to(device) for k, v in batch.items()}  # expect@a: XLA904
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            torch_xla.sync()


if __name__ == "__main__":
    main()

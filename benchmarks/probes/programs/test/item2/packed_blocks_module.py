from itertools import chain

import lightning as L
import torch
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, default_data_collator

BLOCK = 512


def group_texts(examples):
    joined = {k: list(chain(*examples[k])) for k in examples}
    total = len(joined["input_ids"]) // BLOCK * BLOCK
    out = {k: [t[i : i + BLOCK] for i in range(0, total, BLOCK)] for k, t in joined.items()}  # silent
    out["labels"] = out["input_ids"].copy()
    return out


class TextBlocks(L.LightningDataModule):
    def __init__(self, name="gpt2", bs=8):
        super().__init__()
        self.tok, self.bs = AutoTokenizer.from_pretrained(name), bs

    def setup(self, stage=None):
        raw = load_dataset("wikitext", "wikitext-2-raw-v1", split="train")
        tokenized = raw.map(lambda e: self.tok(e["text"]), batched=True, remove_columns=["text"])  # silent
        self.train = tokenized.map(group_texts, batched=True)

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=self.bs, shuffle=True, drop_last=True, collate_fn=default_data_collator)  # silent


class CLM(L.LightningModule):
    def __init__(self, name="gpt2"):
        super().__init__()
        self.lm = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(name))

    def training_step(self, batch, _):
        return self.lm(**batch).loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=5e-4)


if __name__ == "__main__":
    L.Trainer(accelerator="tpu", devices=1, max_epochs=1).fit(CLM(), TextBlocks())

import lightning as L
import torch
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer


class SentimentData(L.LightningDataModule):
    def __init__(self, name="distilbert-base-uncased", batch_size=32):
        super().__init__()
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.batch_size = batch_size

    def setup(self, stage=None):
        self.train = load_dataset("imdb", split="train")

    def _collate(self, rows):
        enc = self.tokenizer([r["text"] for r in rows], padding=True, truncation=True, return_tensors="pt")  # expect@a: XLA904
        enc["labels"] = torch.tensor([r["label"] for r in rows])
        return enc

    def train_dataloader(self):
        return DataLoader(self.train, batch_size=self.batch_size, shuffle=True, drop_last=True, collate_fn=self._collate)  # expect@a: XLA904


class Sentiment(L.LightningModule):
    def __init__(self, name="distilbert-base-uncased"):
        super().__init__()
        self.net = AutoModelForSequenceClassification.from_pretrained(name, num_labels=2)

    def training_step(self, batch, batch_idx):
        return self.net(**batch).loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-5)


if __name__ == "__main__":
    L.Trainer(accelerator="tpu", devices=1, max_epochs=2, precision="bf16-true").fit(Sentiment(), SentimentData())

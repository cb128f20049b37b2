import torch
import torch_xla
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification, AutoTokenizer

MAX_LEN = 128


def main(name="distilroberta-base", epochs=2):
    device = torch_xla.device()
    tokenizer = AutoTokenizer.from_pretrained(name)

    def collate(rows):
        texts = [r["text"] for r in rows]
        enc = tokenizer(texts, padding="max_length", max_length=MAX_LEN, truncation=True, return_tensors="pt")  # silent
        enc["labels"] = torch.tensor([r["label"] for r in rows])
        return enc

    train = load_dataset("rotten_tomatoes", split="train")
    loader = DataLoader(train, batch_size=32, shuffle=True, drop_last=True, collate_fn=collate)  # silent
    model = AutoModelForSequenceClassification.from_pretrained(name, num_labels=2).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=2e-5)
    model.train()
    for _ in range(epochs):
        for batch in loader:
            batch = {k: v.to(device) for k, v in batch.items()}
            out = model(**batch)
            opt.zero_grad()
            out.loss.backward()
            opt.step()
            torch_xla.sync()


if __name__ == "__main__":
    main()

import torch
import torch_xla
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer, DataCollatorForSeq2Seq


def prepare(tokenizer, src="en", tgt="fr"):
    raw = load_dataset("opus_books", "en-fr", split="train")

    def encode(rows):
        pairs = rows["translation"]
        enc = tokenizer([p[src] for p in pairs], max_length=128, truncation=True)  # silent
        enc["labels"] = tokenizer(text_target=[p[tgt] for p in pairs], max_length=128, truncation=True)["input_ids"]  # silent
        return enc

    return raw.map(encode, batched=True, remove_columns=raw.column_names)


def main():
    device = torch_xla.device()
    tok = AutoTokenizer.from_pretrained("t5-small")
    model = AutoModelForSeq2SeqLM.from_pretrained("t5-small").to(device)
    collator = DataCollatorForSeq2Seq(tok, model=model, padding="max_length", max_length=128)  # silent
    loader = DataLoader(prepare(tok), batch_size=16, shuffle=True, drop_last=True, collate_fn=collator)  # silent
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    model.train()
    for epoch in range(3):
        for batch in loader:
            batch = batch.to(device)
            loss = model(**batch).loss
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()


if __name__ == "__main__":
    main()

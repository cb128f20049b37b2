"""A bidirectional LSTM tagger on packed sequences."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import torch
import torch.nn as nn
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

PAD_TAG = -100


class Tagger(nn.Module):
    def __init__(self, vocab_size: int, num_tags: int, embedding_dim: int = 12, hidden_dim: int = 16) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_dim, padding_idx=0)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim // 2, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.1)
        self.hidden2tag = nn.Linear(hidden_dim, num_tags)

    def forward(self, tokens: Tensor, lengths: Tensor) -> Tensor:
        embedded = self.dropout(self.embedding(tokens))
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        packed_out, _ = self.lstm(packed)
        out, _ = pad_packed_sequence(packed_out, batch_first=True, total_length=tokens.size(1))
        return self.hidden2tag(self.dropout(out))


def make_corpus(count: int, vocab_size: int, num_tags: int, seed: int) -> list[tuple[Tensor, Tensor]]:
    """A token's tag depends on itself and on the token before it."""
    generator = torch.Generator().manual_seed(seed)
    corpus = []
    for _ in range(count):
        length = int(torch.randint(2, 6, (1,), generator=generator))
        tokens = torch.randint(1, vocab_size, (length,), generator=generator)
        tags = (tokens + tokens.roll(1)) % num_tags
        corpus.append((tokens, tags))
    return corpus


def collate(batch: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor]:
    batch = sorted(batch, key=lambda pair: len(pair[0]), reverse=True)
    tokens = pad_sequence([tokens for tokens, _ in batch], batch_first=True)
    tags = pad_sequence([tags for _, tags in batch], batch_first=True, padding_value=PAD_TAG)
    return tokens, tags, torch.tensor([len(tokens) for tokens, _ in batch])


def masked_accuracy(logits: Tensor, tags: Tensor) -> float:
    predictions = logits.argmax(dim=-1)
    mask = tags != PAD_TAG
    return (predictions[mask] == tags[mask]).float().mean().item()


def train_epoch(model: Tagger, loader: DataLoader, optimizer, criterion, device: torch.device) -> float:
    model.train()
    total_loss, total_tokens = 0.0, 0
    for tokens, tags, lengths in loader:
        tokens, tags = tokens.to(device), tags.to(device)
        logits = model(tokens, lengths)
        loss = criterion(logits.view(-1, logits.shape[-1]), tags.view(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=5.0)
        optimizer.step()
        count = int(lengths.sum())
        total_loss += loss.item() * count
        total_tokens += count
    return total_loss / total_tokens


@torch.no_grad()
def evaluate(model: Tagger, loader: DataLoader, device: torch.device) -> float:
    model.eval()
    scores = []
    for tokens, tags, lengths in loader:
        logits = model(tokens.to(device), lengths)
        scores.append(masked_accuracy(logits, tags.to(device)))
    return sum(scores) / len(scores)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--vocab-size", type=int, default=30)
    parser.add_argument("--num-tags", type=int, default=5)
    parser.add_argument("--lr", type=float, default=1e-2)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    train_loader = DataLoader(
        make_corpus(16, args.vocab_size, args.num_tags, seed=0),
        args.batch_size,
        shuffle=True,
        collate_fn=collate,
    )
    dev_loader = DataLoader(
        make_corpus(4, args.vocab_size, args.num_tags, seed=1), args.batch_size, collate_fn=collate
    )

    model = Tagger(args.vocab_size, args.num_tags).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", factor=0.5, patience=1)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD_TAG)

    best = -1.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tagger.pt"
        for epoch in range(args.epochs):
            loss = train_epoch(model, train_loader, optimizer, criterion, device)
            accuracy = evaluate(model, dev_loader, device)
            scheduler.step(accuracy)
            print(f"epoch {epoch}: loss {loss:.4f}, dev accuracy {accuracy:.3f}")
            if accuracy > best:
                best = accuracy
                torch.save(model.state_dict(), path)
        model.load_state_dict(torch.load(path, map_location=device))
    print(f"best dev accuracy {evaluate(model, dev_loader, device):.3f}")


if __name__ == "__main__":
    main()

"""A convolutional and recurrent acoustic model with the CTC loss and greedy decoding."""

from __future__ import annotations

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

ALPHABET = "_abcdefgh"  # the blank comes first
BLANK = 0


class Utterances(Dataset):
    """Each letter sounds for a few frames in a frequency band of its own."""

    def __init__(self, count: int, n_mels: int, seed: int) -> None:
        self.items = []
        generator = torch.Generator().manual_seed(seed)
        for _ in range(count):
            number = int(torch.randint(2, 4, (1,), generator=generator))
            letters = torch.randint(1, len(ALPHABET), (number,), generator=generator)
            durations = torch.randint(3, 5, (len(letters),), generator=generator)
            frames = F.one_hot(letters.repeat_interleave(durations), n_mels).float()
            self.items.append((frames + 0.1 * torch.randn(frames.shape, generator=generator), letters))

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.items[index]


def collate(batch: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    spectrograms, labels = zip(*batch, strict=True)
    input_lengths = torch.tensor([len(s) for s in spectrograms])
    label_lengths = torch.tensor([len(label) for label in labels])
    spectrograms = pad_sequence(spectrograms, batch_first=True).transpose(1, 2)
    return spectrograms, pad_sequence(labels, batch_first=True), input_lengths, label_lengths


def spec_augment(spectrograms: Tensor, max_width: int = 2) -> Tensor:
    n_mels = spectrograms.size(1)
    width = int(torch.randint(0, max_width + 1, (1,)))
    start = int(torch.randint(0, n_mels - width + 1, (1,)))
    spectrograms = spectrograms.clone()
    spectrograms[:, start : start + width] = 0
    return spectrograms


class AcousticModel(nn.Module):
    def __init__(self, n_mels: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(n_mels, hidden, 3, stride=2, padding=1)
        self.norm = nn.LayerNorm(hidden)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x).transpose(1, 2)
        x = F.gelu(self.norm(x))
        x, _ = self.gru(x)
        return self.fc(x)

    @staticmethod
    def output_lengths(input_lengths: Tensor) -> Tensor:
        return (input_lengths - 1) // 2 + 1


def greedy_decode(log_probs: Tensor, lengths: Tensor) -> list[str]:
    texts = []
    for best_path, length in zip(log_probs.argmax(dim=-1), lengths, strict=True):
        collapsed = torch.unique_consecutive(best_path[:length])
        texts.append("".join(ALPHABET[i] for i in collapsed if i != BLANK))
    return texts


def edit_distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


def to_text(labels: Tensor, lengths: Tensor) -> list[str]:
    pairs = zip(labels.tolist(), lengths.tolist(), strict=True)
    return ["".join(ALPHABET[i] for i in row[:n]) for row, n in pairs]


def train(model, loader, criterion, optimizer, scheduler, device, epoch: int) -> None:
    model.train()
    for batch_idx, (spectrograms, labels, input_lengths, label_lengths) in enumerate(loader):
        spectrograms, labels = spec_augment(spectrograms).to(device), labels.to(device)
        optimizer.zero_grad()
        log_probs = F.log_softmax(model(spectrograms), dim=2).transpose(0, 1)
        loss = criterion(log_probs, labels, model.output_lengths(input_lengths), label_lengths)
        loss.backward()
        optimizer.step()
        scheduler.step()
        if batch_idx % 2 == 0:
            print(f"Train Epoch: {epoch} [{batch_idx}/{len(loader)}] Loss: {loss.item():.4f}")


@torch.no_grad()
def evaluate(model, loader, criterion, device) -> None:
    model.eval()
    test_loss, errors, letters = 0.0, 0, 0
    for spectrograms, labels, input_lengths, label_lengths in loader:
        spectrograms, labels = spectrograms.to(device), labels.to(device)
        log_probs = F.log_softmax(model(spectrograms), dim=2)
        lengths = model.output_lengths(input_lengths)
        test_loss += criterion(log_probs.transpose(0, 1), labels, lengths, label_lengths).item() / len(loader)
        for decoded, truth in zip(
            greedy_decode(log_probs, lengths), to_text(labels, label_lengths), strict=True
        ):
            errors += edit_distance(decoded, truth)
            letters += len(truth)
    print(f"Test set: Average loss: {test_loss:.4f}, CER: {errors / letters:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--lr", type=float, default=1e-2)
    args = parser.parse_args()

    torch.manual_seed(7)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    n_mels = len(ALPHABET)
    loader = DataLoader(Utterances(16, n_mels, seed=0), args.batch_size, shuffle=True, collate_fn=collate)
    test_loader = DataLoader(Utterances(2, n_mels, seed=1), args.batch_size, collate_fn=collate)

    model = AcousticModel(n_mels, hidden=12, classes=len(ALPHABET)).to(device)
    criterion = nn.CTCLoss(blank=BLANK, zero_infinity=True).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), args.lr)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=args.lr, steps_per_epoch=len(loader), epochs=args.epochs, anneal_strategy="linear"
    )
    for epoch in range(1, args.epochs + 1):
        train(model, loader, criterion, optimizer, scheduler, device, epoch)
        evaluate(model, test_loader, criterion, device)


if __name__ == "__main__":
    main()

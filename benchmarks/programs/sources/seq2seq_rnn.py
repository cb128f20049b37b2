"""A GRU encoder and decoder with attention on padded sentences of variable length."""

from __future__ import annotations

import argparse
import logging
import random

import torch
import torch.nn.functional as F
from torch import Tensor, nn, optim
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

PAD_IDX, SOS_IDX, EOS_IDX = 0, 1, 2
log = logging.getLogger("seq2seq")


class SortingPairs(Dataset):
    """The target is the source in order, which takes attention to get right."""

    def __init__(self, count: int, vocab_size: int, seed: int) -> None:
        rng = random.Random(seed)
        lengths = [rng.choice((2, 3)) for _ in range(count)]
        self.sources = [[rng.randrange(3, vocab_size) for _ in range(n)] for n in lengths]

    def __len__(self) -> int:
        return len(self.sources)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        source = self.sources[index]
        return torch.tensor([*source, EOS_IDX]), torch.tensor([SOS_IDX, *sorted(source), EOS_IDX])


def collate_fn(batch: list[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    src, trg = zip(*batch, strict=True)
    return pad_sequence(src, padding_value=PAD_IDX), pad_sequence(trg, padding_value=PAD_IDX)


class Encoder(nn.Module):
    def __init__(self, vocab_size: int, emb: int, hid: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb, padding_idx=PAD_IDX)
        self.rnn = nn.GRU(emb, hid)
        self.fc = nn.Linear(hid, hid)

    def forward(self, src: Tensor) -> tuple[Tensor, Tensor]:
        outputs, hidden = self.rnn(self.embedding(src))
        return outputs, torch.tanh(self.fc(hidden[-1]))


class Attention(nn.Module):
    def __init__(self, hid: int) -> None:
        super().__init__()
        self.attn = nn.Linear(hid * 2, hid)
        self.v = nn.Linear(hid, 1, bias=False)

    def forward(self, hidden: Tensor, encoder_outputs: Tensor, mask: Tensor) -> Tensor:
        hidden = hidden.unsqueeze(1).repeat(1, encoder_outputs.shape[0], 1)
        energy = torch.tanh(self.attn(torch.cat((hidden, encoder_outputs.permute(1, 0, 2)), dim=2)))
        scores = self.v(energy).squeeze(2).masked_fill(mask == 0, -1e10)
        return F.softmax(scores, dim=1)


class Decoder(nn.Module):
    def __init__(self, vocab_size: int, emb: int, hid: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, emb)
        self.attention = Attention(hid)
        self.rnn = nn.GRUCell(hid + emb, hid)
        self.fc_out = nn.Linear(hid * 2 + emb, vocab_size)

    def forward(self, token: Tensor, hidden: Tensor, encoder_outputs: Tensor, mask: Tensor):
        embedded = self.embedding(token)
        a = self.attention(hidden, encoder_outputs, mask).unsqueeze(1)
        weighted = torch.bmm(a, encoder_outputs.permute(1, 0, 2)).squeeze(1)
        hidden = self.rnn(torch.cat((embedded, weighted), dim=1), hidden)
        return self.fc_out(torch.cat((hidden, weighted, embedded), dim=1)), hidden


class Seq2Seq(nn.Module):
    def __init__(self, vocab_size: int, emb: int = 8, hid: int = 8) -> None:
        super().__init__()
        self.encoder = Encoder(vocab_size, emb, hid)
        self.decoder = Decoder(vocab_size, emb, hid)
        self.vocab_size = vocab_size

    def forward(self, src: Tensor, trg: Tensor, teacher_forcing_ratio: float = 0.5) -> Tensor:
        trg_len, batch_size = trg.shape
        outputs = torch.zeros(trg_len, batch_size, self.vocab_size, device=src.device)
        mask = (src != PAD_IDX).permute(1, 0)
        encoder_outputs, hidden = self.encoder(src)
        token = trg[0, :]
        teacher_force = random.random() < teacher_forcing_ratio
        for t in range(1, trg_len):
            output, hidden = self.decoder(token, hidden, encoder_outputs, mask)
            outputs[t] = output
            token = trg[t] if teacher_force else output.argmax(1)
        return outputs

    @torch.no_grad()
    def translate(self, src: Tensor, max_len: int = 5) -> list[int]:
        mask = (src != PAD_IDX).permute(1, 0)
        encoder_outputs, hidden = self.encoder(src)
        token = torch.tensor([SOS_IDX], device=src.device)
        tokens = []
        for _ in range(max_len):
            output, hidden = self.decoder(token, hidden, encoder_outputs, mask)
            token = output.argmax(1)
            if token.item() == EOS_IDX:
                break
            tokens.append(token.item())
        return tokens


def train(model, loader, optimizer, criterion, clip: float, ratio: float, device) -> float:
    model.train()
    epoch_loss = 0.0
    for src, trg in loader:
        src, trg = src.to(device), trg.to(device)
        optimizer.zero_grad()
        output = model(src, trg, ratio)
        loss = criterion(output[1:].view(-1, output.shape[-1]), trg[1:].view(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        epoch_loss += loss.item()
    return epoch_loss / len(loader)


def evaluate(model, loader, criterion, device) -> float:
    model.eval()
    epoch_loss = 0.0
    with torch.no_grad():
        for src, trg in loader:
            src, trg = src.to(device), trg.to(device)
            output = model(src, trg, 0)
            epoch_loss += criterion(output[1:].view(-1, output.shape[-1]), trg[1:].view(-1)).item()
    return epoch_loss / len(loader)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--vocab-size", type=int, default=12)
    parser.add_argument("--teacher-forcing", type=float, default=0.5)
    parser.add_argument("--clip", type=float, default=1.0)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")

    random.seed(1234)
    torch.manual_seed(1234)
    torch.backends.cudnn.deterministic = True
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    train_data = SortingPairs(18, args.vocab_size, seed=0)
    valid_data = SortingPairs(4, args.vocab_size, seed=1)
    train_loader = DataLoader(train_data, args.batch_size, shuffle=True, collate_fn=collate_fn)
    valid_loader = DataLoader(valid_data, args.batch_size, collate_fn=collate_fn)

    model = Seq2Seq(args.vocab_size).to(device)
    optimizer = optim.Adam(model.parameters(), lr=5e-3)
    criterion = nn.CrossEntropyLoss(ignore_index=PAD_IDX)
    for epoch in range(args.epochs):
        train_loss = train(model, train_loader, optimizer, criterion, args.clip, args.teacher_forcing, device)
        valid_loss = evaluate(model, valid_loader, criterion, device)
        log.info("Epoch: %02d  train loss %.3f  valid loss %.3f", epoch + 1, train_loss, valid_loss)

    source, target = valid_data[0]
    log.info("%s -> %s", target[1:-1].tolist(), model.translate(source.unsqueeze(1).to(device)))


if __name__ == "__main__":
    main()

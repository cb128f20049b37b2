"""A character LSTM with truncated backpropagation through time, and text sampled from it."""

from __future__ import annotations

import argparse
import math

import torch
from torch import Tensor, nn

TEXT = "she sells sea shells by the sea shore. the shells she sells are sea shells, i am sure. " * 8

Hidden = tuple[Tensor, Tensor]


class RNNModel(nn.Module):
    def __init__(self, ntoken: int, ninp: int, nhid: int, nlayers: int, dropout: float) -> None:
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers, dropout=dropout if nlayers > 1 else 0.0)
        self.decoder = nn.Linear(nhid, ntoken)
        self.nhid, self.nlayers = nhid, nlayers

    def forward(self, input: Tensor, hidden: Hidden) -> tuple[Tensor, Hidden]:
        emb = self.drop(self.encoder(input))
        output, hidden = self.rnn(emb, hidden)
        return self.decoder(self.drop(output)).flatten(0, 1), hidden

    def init_hidden(self, batch_size: int) -> Hidden:
        weight = next(self.parameters())
        shape = (self.nlayers, batch_size, self.nhid)
        return weight.new_zeros(shape), weight.new_zeros(shape)


def batchify(data: Tensor, batch_size: int) -> Tensor:
    length = data.size(0) // batch_size
    return data[: length * batch_size].view(batch_size, -1).t().contiguous()


def repackage_hidden(hidden: Hidden) -> Hidden:
    return tuple(h.detach() for h in hidden)


def get_batch(source: Tensor, i: int, bptt: int) -> tuple[Tensor, Tensor]:
    seq_len = min(bptt, len(source) - 1 - i)
    return source[i : i + seq_len], source[i + 1 : i + 1 + seq_len].reshape(-1)


def train_epoch(model: RNNModel, data: Tensor, optimizer, args: argparse.Namespace, epoch: int) -> None:
    model.train()
    criterion = nn.CrossEntropyLoss()
    total_loss = 0.0
    hidden = model.init_hidden(data.size(1))
    for batch, i in enumerate(range(0, data.size(0) - 1, args.bptt)):
        inputs, targets = get_batch(data, i, args.bptt)
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(inputs, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()

        total_loss += loss.item()
        if batch % args.log_interval == 0 and batch > 0:
            cur_loss = total_loss / args.log_interval
            ppl = math.exp(cur_loss)
            print(f"| epoch {epoch} | batch {batch:3d} | loss {cur_loss:5.2f} | ppl {ppl:8.2f}")
            total_loss = 0.0


def evaluate(model: RNNModel, data: Tensor, args: argparse.Namespace) -> float:
    model.eval()
    criterion = nn.CrossEntropyLoss()
    total_loss = 0.0
    hidden = model.init_hidden(data.size(1))
    with torch.no_grad():
        for i in range(0, data.size(0) - 1, args.bptt):
            inputs, targets = get_batch(data, i, args.bptt)
            output, hidden = model(inputs, hidden)
            hidden = repackage_hidden(hidden)
            total_loss += len(inputs) * criterion(output, targets).item()
    return total_loss / (len(data) - 1)


@torch.no_grad()
def generate(model: RNNModel, chars: list[str], count: int, temperature: float, device: str) -> str:
    model.eval()
    hidden = model.init_hidden(1)
    token = torch.randint(len(chars), (1, 1), dtype=torch.long).to(device)
    words = []
    for _ in range(count):
        output, hidden = model(token, hidden)
        weights = output.squeeze().div(temperature).exp().cpu()
        index = torch.multinomial(weights, 1)[0]
        token.fill_(index)
        words.append(chars[index])
    return "".join(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--bptt", type=int, default=4)
    parser.add_argument("--lr", type=float, default=5.0)
    parser.add_argument("--clip", type=float, default=0.25)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--log-interval", type=int, default=4)
    args = parser.parse_args()

    torch.manual_seed(1111)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    chars = sorted(set(TEXT))
    ids = torch.tensor([chars.index(char) for char in TEXT])
    split = len(ids) * 3 // 4
    train_data = batchify(ids[:split], args.batch_size).to(device)
    val_data = batchify(ids[split:], args.batch_size).to(device)
    model = RNNModel(len(chars), ninp=12, nhid=16, nlayers=1, dropout=args.dropout).to(device)

    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    best_val_loss = math.inf
    for epoch in range(1, args.epochs + 1):
        train_epoch(model, train_data, optimizer, args, epoch)
        val_loss = evaluate(model, val_data, args)
        print(f"| end of epoch {epoch} | valid loss {val_loss:5.2f} | valid ppl {math.exp(val_loss):8.2f}")
        if val_loss < best_val_loss:
            best_val_loss = val_loss
        else:
            optimizer.param_groups[0]["lr"] /= 4.0
    print(generate(model, chars, 5, temperature=1.0, device=device))


if __name__ == "__main__":
    main()

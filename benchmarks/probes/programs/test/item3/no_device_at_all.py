"""Character level RNN on a text file. Usage: python no_device_at_all.py input.txt"""
# expect-file: XLA017
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F


class CharRNN(nn.Module):
    def __init__(self, vocab, hidden=256):
        super().__init__()
        self.embed = nn.Embedding(vocab, hidden)
        self.rnn = nn.GRU(hidden, hidden, num_layers=2, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x):
        return self.out(self.rnn(self.embed(x))[0])


def batches(ids, bs, seq):
    while True:
        ix = torch.randint(len(ids) - seq - 1, (bs,)).tolist()
        yield torch.stack([ids[i : i + seq] for i in ix]), torch.stack([ids[i + 1 : i + seq + 1] for i in ix])


def main():
    text = open(sys.argv[1]).read()
    chars = sorted(set(text))
    ids = torch.tensor([chars.index(c) for c in text])
    model = CharRNN(len(chars))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for step, (x, y) in zip(range(5000), batches(ids, 64, 128)):
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    torch.save(model.state_dict(), "char_rnn.pt")


if __name__ == "__main__":
    main()

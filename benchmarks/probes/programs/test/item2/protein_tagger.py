import torch
import torch.nn as nn
import torch_xla
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

AMINO = "ACDEFGHIKLMNPQRSTVWY"


def encode(seq):
    return torch.tensor([AMINO.index(a) + 1 for a in seq])


def collate(batch):
    seqs, tags = zip(*batch)
    x = pad_sequence([encode(s) for s in seqs], batch_first=True)  # expect: XLA904
    y = pad_sequence([torch.tensor(t) for t in tags], batch_first=True, padding_value=-100)
    return x, y


class Tagger(nn.Module):
    def __init__(self, d=128):
        super().__init__()
        self.e = nn.Embedding(21, d, padding_idx=0)
        enc = nn.TransformerEncoderLayer(d, 4, batch_first=True)
        self.enc = nn.TransformerEncoder(enc, 2, enable_nested_tensor=False)
        self.o = nn.Linear(d, 3)

    def forward(self, x):
        return self.o(self.enc(self.e(x), src_key_padding_mask=x.eq(0)))


def read_fasta(path):
    rows = [line.rstrip("\n").split("\t") for line in open(path)]
    return [(seq, [int(c) for c in tags]) for seq, tags in rows]


def main(path="train.tsv", **loader_kwargs):
    dev = torch_xla.device()
    loader_kwargs.setdefault("batch_size", 16)
    loader = DataLoader(read_fasta(path), shuffle=True, drop_last=True, collate_fn=collate, **loader_kwargs)
    net = Tagger().to(dev)
    crit = nn.CrossEntropyLoss(ignore_index=-100)
    opt = torch.optim.Adam(net.parameters())
    for ep in range(20):
        net.train()
        for x, y in loader:
            x, y = x.to(dev), y.to(dev)
            opt.zero_grad()
            crit(net(x).flatten(0, 1), y.flatten()).backward()
            opt.step()
            torch_xla.sync()


if __name__ == "__main__":
    main(num_workers=2)

import json

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, TensorDataset


def load_split(path):
    rows = [json.loads(line) for line in open(path)]
    seqs = [torch.tensor(r["values"], dtype=torch.float32) for r in rows]
    x = pad_sequence(seqs, batch_first=True)  # silent
    lengths = torch.tensor([len(s) for s in seqs])
    y = torch.tensor([r["label"] for r in rows])
    return TensorDataset(x, lengths, y)


class SeriesClassifier(nn.Module):
    def __init__(self, n_cls=5):
        super().__init__()
        self.conv = nn.Conv1d(1, 64, 9, padding=4)
        self.fc = nn.Linear(64, n_cls)

    def forward(self, x, lengths):
        h = F.relu(self.conv(x.unsqueeze(1)))
        keep = torch.arange(x.size(1), device=x.device)[None, :] < lengths[:, None]
        pooled = (h * keep.unsqueeze(1)).sum(-1) / lengths.unsqueeze(1)
        return self.fc(pooled)


def main():
    device = torch_xla.device()
    dataset = load_split("ucr_train.jsonl")
    loader = DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True)  # silent
    clf = SeriesClassifier().to(device)
    opt = torch.optim.Adam(clf.parameters(), 1e-3)
    for epoch in range(100):
        for x, n, y in loader:
            x, n, y = x.to(device), n.to(device), y.to(device)  # silent: XLA904|XLA901
            loss = F.cross_entropy(clf(x, n), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()


if __name__ == "__main__":
    main()

import pickle

import numpy as np
import torch
import torch.nn as nn
import torch_xla

BATCH = 50


def to_array(sents, pad):
    width = max(map(len, sents))  # expect@a: XLA904
    arr = np.full((len(sents), width), pad, dtype=np.int64)  # expect@a: XLA904
    for i, s in enumerate(sents):
        arr[i, : len(s)] = s
    return arr


def batches(corpus, vocab):
    order = np.random.permutation(len(corpus))
    corpus = [corpus[i] for i in order]
    for start in range(0, len(corpus) - BATCH + 1, BATCH):
        chunk = corpus[start : start + BATCH]
        yield torch.from_numpy(to_array(chunk, vocab["<pad>"]))  # expect@a: XLA904


class TextCNN(nn.Module):
    def __init__(self, n_vocab):
        super().__init__()
        self.embed = nn.Embedding(n_vocab, 100)
        self.convs = nn.ModuleList(nn.Conv1d(100, 100, k, padding=k // 2) for k in (3, 5, 7))
        self.recon = nn.Linear(300, n_vocab)

    def forward(self, ids):
        e = self.embed(ids).transpose(1, 2)
        h = torch.cat([torch.relu(c(e)).amax(-1) for c in self.convs], 1)
        return self.recon(h)


def main():
    corpus, vocab = pickle.load(open("corpus.pkl", "rb"))
    device = torch_xla.device()
    cnn = TextCNN(len(vocab)).to(device)
    opt = torch.optim.Adagrad(cnn.parameters(), lr=0.05)
    for _ in range(10):
        for ids in batches(corpus, vocab):
            ids = ids.to(device)  # expect@a: XLA904
            logp = cnn(ids).log_softmax(-1)
            loss = -logp.gather(1, ids).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()


if __name__ == "__main__":
    main()

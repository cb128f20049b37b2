import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla

block_size = 128
batch_size = 24


def get_batch(data, device):
    ix = torch.randint(len(data) - block_size - 1, (batch_size,))
    x = torch.stack([torch.from_numpy(data[i:i + block_size].astype(np.int64)) for i in ix])  # silent
    y = torch.stack([torch.from_numpy(data[i + 1:i + 1 + block_size].astype(np.int64)) for i in ix])  # silent
    return x.to(device), y.to(device)  # silent


class GPTish(nn.Module):
    def __init__(self, vocab=256, d=192):
        super().__init__()
        self.wte = nn.Embedding(vocab, d)
        self.wpe = nn.Embedding(block_size, d)
        self.blk = nn.TransformerEncoderLayer(d, 6, 4 * d, dropout=0.0, batch_first=True, norm_first=True)
        self.head = nn.Linear(d, vocab)

    def forward(self, idx):
        t = idx.size(1)
        pos = torch.arange(t, device=idx.device)
        m = torch.full((t, t), float("-inf"), device=idx.device).triu(1)
        return self.head(self.blk(self.wte(idx) + self.wpe(pos), src_mask=m))


def main():
    device = torch_xla.device()
    data = np.memmap("enwik8.bin", dtype=np.uint8, mode="r")
    gpt = GPTish().to(device)
    opt = torch.optim.AdamW(gpt.parameters(), lr=6e-4, betas=(0.9, 0.95))
    for it in range(5000):
        xb, yb = get_batch(data, device)
        loss = F.cross_entropy(gpt(xb).flatten(0, 1), yb.flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        torch_xla.sync()


if __name__ == "__main__":
    main()

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
from torch.utils.data import DataLoader, TensorDataset

ACCUM = 8


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(768, 768)
        self.b = nn.Linear(768, 50)

    def forward(self, x):
        return self.b(F.gelu(self.a(x)))


def train(epochs=10):
    device = torch_xla.device()
    data = TensorDataset(torch.randn(16384, 768), torch.randint(0, 50, (16384,)))
    loader = DataLoader(data, batch_size=16, shuffle=True, drop_last=True)
    head = Head().to(device)
    opt = torch.optim.AdamW(head.parameters(), lr=5e-4)
    sched = torch.optim.lr_scheduler.LinearLR(opt, total_iters=1000)
    for _ in range(epochs):
        for k, (x, y) in enumerate(loader, start=1):  # silent: XLA401|XLA402
            loss = F.cross_entropy(head(x.to(device)), y.to(device)) / ACCUM
            loss.backward()
            if k % ACCUM == 0:  # silent
                nn.utils.clip_grad_norm_(head.parameters(), 1.0)  # silent
                opt.step()  # silent
                sched.step()
                opt.zero_grad()
            torch_xla.sync()  # silent


train()

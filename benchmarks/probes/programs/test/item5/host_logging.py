import json
import time

import torch
import torch.nn as nn
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr


class Log:
    def __init__(self, path):
        self.path = path

    def write(self, **row):
        with open(self.path, "a") as f:
            f.write(json.dumps(row) + "\n")


def _mp_fn(index, epochs):
    device = torch_xla.device()
    torch_xla.manual_seed(0)
    rank = xr.global_ordinal()
    net = nn.Linear(50, 50).to(device)
    opt = torch.optim.Adagrad(net.parameters(), lr=0.05)
    log = Log("log.jsonl") if rank == 0 else None
    gen = torch.Generator().manual_seed(100 + rank)
    for epoch in range(epochs):
        began = time.time()
        seen = 0
        for _ in range(100):
            x = torch.randn(64, 50, generator=gen).to(device)
            loss = (net(x) - x).abs().mean()
            opt.zero_grad()
            loss.backward()
            xm.optimizer_step(opt, barrier=True)
            seen += x.shape[0]
        if rank == 0:  # silent
            rate = seen / (time.time() - began)  # silent: XLA710
            log.write(epoch=epoch, samples=seen, rate=rate, lr=opt.param_groups[0]["lr"])  # silent
            print(f"epoch {epoch} {rate:.1f} samples/s")  # silent


if __name__ == "__main__":
    torch_xla.launch(_mp_fn, args=(5,))

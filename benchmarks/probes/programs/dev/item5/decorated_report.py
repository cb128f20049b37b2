import functools
import logging

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr


def master_only(fn):
    @functools.wraps(fn)
    def inner(*a, **kw):
        if not xm.is_master_ordinal():  # silent
            return None
        return fn(*a, **kw)  # silent

    return inner


@master_only
def setup_logging(path):
    logging.basicConfig(filename=path, level=logging.INFO)  # silent


@master_only
def report(step, loss, lr):
    logging.info("step %d loss %.4f lr %.2e", step, loss, lr)  # silent


def _mp_fn(index):
    setup_logging("train.log")  # silent
    device = torch_xla.device()
    torch_xla.manual_seed(0)
    net = nn.Sequential(nn.Linear(10, 10), nn.Softplus(), nn.Linear(10, 1)).to(device)
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    gen = torch.Generator().manual_seed(xr.global_ordinal())
    for step in range(3000):
        x = torch.randn(256, 10, generator=gen).to(device)
        loss = F.mse_loss(net(x).squeeze(-1), x.prod(-1))
        opt.zero_grad()
        loss.backward()
        xm.optimizer_step(opt, barrier=True)
        if (step + 1) % 250 == 0:
            value = loss.item()  # silent: XLA710
            report(step, value, opt.param_groups[0]["lr"])  # silent: XLA710


if __name__ == "__main__":
    torch_xla.launch(_mp_fn)

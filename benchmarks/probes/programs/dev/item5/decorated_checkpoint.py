import functools

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr


def rank_zero_only(fn):
    @functools.wraps(fn)
    def wrapped(*args, **kwargs):
        if xr.global_ordinal() == 0:
            return fn(*args, **kwargs)
        return None

    return wrapped


@rank_zero_only
def write_checkpoint(path, model, optimizer, step):
    torch.save({"model": model.state_dict(), "optim": optimizer.state_dict(), "step": step}, path)  # expect@a: XLA710|XLA906


def _mp_fn(index, flags):
    device = torch_xla.device()
    torch_xla.manual_seed(flags["seed"])
    model = nn.Sequential(nn.Linear(40, 200), nn.ReLU(), nn.Linear(200, 1)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=flags["lr"])
    gen = torch.Generator().manual_seed(flags["seed"] + index)
    for step in range(flags["steps"]):
        x = torch.randn(128, 40, generator=gen).to(device)
        loss = F.mse_loss(model(x).squeeze(-1), x.sum(-1))
        optimizer.zero_grad()
        loss.backward()
        xm.optimizer_step(optimizer, barrier=True)
        if (step + 1) % 500 == 0:
            write_checkpoint(f"ckpt_{step + 1}.pt", model, optimizer, step)  # expect@a: XLA710|XLA906


if __name__ == "__main__":
    torch_xla.launch(_mp_fn, args=({"seed": 5, "lr": 0.01, "steps": 5000},))

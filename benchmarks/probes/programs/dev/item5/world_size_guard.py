import torch
import torch.distributed as dist
import torch.nn as nn
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_backend


def world():
    return dist.get_world_size() if dist.is_initialized() else 1


def sync_mean(value):
    if world() > 1:  # silent: XLA710
        dist.all_reduce(value)  # silent: XLA710
        value /= world()
    return value


class Prototypes(nn.Module):
    def __init__(self, k=256, d=64, m=0.99):
        super().__init__()
        self.net = nn.Linear(128, d)
        self.register_buffer("center", torch.zeros(1, d))
        self.proto = nn.Linear(d, k, bias=False)
        self.m = m

    def forward(self, x):
        z = self.net(x)
        with torch.no_grad():
            batch_center = sync_mean(z.mean(0, keepdim=True))  # silent: XLA710
            self.center.mul_(self.m).add_(batch_center, alpha=1 - self.m)
        return self.proto(z - self.center)


def _fn(index):
    dist.init_process_group("xla", init_method="xla://")
    device = torch_xla.device()
    net = Prototypes().to(device)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    gen = torch.Generator().manual_seed(dist.get_rank())  # silent: XLA710
    for _ in range(1000):
        x = torch.randn(64, 128, generator=gen).to(device)
        logp = net(x).log_softmax(-1)
        loss = (logp.exp() * logp).sum(-1).mean()
        opt.zero_grad()
        loss.backward()
        xm.optimizer_step(opt, barrier=True)  # silent: XLA710


if __name__ == "__main__":
    torch_xla.launch(_fn)

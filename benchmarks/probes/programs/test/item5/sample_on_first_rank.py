import torch
import torch.distributed as dist
import torch.nn as nn
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.xla_backend


class Flow(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d + 1, 256), nn.SiLU(), nn.Linear(256, d))
        self.d = d

    def forward(self, x, t):
        return self.net(torch.cat([x, t], -1))

    @torch.no_grad()
    def sample(self, n, steps, device):
        x = torch.randn(n, self.d, device=device)
        for k in range(steps):
            t = torch.full((n, 1), k / steps, device=device)
            x = x + self(x, t) / steps
            torch_xla.sync()  # expect@a: XLA710
        return x


def entry(index, steps):
    dist.init_process_group("xla", init_method="xla://")
    rank = dist.get_rank()
    device = torch_xla.device()
    flow = Flow().to(device)
    opt = torch.optim.Adam(flow.parameters(), lr=1e-3)
    for it in range(steps):
        x1 = torch.randn(128, 64).to(device) * 0.1 + 3
        x0, t = torch.randn_like(x1), torch.rand(128, 1, device=device)
        loss = (flow(x0 + t * (x1 - x0), t) - (x1 - x0)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        xm.optimizer_step(opt, barrier=True)
        if it % 1000 == 999:
            if rank != 0:
                continue
            drawn = flow.sample(16, 50, device)  # expect@a: XLA710
            print(it, drawn.mean().item())  # expect@a: XLA710


if __name__ == "__main__":
    torch_xla.launch(entry, args=(20000,))

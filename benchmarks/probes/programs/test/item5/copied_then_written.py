import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.runtime as xr


def host_copy(module):
    """All processes call this: it runs the graph and copies the weights."""
    torch_xla.sync()
    return {name: t.cpu() for name, t in module.state_dict().items()}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(1000, 64)
        self.out = nn.Linear(64, 1000)

    def forward(self, ids):
        return self.out(self.emb(ids))


def run(index):
    device = torch_xla.device()
    torch_xla.manual_seed(9)
    model = Model().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    gen = torch.Generator().manual_seed(xr.global_ordinal())
    for epoch in range(4):
        for _ in range(250):
            ids = torch.randint(0, 1000, (16, 33), generator=gen).to(device)
            loss = F.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:])
            optimizer.zero_grad()
            loss.backward()
            xm.optimizer_step(optimizer, barrier=True)
        weights = host_copy(model)
        if xr.global_ordinal() == 0:  # silent: XLA710
            torch.save(weights, f"weights_{epoch}.pt")  # silent
            print("wrote", epoch, len(weights))  # silent


if __name__ == "__main__":
    torch_xla.launch(run)

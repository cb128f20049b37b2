import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla


class Refiner(nn.Module):
    """Applies each block several times inside one forward pass."""

    def __init__(self, dim=128, blocks=4, repeats=3):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.SiLU()) for _ in range(blocks))
        self.repeats = repeats
        self.heads = nn.ModuleList(nn.Linear(dim, 1) for _ in range(blocks))

    def forward(self, x):
        outputs = []
        for block, head in zip(self.blocks, self.heads):  # silent: XLA401|XLA402
            for _ in range(self.repeats):  # silent: XLA401|XLA402
                x = x + block(x)  # silent: XLA401|XLA402
            outputs.append(head(x))  # silent: XLA401|XLA402|XLA302|XLA303
        return outputs


def deep_supervision(outputs, target):
    total = 0.0
    for out in outputs:  # silent: XLA401|XLA402
        total = total + F.mse_loss(out, target)
    return total


def main():
    device = torch_xla.device()
    net = Refiner().to(device)
    opt = torch.optim.NAdam(net.parameters(), lr=1e-3)
    for step in range(3000):  # silent: XLA401|XLA402
        x = torch.randn(64, 128).to(device)
        loss = deep_supervision(net(x), x.mean(-1, keepdim=True))
        opt.zero_grad()
        loss.backward()
        opt.step()  # silent
        torch_xla.sync()


if __name__ == "__main__":
    main()

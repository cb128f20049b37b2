import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla


class Pooler(nn.Module):
    def __init__(self, dim=256, heads=4):
        super().__init__()
        self.query = nn.Parameter(torch.randn(1, 1, dim))
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.cls = nn.Linear(dim, 7)

    def forward(self, bag):
        q = self.query.expand(bag.size(0), -1, -1)
        pooled, _ = self.attn(q, bag, bag, need_weights=False)
        return self.cls(pooled[:, 0])


def main():
    device = torch_xla.device()
    net = Pooler().to(device)
    opt = torch.optim.RAdam(net.parameters(), lr=1e-4)
    for epoch in range(5):
        for _ in range(300):  # silent: XLA401|XLA402
            with torch_xla.step():
                bag = torch.randn(16, 100, 256).to(device)
                label = torch.randint(0, 7, (16,)).to(device)
                loss = F.cross_entropy(net(bag), label)
                opt.zero_grad()
                loss.backward()
                opt.step()  # silent
        print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()

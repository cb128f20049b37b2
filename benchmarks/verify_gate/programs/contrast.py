import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(9)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
points = torch.randn(300, 8)


class MoCo(nn.Module):
    def __init__(self, size=32, momentum=0.9, temperature=0.2):
        super().__init__()
        self.momentum, self.temperature = momentum, temperature
        self.query = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 6))
        self.key = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 6))
        self.key.load_state_dict(self.query.state_dict())
        for p in self.key.parameters():
            p.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(6, size), dim=0))

    @torch.no_grad()
    def update_key(self):
        for q, k in zip(self.query.parameters(), self.key.parameters()):
            k.data = k.data * self.momentum + q.data * (1 - self.momentum)

    @torch.no_grad()
    def enqueue(self, keys):
        self.queue.copy_(torch.cat([keys.T, self.queue[:, : -len(keys)]], 1))

    def forward(self, a, b):
        q = F.normalize(self.query(a), dim=1)
        with torch.no_grad():
            self.update_key()
            k = F.normalize(self.key(b), dim=1)
        positive = (q * k).sum(1, keepdim=True)
        logits = torch.cat([positive, q @ self.queue.clone().detach()], 1) / self.temperature
        self.enqueue(k)
        return logits, torch.zeros(len(a), dtype=torch.long, device=a.device)


model = MoCo().to(device)
optimizer = torch.optim.SGD(model.query.parameters(), 0.1, momentum=0.9, weight_decay=1e-3)
for step in range(40):
    rows = torch.randint(0, len(points), (8,))
    x = points[rows]
    a, b = x + 0.1 * torch.randn(8, 8), x + 0.1 * torch.randn(8, 8)
    logits, target = model(a.to(device), b.to(device))
    loss = F.cross_entropy(logits, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

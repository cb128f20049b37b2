import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla


class ContrastiveWithQueue(nn.Module):
    def __init__(self, dim=128, queue_size=4096, momentum=0.999, tau=0.07):
        super().__init__()
        self.m, self.tau, self.K = momentum, tau, queue_size
        self.encoder_q = nn.Sequential(nn.Flatten(), nn.Linear(3072, 512), nn.ReLU(), nn.Linear(512, dim))
        self.encoder_k = nn.Sequential(nn.Flatten(), nn.Linear(3072, 512), nn.ReLU(), nn.Linear(512, dim))
        self.encoder_k.load_state_dict(self.encoder_q.state_dict())
        self.encoder_k.requires_grad_(False)
        self.register_buffer("queue", F.normalize(torch.randn(dim, queue_size), dim=0))
        self.ptr = 0

    @torch.no_grad()
    def enqueue(self, keys):
        n = keys.shape[0]
        self.queue[:, self.ptr:self.ptr + n] = keys.T  # expect: XLA301
        self.ptr = (self.ptr + n) % self.K

    def forward(self, im_q, im_k):
        q = F.normalize(self.encoder_q(im_q), dim=1)
        with torch.no_grad():
            for a, b in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
                b.mul_(self.m).add_(a, alpha=1 - self.m)
            k = F.normalize(self.encoder_k(im_k), dim=1)
        pos = (q * k).sum(1, keepdim=True)
        neg = q @ self.queue.clone().detach()
        logits = torch.cat([pos, neg], 1) / self.tau
        self.enqueue(k)
        return F.cross_entropy(logits, torch.zeros(len(q), dtype=torch.long, device=q.device))


def main():
    device = torch_xla.device()
    model = ContrastiveWithQueue().to(device)
    opt = torch.optim.SGD(model.encoder_q.parameters(), lr=0.03)
    for step in range(1000):
        a, b = torch.randn(64, 3, 32, 32), torch.randn(64, 3, 32, 32)
        loss = model(a.to(device), b.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
        torch_xla.sync()


if __name__ == "__main__":
    main()

import copy

import torch
from torch import nn

torch.manual_seed(5)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
inputs = torch.randn(400, 6)
targets = inputs[:, :2].pow(2)


class Average:
    """Exponential moving average of a model's parameters."""

    def __init__(self, model, decay=0.8):
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name].mul_(self.decay).add_(p.detach(), alpha=1 - self.decay)


model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2)).to(device)
teacher = copy.deepcopy(model).eval()
for p in teacher.parameters():
    p.requires_grad_(False)
average = Average(model)
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-2)
for step in range(40):
    rows = torch.randint(0, len(inputs), (16,))
    x, y = inputs[rows].to(device), targets[rows].to(device)
    guess = model(x)
    with torch.no_grad():
        slow = teacher(x)
    loss = nn.functional.mse_loss(guess, y) + 0.1 * nn.functional.mse_loss(guess, slow)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update(model)
    with torch.no_grad():
        for fast, kept in zip(model.parameters(), teacher.parameters()):
            kept.mul_(0.9).add_(0.1 * fast)

import torch
from torch import nn

torch.manual_seed(10)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
inputs = torch.randn(800, 12)
targets = inputs[:, :3].sum(1, keepdim=True)
ACCUMULATE = 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(12, 16)
        self.norm = nn.LayerNorm(16)
        self.second = nn.Linear(16, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        x = torch.nn.functional.silu(self.norm(self.first(x)))
        return self.out(x + torch.nn.functional.silu(self.second(x)))


model = Net().to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.1)
scaler = torch.amp.GradScaler("cuda", enabled=device.type == "cuda")
warmup = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 8))
optimizer.zero_grad()
for step in range(60):
    x, y = inputs[step * 8 % 800 :][:8].to(device), targets[step * 8 % 800 :][:8].to(device)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        output = model(x)
    loss = nn.functional.smooth_l1_loss(output.float(), y) / ACCUMULATE
    scaler.scale(loss).backward()
    if (step + 1) % ACCUMULATE == 0:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        warmup.step()

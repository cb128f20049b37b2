import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(6)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
inputs = torch.randn(600, 10)
labels = inputs[:, :4].argmax(1)


def network(width):
    return nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, 4))


teacher, student = network(32).to(device), network(8).to(device)
teacher.eval()
student.train()
optimizer = torch.optim.SGD(student.parameters(), lr=0.3, momentum=0.9, nesterov=True)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
T, alpha = 4.0, 0.7
for step in range(40):
    rows = torch.randint(0, len(inputs), (24,))
    x, y = inputs[rows].to(device), labels[rows].to(device)
    with torch.no_grad():
        expected = teacher(x)
    logits = student(x)
    soft = F.kl_div(F.log_softmax(logits / T, 1), F.softmax(expected / T, 1), reduction="batchmean") * T * T
    loss = alpha * soft + (1 - alpha) * F.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()

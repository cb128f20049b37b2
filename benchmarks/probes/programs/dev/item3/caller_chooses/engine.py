import torch
import torch.nn.functional as F
import torch_xla


def fit(model, loader, optimizer, device, epochs=1):
    model.to(device)  # silent: XLA003|XLA017|XLA001
    model.train()
    for _ in range(epochs):
        for x, y in loader:
            x, y = x.to(device), y.to(device)  # silent: XLA003|XLA017|XLA001
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            torch_xla.sync()


@torch.no_grad()
def accuracy(model, loader, device):
    model.eval()
    right = torch.zeros((), device=device)  # silent: XLA003|XLA017|XLA001
    seen = 0
    for x, y in loader:
        right += (model(x.to(device)).argmax(1) == y.to(device)).sum()
        seen += y.size(0)
        torch_xla.sync()
    return right.item() / seen

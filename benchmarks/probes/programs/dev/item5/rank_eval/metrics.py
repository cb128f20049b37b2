import torch
import torch.distributed as dist


@torch.no_grad()
def validate(model, loader, device):
    model.eval()
    correct = torch.zeros(1, device=device)
    count = torch.zeros(1, device=device)
    for x, y in loader:
        correct += (model(x).argmax(-1) == y).sum()
        count += y.numel()
    dist.all_reduce(correct)  # expect@a: XLA710
    dist.all_reduce(count)  # expect@a: XLA710
    model.train()
    return (correct / count).item()  # expect@a: XLA710

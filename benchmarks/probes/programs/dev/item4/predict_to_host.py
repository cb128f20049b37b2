import csv

import torch
import torch.nn as nn
import torch_xla
from torch.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    def __init__(self, d=128, k=6):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d, 256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, k))

    def forward(self, x):
        return self.net(x)


@torch.no_grad()
def predict(net, loader, device):
    labels = []
    net.eval()
    for (x,) in loader:  # silent: XLA401|XLA402
        logits = net(x.to(device))  # silent: XLA401|XLA402
        labels.append(logits.argmax(1).cpu())  # silent: XLA401|XLA402|XLA302|XLA303
    return torch.cat(labels)  # silent


def main():
    device = torch_xla.device()
    net = Classifier()
    net.load_state_dict(torch.load("clf.pt", map_location="cpu"))
    net.to(device)
    x = torch.load("x_unlabelled.pt", map_location="cpu")
    loader = DataLoader(TensorDataset(x), batch_size=256, drop_last=True)
    y = predict(net, loader, device)
    with open("labels.csv", "w", newline="") as f:
        writer = csv.writer(f)
        for i, label in enumerate(y.tolist()):  # silent
            writer.writerow([i, label])


if __name__ == "__main__":
    main()

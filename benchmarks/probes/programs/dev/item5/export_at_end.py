import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
from safetensors.torch import save_file
from torch.utils.data import DataLoader, TensorDataset


class Spotter(nn.Module):
    def __init__(self, n_mels=40, n_cls=11):
        super().__init__()
        self.conv = nn.Conv1d(n_mels, 64, 5, padding=2)
        self.gru = nn.GRU(64, 64, batch_first=True)
        self.fc = nn.Linear(64, n_cls)

    def forward(self, x):
        h, _ = self.gru(F.relu(self.conv(x)).transpose(1, 2))
        return self.fc(h[:, -1])


def fit(net, loader, device, epochs):
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(epochs):
        for x, y in loader:
            loss = F.cross_entropy(net(x.to(device)), y.to(device))
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()


def export(net, path):
    weights = {k: v.detach().cpu().contiguous() for k, v in net.state_dict().items()}  # silent: XLA906|XLA710
    save_file(weights, path)  # silent


def main():
    device = torch_xla.device()
    data = TensorDataset(torch.randn(3300, 40, 101), torch.randint(0, 11, (3300,)))
    net = Spotter().to(device)
    fit(net, DataLoader(data, batch_size=33, shuffle=True, drop_last=True), device, epochs=8)
    export(net, "spotter.safetensors")  # silent
    print("exported", sum(p.numel() for p in net.parameters()))  # silent


if __name__ == "__main__":
    main()

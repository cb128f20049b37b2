import torch
import torch.nn as nn
import torch_xla
from torch.utils.data import DataLoader, Dataset

from misc import collate_fn


class Photos(Dataset):
    def __len__(self):
        return 1000

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        h, w = torch.randint(200, 600, (2,), generator=g).tolist()
        return torch.randn(3, h, w), torch.rand(4)


class BoxHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 64, 7, 4), nn.ReLU(), nn.Conv2d(64, 128, 3, 2), nn.ReLU())
        self.box = nn.Linear(128, 4)

    def forward(self, samples):
        return self.box(self.backbone(samples.tensors).mean((2, 3))).sigmoid()


def main():
    device = torch_xla.device()
    loader = DataLoader(Photos(), batch_size=4, shuffle=True, drop_last=True, collate_fn=collate_fn, num_workers=4)  # expect@a: XLA904
    model = BoxHead().to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for epoch in range(50):
        for samples, boxes in loader:
            samples = samples.to(device)  # expect@a: XLA904
            loss = nn.functional.l1_loss(model(samples), boxes.to(device))
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()


if __name__ == "__main__":
    main()

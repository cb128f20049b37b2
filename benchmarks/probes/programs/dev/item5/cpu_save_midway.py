import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
from torch.utils.data import DataLoader, TensorDataset


class UNetLite(nn.Module):
    def __init__(self):
        super().__init__()
        self.d = nn.Conv2d(1, 32, 3, stride=2, padding=1)
        self.u = nn.ConvTranspose2d(32, 1, 4, stride=2, padding=1)

    def forward(self, x):
        return self.u(F.relu(self.d(x)))


def save_model(model, path):
    model.cpu()  # expect@a: XLA906|XLA405|XLA407
    torch.save(model.state_dict(), path)  # expect@a: XLA906|XLA405|XLA407


def main():
    device = torch_xla.device()
    ds = TensorDataset(torch.rand(3200, 1, 64, 64))
    loader = DataLoader(ds, batch_size=32, shuffle=True, drop_last=True)
    model = UNetLite().to(device)
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(40):
        for (img,) in loader:
            img = img.to(device)
            noisy = img + 0.2 * torch.randn_like(img)
            loss = F.mse_loss(model(noisy), img)
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()
        save_model(model, f"unet_{epoch:03d}.pt")  # expect@a: XLA906|XLA405|XLA407


if __name__ == "__main__":
    main()

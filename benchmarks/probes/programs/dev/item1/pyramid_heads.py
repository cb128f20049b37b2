import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla


class Pyramid(nn.Module):
    def __init__(self, widths=(32, 64, 128), out=32):
        super().__init__()
        self.downs = nn.ModuleList()
        c = 3
        for w in widths:
            self.downs.append(nn.Conv2d(c, w, 3, stride=2, padding=1))
            c = w
        self.lat = nn.ModuleList(nn.Conv2d(w, out, 1) for w in widths)
        self.score = nn.Conv2d(out, 5, 1)

    def forward(self, img):
        feats = []
        x = img
        for i in range(len(self.downs)):
            x = F.relu(self.downs[i](x))
            feats.append(self.lat[i](x))
            if i > 0:
                up = F.interpolate(feats[i], size=feats[0].shape[-2:], mode="nearest")
                feats[i] = up  # silent
        stacked = torch.stack(feats, dim=0)  # silent
        total = stacked[0]
        for level in range(1, stacked.shape[0]):
            total = total + stacked[level]  # silent
        return self.score(total)


def fit():
    device = torch_xla.device()
    net = Pyramid().to(device)
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for it in range(500):
        img = torch.randn(16, 3, 64, 64).to(device)
        lab = torch.randint(0, 5, (16, 32, 32)).to(device)
        loss = F.cross_entropy(net(img), lab)
        opt.zero_grad()
        loss.backward()
        opt.step()
        torch_xla.sync()


if __name__ == "__main__":
    fit()

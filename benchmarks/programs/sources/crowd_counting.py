#!/usr/bin/env python

# # Crowd counting with density maps
#
# Count people by regressing a density map whose integral is the number of heads.
# Exported from `crowd_counting.ipynb`.

# In[1]:


import random

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
print(device)


# In[2]:


SEED = 42
EPOCHS = 3
LR = 1e-4
N_TRAIN, N_VAL = 8, 4
SIZES = [(48, 64), (64, 48), (64, 64)]  # (H, W), pictures come from different cameras

random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)


# ## Data
#
# Heads are bright blobs on noise. The ground truth is a sum of gaussians at 1/4 of the resolution.

# In[3]:


def gaussian_blob(h, w, y, x, sigma):
    yy, xx = np.mgrid[0:h, 0:w]
    return np.exp(-((yy - y) ** 2 + (xx - x) ** 2) / (2 * sigma**2))


def make_sample():
    h, w = random.choice(SIZES)
    img = np.random.rand(h, w).astype(np.float32) * 0.3
    density = np.zeros((h // 4, w // 4), dtype=np.float32)
    n = np.random.randint(3, 15)
    for _ in range(n):
        y, x = np.random.uniform(4, h - 4), np.random.uniform(4, w - 4)
        img += 0.8 * gaussian_blob(h, w, y, x, 2.0).astype(np.float32)
        blob = gaussian_blob(h // 4, w // 4, y / 4, x / 4, 1.0)
        density += (blob / blob.sum()).astype(np.float32)
    return np.clip(img, 0, 1), density


class CrowdDataset(Dataset):
    def __init__(self, n, train=True):
        self.samples = [make_sample() for _ in range(n)]
        self.train = train

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, idx):
        img, density = self.samples[idx]
        if self.train and random.random() > 0.5:
            img, density = img[:, ::-1].copy(), density[:, ::-1].copy()
        return torch.from_numpy(img)[None], torch.from_numpy(density)[None]


train_loader = DataLoader(CrowdDataset(N_TRAIN), batch_size=1, shuffle=True)
val_loader = DataLoader(CrowdDataset(N_VAL, train=False), batch_size=1)

img, density = next(iter(train_loader))
print(img.shape, density.shape, "people:", round(density.sum().item()))


# ## Model: a small MCNN
#
# Three columns with different receptive fields.

# In[4]:


def column(k, c):
    return nn.Sequential(
        nn.Conv2d(1, c, k + 2, padding=(k + 2) // 2),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Conv2d(c, 2 * c, k, padding=k // 2),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Conv2d(2 * c, c, k, padding=k // 2),
        nn.ReLU(inplace=True),
    )


class MCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.branch1 = column(7, 8)
        self.branch2 = column(5, 10)
        self.branch3 = column(3, 12)
        self.fuse = nn.Conv2d(30, 1, 1)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.normal_(m.weight, std=0.05)
                nn.init.constant_(m.bias, 0)

    def forward(self, x):
        x = torch.cat((self.branch1(x), self.branch2(x), self.branch3(x)), 1)
        return self.fuse(x)


model = MCNN().to(device)
criterion = nn.MSELoss(reduction="sum").to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=LR)
print(sum(p.numel() for p in model.parameters()), "parameters")


# ## Training

# In[5]:


history = {"loss": [], "mae": [], "rmse": []}
best_mae = float("inf")
best_epoch = 0

for epoch in range(EPOCHS):
    model.train()
    epoch_loss = 0
    for i, (img, gt) in enumerate(train_loader):
        img = img.to(device)
        gt = gt.to(device)
        et = model(img)
        loss = criterion(et, gt)
        epoch_loss += loss.item()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 4 == 0:
            print(f"  [{epoch}][{i}/{len(train_loader)}] gt {gt.sum():.1f} et {et.sum():.1f}")

    model.eval()
    mae, mse = 0, 0
    with torch.no_grad():
        for img, gt in val_loader:
            img, gt = img.to(device), gt.to(device)
            et = model(img)
            err = abs(et.sum() - gt.sum()).item()
            mae += err
            mse += err**2
            del img, gt, et
    mae /= len(val_loader)
    rmse = (mse / len(val_loader)) ** 0.5

    history["loss"].append(epoch_loss / len(train_loader))
    history["mae"].append(mae)
    history["rmse"].append(rmse)
    if mae < best_mae:
        best_mae = mae
        best_epoch = epoch
        best_state = {k: v.cpu() for k, v in model.state_dict().items()}
    print(
        f"epoch {epoch}  loss {history['loss'][-1]:.3f}  mae {mae:.2f}  rmse {rmse:.2f}  best {best_mae:.2f}"
    )


# ## Look at a prediction

# In[6]:


model.load_state_dict(best_state)
model.eval()
img, gt = val_loader.dataset[0]
with torch.no_grad():
    pred = model(img.unsqueeze(0).to(device)).squeeze().cpu().numpy()
print("ground truth", gt.sum().item(), "predicted", pred.sum(), "from epoch", best_epoch)
chars = " .:-=+*#%@"
for row in (pred - pred.min()) / (np.ptp(pred) + 1e-8):
    print("".join(chars[int(v * (len(chars) - 1))] for v in row))

# %% [markdown]
# # Predicting the next frames of bouncing blobs
# ConvLSTM encoder-forecaster, trained with scheduled sampling.

# %%
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
random.seed(3)
np.random.seed(3)
torch.manual_seed(3)
print("running on", device)

SIZE, T_IN, T_OUT = 16, 3, 3
BATCH = 8
STEPS = 10

# %%
# the data: two blobs per clip that bounce off the walls


def make_clip(n_frames=T_IN + T_OUT, n_blobs=2):
    yy, xx = np.mgrid[:SIZE, :SIZE]
    pos = np.random.uniform(3, SIZE - 4, (n_blobs, 2))
    vel = np.random.uniform(-2, 2, (n_blobs, 2))
    clip = np.zeros((n_frames, 1, SIZE, SIZE), dtype=np.float32)
    for t in range(n_frames):
        for y, x in pos:
            clip[t, 0] += np.exp(-((yy - y) ** 2 + (xx - x) ** 2) / 3)
        pos = pos + vel
        hit = (pos < 1) | (pos > SIZE - 2)
        vel[hit] *= -1
        pos = np.clip(pos, 1, SIZE - 2)
    return clip.clip(0, 1)


data = np.stack([make_clip() for _ in range(64)])
test_data = torch.tensor(np.stack([make_clip() for _ in range(8)])).to(device)
data.shape  # noqa: B018

# %%


class ConvLSTMCell(nn.Module):
    def __init__(self, in_ch, hid_ch, k=3):
        super().__init__()
        self.hid_ch = hid_ch
        self.conv = nn.Conv2d(in_ch + hid_ch, 4 * hid_ch, k, padding=k // 2)

    def init_state(self, b, h, w):
        return (
            torch.zeros(b, self.hid_ch, h, w).to(device),
            torch.zeros(b, self.hid_ch, h, w).to(device),
        )

    def forward(self, x, state):
        h, c = state
        i, f, o, g = self.conv(torch.cat([x, h], dim=1)).chunk(4, dim=1)
        c = torch.sigmoid(f + 1) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        return h, (h, c)


class Forecaster(nn.Module):
    def __init__(self, hid=16):
        super().__init__()
        self.cell1 = ConvLSTMCell(1, hid)
        self.cell2 = ConvLSTMCell(hid, hid)
        self.head = nn.Conv2d(hid, 1, 1)

    def forward(self, clip, tf_ratio=0.0):
        b, _, _, h, w = clip.shape
        s1, s2 = self.cell1.init_state(b, h, w), self.cell2.init_state(b, h, w)
        preds = []
        frame = clip[:, 0]
        for t in range(T_IN + T_OUT - 1):
            y, s1 = self.cell1(frame, s1)
            y, s2 = self.cell2(y, s2)
            pred = torch.sigmoid(self.head(y) + frame * 4 - 2)
            preds.append(pred)
            # warm up on true frames, then feed back what was predicted now and then
            if t + 1 < T_IN or random.random() < tf_ratio:  # noqa: SIM108
                frame = clip[:, t + 1]
            else:
                frame = pred
        return torch.stack(preds, dim=1)


net = Forecaster().to(device)
print(sum(p.numel() for p in net.parameters()), "parameters")

# %%


def psnr(a, b):
    return -10 * torch.log10(F.mse_loss(a, b))


def blob_drift(pred, true):
    """distance of the centres of mass, in pixels"""
    grid = torch.arange(SIZE, dtype=torch.float, device=pred.device)
    mass_p, mass_t = pred.sum((-1, -2)) + 1e-6, true.sum((-1, -2)) + 1e-6
    dy = (pred.sum(-1) @ grid) / mass_p - (true.sum(-1) @ grid) / mass_t
    dx = (pred.sum(-2) @ grid) / mass_p - (true.sum(-2) @ grid) / mass_t
    return torch.sqrt(dx**2 + dy**2).mean()


# %%
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
losses = []
best_psnr = 0

for step in range(STEPS):
    net.train()
    idx = np.random.choice(len(data), BATCH, replace=False)
    clip = torch.tensor(data[idx]).to(device)
    tf_ratio = max(0.0, 1 - step / (STEPS * 0.7))

    pred = net(clip, tf_ratio)
    loss = F.binary_cross_entropy(pred, clip[:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
    losses.append(loss.item())

    if step % 4 == 3:
        net.eval()
        with torch.no_grad():
            out = net(test_data)[:, T_IN - 1 :]
        score = psnr(out, test_data[:, T_IN:])
        drift = blob_drift(out, test_data[:, T_IN:])
        if score > best_psnr:
            best_psnr = score
        print(f"step {step + 1}: loss {np.mean(losses[-4:]):.4f}  psnr {score:.2f}  drift {drift:.2f}")

# %%
# a quick look at one of the clips, without matplotlib
with torch.no_grad():
    frames = net(test_data[:1])[0, -1, 0].cpu().numpy()
for row in frames[::2]:
    print("".join(" .:*#"[min(4, int(v * 12))] for v in row))
print("best psnr", best_psnr)

#!/usr/bin/env python
# coding: utf-8
# exported from latent_diffusion_toy.ipynb

# In[1]:
import math, random, copy, time
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda")
torch.manual_seed(0); np.random.seed(0); random.seed(0)

# In[2]: captions -> pictures
COLORS = {"red": (1, -1, -1), "green": (-1, 1, -1), "blue": (-1, -1, 1), "white": (1, 1, 1)}
SHAPES = ["square", "circle", "cross"]
PLACES = ["left", "right", "middle"]
words = ["<pad>", "<null>", "a", "on", "the"] + list(COLORS) + SHAPES + PLACES
stoi = {w: i for i, w in enumerate(words)}
MAXLEN = 8

def draw(color, shape, place, S=32):
    img = -np.ones((3, S, S), dtype=np.float32)
    cx = {"left": 9, "right": 23, "middle": 16}[place] + np.random.randint(-2, 3)
    cy = 16 + np.random.randint(-5, 6)
    r = np.random.randint(4, 8)
    yy, xx = np.mgrid[:S, :S]
    if shape == "square":
        m = (abs(xx - cx) < r) & (abs(yy - cy) < r)
    elif shape == "circle":
        m = (xx - cx) ** 2 + (yy - cy) ** 2 < r ** 2
    else:
        m = ((abs(xx - cx) < 2) | (abs(yy - cy) < 2)) & (abs(xx - cx) < r) & (abs(yy - cy) < r)
    for c in range(3):
        img[c][m] = COLORS[color][c]
    return img

def encode(caption):
    t = [stoi[w] for w in caption.split()]
    return t + [0] * (MAXLEN - len(t))

imgs, caps = [], []
for _ in range(256):
    c, s, p = random.choice(list(COLORS)), random.choice(SHAPES), random.choice(PLACES)
    imgs.append(draw(c, s, p))
    caps.append(encode(f"a {c} {s} on the {p}"))
imgs = torch.tensor(np.stack(imgs))
caps = torch.tensor(caps)
print(imgs.shape, caps.shape, imgs.min(), imgs.max())

# In[3]: small VAE, 32x32x3 -> 8x8x4
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(3, 24, 4, 2, 1), nn.SiLU(), nn.Conv2d(24, 32, 4, 2, 1), nn.SiLU(), nn.Conv2d(32, 8, 1))
        self.dec = nn.Sequential(nn.Conv2d(4, 32, 3, padding=1), nn.SiLU(), nn.Upsample(scale_factor=2), nn.Conv2d(32, 24, 3, padding=1),
                                 nn.SiLU(), nn.Upsample(scale_factor=2), nn.Conv2d(24, 3, 3, padding=1), nn.Tanh())
    def encode(self, x, sample=True):
        mu, logvar = self.enc(x).chunk(2, 1)
        logvar = logvar.clamp(-10, 5)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp() if sample else mu
        return z, mu, logvar
    def decode(self, z):
        return self.dec(z)

vae = VAE().to(device)
opt = torch.optim.Adam(vae.parameters(), lr=2e-3)
for i in range(6):
    x = imgs[torch.randint(0, len(imgs), (32,))].to(device)
    z, mu, lv = vae.encode(x)
    rec = F.mse_loss(vae.decode(z), x)
    kl = -0.5 * (1 + lv - mu ** 2 - lv.exp()).mean()
    loss = rec + 1e-4 * kl
    opt.zero_grad(); loss.backward(); opt.step()
    if i % 2 == 0:
        print(f"vae {i} rec={rec.item():.4f} kl={kl.item():.4f}")

# In[4]: latents are precomputed once
vae.eval().requires_grad_(False)
with torch.no_grad():
    latents = torch.cat([vae.encode(b.to(device), sample=False)[0] for b in imgs.split(64)])
scale = 1.0 / latents.std()
latents = latents * scale
print("scale", scale.item(), "latent std", latents.std().item())

# In[5]: denoiser
def timestep_embedding(t, dim):
    half = dim // 2
    freqs = torch.exp(-math.log(10000) * torch.arange(half, device=t.device) / half)
    a = t[:, None].float() * freqs[None]
    return torch.cat([a.cos(), a.sin()], -1)

class ResBlock(nn.Module):
    def __init__(self, cin, cout, emb):
        super().__init__()
        self.n1, self.c1 = nn.GroupNorm(4, cin), nn.Conv2d(cin, cout, 3, padding=1)
        self.n2, self.c2 = nn.GroupNorm(4, cout), nn.Conv2d(cout, cout, 3, padding=1)
        self.e = nn.Linear(emb, 2 * cout)
        self.skip = nn.Conv2d(cin, cout, 1) if cin != cout else nn.Identity()
    def forward(self, x, e):
        h = self.c1(F.silu(self.n1(x)))
        s, b = self.e(F.silu(e))[:, :, None, None].chunk(2, 1)
        return self.c2(F.silu(self.n2(h) * (1 + s) + b)) + self.skip(x)

class CrossAttn(nn.Module):
    def __init__(self, c, ctx):
        super().__init__()
        self.norm = nn.GroupNorm(4, c)
        self.att = nn.MultiheadAttention(c, 4, kdim=ctx, vdim=ctx, batch_first=True)
    def forward(self, x, ctx, pad):
        b, c, h, w = x.shape
        q = self.norm(x).flatten(2).transpose(1, 2)
        o, _ = self.att(q, ctx, ctx, key_padding_mask=pad, need_weights=False)
        return x + o.transpose(1, 2).reshape(b, c, h, w)

class UNet(nn.Module):
    def __init__(self, ch=32, ctx=32, emb=64):
        super().__init__()
        self.ch = ch
        self.tok = nn.Embedding(len(words), ctx, padding_idx=0)
        self.pos = nn.Parameter(torch.randn(MAXLEN, ctx) * 0.02)
        self.txt = nn.TransformerEncoderLayer(ctx, 4, 64, dropout=0.0, batch_first=True)
        self.temb = nn.Sequential(nn.Linear(ch, emb), nn.SiLU(), nn.Linear(emb, emb))
        self.cin = nn.Conv2d(4, ch, 3, padding=1)
        self.d1, self.a1 = ResBlock(ch, ch, emb), CrossAttn(ch, ctx)
        self.down = nn.Conv2d(ch, ch, 3, 2, 1)
        self.m1, self.am, self.m2 = ResBlock(ch, 48, emb), CrossAttn(48, ctx), ResBlock(48, ch, emb)
        self.u1, self.au = ResBlock(2 * ch, ch, emb), CrossAttn(ch, ctx)
        self.out = nn.Sequential(nn.GroupNorm(4, ch), nn.SiLU(), nn.Conv2d(ch, 4, 3, padding=1))
        nn.init.zeros_(self.out[-1].weight)
    def forward(self, x, t, tokens):
        pad = tokens == 0
        ctx = self.txt(self.tok(tokens) + self.pos, src_key_padding_mask=pad)
        e = self.temb(timestep_embedding(t, self.ch))
        x = self.cin(x)
        s = self.a1(self.d1(x, e), ctx, pad)
        h = self.m2(self.am(self.m1(self.down(s), e), ctx, pad), e)
        h = F.interpolate(h, scale_factor=2, mode="nearest")
        return self.out(self.au(self.u1(torch.cat([h, s], 1), e), ctx, pad))

unet = UNet().to(device)
ema = copy.deepcopy(unet).eval()
print("unet params", sum(p.numel() for p in unet.parameters()))

# In[6]: training
T = 1000
betas = torch.linspace(0.00085 ** 0.5, 0.012 ** 0.5, T, device=device) ** 2
abar = torch.cumprod(1 - betas, 0)
null = torch.tensor([1] + [0] * (MAXLEN - 1), device=device)
opt = torch.optim.AdamW(unet.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cuda")
losses = []
t0 = time.time()
for step in range(10):
    idx = torch.randint(0, len(latents), (16,))
    z0, tokens = latents[idx.to(device)], caps[idx].to(device)
    drop = torch.rand(len(idx), device=device) < 0.1
    tokens = torch.where(drop[:, None], null[None], tokens)
    t = torch.randint(0, T, (len(idx),), device=device)
    noise = torch.randn_like(z0)
    a = abar[t][:, None, None, None]
    zt = a.sqrt() * z0 + (1 - a).sqrt() * noise
    with torch.autocast("cuda", dtype=torch.bfloat16):
        pred = unet(zt, t, tokens)
        loss = F.mse_loss(pred.float(), noise)
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
    with torch.no_grad():
        for pe, p in zip(ema.parameters(), unet.parameters()):
            pe.lerp_(p, 0.1)
    losses.append(loss.item())
    print(f"\rstep {step} loss {np.mean(losses[-5:]):.4f}", end="")
print(f"\n{(time.time() - t0) / len(losses):.3f} s/it")

# In[7]: DDIM sampling with classifier-free guidance
@torch.no_grad()
def sample(prompts, steps=8, guidance=3.0):
    cond = torch.tensor([encode(p) for p in prompts], device=device)
    tokens = torch.cat([null.expand(len(prompts), -1), cond])
    z = torch.randn(len(prompts), 4, 8, 8, device=device)
    ts = np.linspace(T - 1, 0, steps).astype(int)
    for i, t in enumerate(ts):
        tt = torch.full((2 * len(prompts),), int(t), device=device)
        eu, ec = ema(torch.cat([z, z]), tt, tokens).chunk(2)
        eps = eu + guidance * (ec - eu)
        a_t = abar[t]
        a_prev = abar[ts[i + 1]] if i + 1 < steps else torch.tensor(1.0, device=device)
        z0 = (z - (1 - a_t).sqrt() * eps) / a_t.sqrt()
        z0 = z0.clamp(-4, 4)
        z = a_prev.sqrt() * z0 + (1 - a_prev).sqrt() * eps
    return vae.decode(z / scale)

out = sample(["a red square on the left", "a blue circle on the right", "a white cross on the middle"])
out = ((out.clamp(-1, 1) + 1) * 127.5).byte().cpu().numpy()

# In[8]: poor man's imshow
for im in out:
    g = im.mean(0)[::4, ::2]
    print("\n".join("".join(" .:-=+*#%@"[min(9, int(v) // 26)] for v in row) for row in g))
    print("mean rgb", im.reshape(3, -1).mean(1).round(1))

"""Tiny NeRF: hierarchical sampling, plus an occupancy grid to skip what is empty."""

from typing import NamedTuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
np.random.seed(0)
torch.manual_seed(0)

H = W = 12
FOCAL = 18.0
NEAR, FAR = 2.0, 6.0
N_RAND = 64
N_SAMPLES, N_IMPORTANCE = 8, 8
N_ITERS = 9
CHUNK, NETCHUNK = 72, 4096
GRID = 8
GRID_UPDATE = 4
I_PRINT, I_TEST = 3, 8


class Rays(NamedTuple):
    origins: torch.Tensor
    dirs: torch.Tensor

    def __getitem__(self, where):
        return Rays(self.origins[where], self.dirs[where])

    def __len__(self):
        return self.origins.shape[0]


# ---- scene -----------------------------------------------------------------------------------


def pose_spherical(theta, phi, radius):
    ct, st, cp, sp = np.cos(theta), np.sin(theta), np.cos(phi), np.sin(phi)
    forward = np.array([cp * ct, cp * st, sp])
    right = np.array([-st, ct, 0.0])
    up = np.cross(forward, right)
    pose = np.eye(4, dtype=np.float32)
    pose[:3] = np.stack([right, up, forward, radius * forward], axis=1)
    return torch.from_numpy(pose)


def get_rays(c2w):
    i, j = torch.meshgrid(
        torch.arange(W, dtype=torch.float32), torch.arange(H, dtype=torch.float32), indexing="xy"
    )
    dirs = torch.stack([(i - W * 0.5) / FOCAL, -(j - H * 0.5) / FOCAL, -torch.ones_like(i)], -1)
    rays_d = torch.sum(dirs[..., None, :] * c2w[:3, :3], -1)
    return Rays(c2w[:3, -1].expand(rays_d.shape), rays_d)


def true_field(x):
    """Two coloured balls."""
    d1 = (x - x.new_tensor([0.5, 0.0, 0.0])).norm(dim=-1)
    d2 = (x - x.new_tensor([-0.5, 0.3, 0.2])).norm(dim=-1)
    sigma = 30.0 * ((d1 < 0.5) | (d2 < 0.4)).float()
    red = (d1 < d2).float()[..., None]
    return red * x.new_tensor([0.9, 0.2, 0.1]) + (1 - red) * x.new_tensor([0.1, 0.3, 0.9]), sigma


# ---- model -----------------------------------------------------------------------------------


class Embedder:
    def __init__(self, num_freqs, include_input=True):
        freqs = 2.0 ** torch.linspace(0.0, num_freqs - 1, num_freqs)
        self.embed_fns = [lambda x: x] if include_input else []
        for freq in freqs:
            for fn in (torch.sin, torch.cos):
                self.embed_fns.append(lambda x, fn=fn, freq=freq: fn(x * freq))
        self.out_dim = 3 * len(self.embed_fns)

    def __call__(self, x):
        return torch.cat([fn(x) for fn in self.embed_fns], -1)


class NeRF(nn.Module):
    def __init__(self, depth=2, width=32, skips=(0,)):
        super().__init__()
        self.embed, self.embed_dirs, self.skips = Embedder(3), Embedder(1), skips
        ch = self.embed.out_dim
        self.pts_linears = nn.ModuleList(
            [nn.Linear(ch if i == 0 else width + ch * (i - 1 in skips), width) for i in range(depth)]
        )
        self.alpha = nn.Linear(width, 1)
        self.views = nn.Linear(width + self.embed_dirs.out_dim, width // 2)
        self.rgb = nn.Linear(width // 2, 3)

    def forward(self, pts, dirs):
        x = self.embed(pts)
        h = x
        for i, layer in enumerate(self.pts_linears):
            h = F.relu(layer(h))
            if i in self.skips:
                h = torch.cat([x, h], -1)
        sigma = F.softplus(self.alpha(h) - 1.0).squeeze(-1)
        h = F.relu(self.views(torch.cat([h, self.embed_dirs(dirs)], -1)))
        return torch.sigmoid(self.rgb(h)), sigma


class OccupancyGrid(nn.Module):
    """Which cells of [-1.5, 1.5]^3 hold anything, from a decaying maximum of the density."""

    def __init__(self, resolution, threshold=0.5, decay=0.9):
        super().__init__()
        self.resolution, self.threshold, self.decay = resolution, threshold, decay
        self.register_buffer("density", torch.zeros(resolution**3))
        self.register_buffer("occupied", torch.ones(resolution**3, dtype=torch.bool))

    def index(self, pts):
        cell = ((pts + 1.5) / 3.0 * self.resolution).long().clamp(0, self.resolution - 1)
        return (cell[..., 0] * self.resolution + cell[..., 1]) * self.resolution + cell[..., 2]

    def query(self, pts):
        inside = (pts.abs() < 1.5).all(dim=-1)
        return inside & self.occupied[self.index(pts)]

    @torch.no_grad()
    def update(self, model, warmup):
        n = self.resolution
        if warmup:
            cells = torch.arange(n**3, device=self.density.device)
        else:
            uniform = torch.randint(n**3, (n**3 // 4,), device=self.density.device)
            cells = torch.cat([uniform, torch.nonzero(self.occupied)[:, 0]]).unique()
        corner = torch.stack([cells // (n * n), cells // n % n, cells % n], -1).float()
        pts = (corner + torch.rand_like(corner)) / n * 3.0 - 1.5
        _, sigma = model(pts, torch.zeros_like(pts))
        self.density[cells] = torch.maximum(self.density[cells] * self.decay, sigma)
        self.occupied = self.density > torch.clamp(self.density.mean(), max=self.threshold)


def run_network(model, grid, pts, dirs):
    """Only the occupied points go through the network."""
    flat, flat_dirs = pts.reshape(-1, 3), dirs[:, None].expand(pts.shape).reshape(-1, 3)
    rgb, sigma = torch.zeros_like(flat), torch.zeros_like(flat[:, 0])
    keep = grid.query(flat).nonzero().squeeze(-1)
    if keep.numel() > 0:
        chunks = zip(flat[keep].split(NETCHUNK), flat_dirs[keep].split(NETCHUNK), strict=True)
        found = [model(p, d) for p, d in chunks]
        rgb[keep] = torch.cat([c for c, _ in found])
        sigma[keep] = torch.cat([s for _, s in found])
    return rgb.view(pts.shape), sigma.view(pts.shape[:-1])


# ---- rendering -------------------------------------------------------------------------------


def raw2outputs(rgb, sigma, z_vals, rays_d):
    dists = torch.cat([z_vals[..., 1:] - z_vals[..., :-1], torch.full_like(z_vals[..., :1], 1e10)], -1)
    alpha = 1.0 - torch.exp(-sigma * dists * rays_d.norm(dim=-1, keepdim=True))
    transmittance = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1.0 - alpha + 1e-10], -1), -1)[
        :, :-1
    ]
    weights = alpha * transmittance
    white = 1.0 - weights.sum(-1, keepdim=True)
    return (weights[..., None] * rgb).sum(-2) + white, weights


def sample_pdf(bins, weights, n_samples, det=False):
    weights = weights + 1e-5
    cdf = torch.cumsum(weights / weights.sum(-1, keepdim=True), -1)
    cdf = torch.cat([torch.zeros_like(cdf[..., :1]), cdf], -1)
    shape = [*cdf.shape[:-1], n_samples]
    u = (
        torch.linspace(0.0, 1.0, n_samples, device=cdf.device).expand(shape)
        if det
        else torch.rand(shape, device=cdf.device)
    )
    inds = torch.searchsorted(cdf, u.contiguous(), right=True)
    below, above = (inds - 1).clamp(min=0), inds.clamp(max=cdf.shape[-1] - 1)
    cdf_b, cdf_a = cdf.gather(-1, below), cdf.gather(-1, above)
    bins_b, bins_a = bins.gather(-1, below), bins.gather(-1, above)
    denom = cdf_a - cdf_b
    denom = torch.where(denom < 1e-5, torch.ones_like(denom), denom)
    return bins_b + (u - cdf_b) / denom * (bins_a - bins_b)


def render_rays(rays, coarse, fine, grid, perturb):
    rays_o, rays_d = rays
    viewdirs = rays_d / rays_d.norm(dim=-1, keepdim=True)
    z = torch.linspace(NEAR, FAR, N_SAMPLES, device=rays_o.device).expand(len(rays), N_SAMPLES)
    if perturb:
        z = z + torch.rand_like(z) * (FAR - NEAR) / N_SAMPLES
    pts = rays_o[:, None] + rays_d[:, None] * z[..., None]
    rgb0, weights = raw2outputs(*run_network(coarse, grid, pts, viewdirs), z, rays_d)
    mids = 0.5 * (z[..., 1:] + z[..., :-1])
    z_fine = sample_pdf(mids, weights[..., 1:-1].detach(), N_IMPORTANCE, det=not perturb)
    z, _ = torch.sort(torch.cat([z, z_fine], -1), -1)
    pts = rays_o[:, None] + rays_d[:, None] * z[..., None]
    rgb, weights = raw2outputs(*run_network(fine, grid, pts, viewdirs), z, rays_d)
    return {"rgb": rgb, "rgb0": rgb0, "acc": weights.sum(-1), "depth": (weights * z).sum(-1)}


def batchify_rays(rays, **kwargs):
    results = [render_rays(rays[i : i + CHUNK], **kwargs) for i in range(0, len(rays), CHUNK)]
    return {k: torch.cat([r[k] for r in results]) for k in results[0]}


def psnr(mse):
    return -10.0 * torch.log10(mse)


def main():
    poses = [pose_spherical(t, 0.5, 4.0) for t in np.linspace(0, 2 * np.pi, 7)[:-1]]
    rays, images = [], []
    for pose in poses:
        r = get_rays(pose)
        rays.append(Rays(r.origins.reshape(-1, 3), r.dirs.reshape(-1, 3)))
        z = torch.linspace(NEAR, FAR, 64).expand(H * W, 64)
        pts = rays[-1].origins[:, None] + rays[-1].dirs[:, None] * z[..., None]
        images.append(raw2outputs(*true_field(pts), z, rays[-1].dirs)[0])
    test_rays, test_image = rays.pop().origins.to(device), images.pop().to(device)
    test_rays = Rays(test_rays, get_rays(poses[-1]).dirs.reshape(-1, 3).to(device))
    bank = Rays(torch.cat([r.origins for r in rays]).to(device), torch.cat([r.dirs for r in rays]).to(device))
    target = torch.cat(images).to(device)

    coarse, fine, grid = NeRF().to(device), NeRF().to(device), OccupancyGrid(GRID).to(device)
    optimizer = torch.optim.Adam([*coarse.parameters(), *fine.parameters()], lr=5e-3, betas=(0.9, 0.999))
    perm, cursor = torch.randperm(len(bank), device=device), 0
    for i in range(1, N_ITERS + 1):
        if (i - 1) % GRID_UPDATE == 0:
            grid.update(fine, warmup=i == 1)
        if cursor + N_RAND > len(bank):
            perm, cursor = torch.randperm(len(bank), device=device), 0
        select = perm[cursor : cursor + N_RAND]
        cursor += N_RAND
        out = render_rays(bank[select], coarse, fine, grid, perturb=True)
        mse = F.mse_loss(out["rgb"], target[select])
        loss = mse + F.mse_loss(out["rgb0"], target[select])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] = 5e-3 * 0.1 ** (i / 200)
        if i % I_PRINT == 0:
            print(f"[TRAIN] Iter: {i} Loss: {loss.item():.4f} PSNR: {psnr(mse.detach()).item():.2f}")
        if i % I_TEST == 0:
            with torch.no_grad():
                shown = batchify_rays(test_rays, coarse=coarse, fine=fine, grid=grid, perturb=False)
            error = F.mse_loss(shown["rgb"], test_image)
            kept = grid.occupied.float().mean()
            print(f"[TEST] Iter: {i} PSNR: {psnr(error):.2f} occupied {100 * kept:.0f}%")
            rgb8 = (255 * shown["rgb"].clamp(0, 1)).reshape(H, W, 3).cpu().numpy().astype(np.uint8)
            print("       mean colour", rgb8.reshape(-1, 3).mean(0).round(1))


if __name__ == "__main__":
    main()

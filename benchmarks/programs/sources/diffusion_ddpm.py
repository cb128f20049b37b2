"""A denoising diffusion model: training with an averaged copy, then ancestral sampling."""

from __future__ import annotations

import argparse
import copy
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class SinusoidalPosEmb(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, t: Tensor) -> Tensor:
        half_dim = self.dim // 2
        emb = math.log(10000) / (half_dim - 1)
        emb = torch.exp(torch.arange(half_dim, device=t.device) * -emb)
        emb = t[:, None] * emb[None, :]
        return torch.cat((emb.sin(), emb.cos()), dim=-1)


class ResBlock(nn.Module):
    def __init__(self, channels: int, time_dim: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(4, channels)
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1)
        self.time = nn.Linear(time_dim, channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        h = self.conv1(F.silu(self.norm(x)))
        h = h + self.time(t)[:, :, None, None]
        return x + self.conv2(F.silu(h))


class Denoiser(nn.Module):
    def __init__(self, channels: int = 8, time_dim: int = 16) -> None:
        super().__init__()
        self.time = nn.Sequential(
            SinusoidalPosEmb(time_dim),
            nn.Linear(time_dim, time_dim),
            nn.SiLU(),
            nn.Linear(time_dim, time_dim),
        )
        self.stem = nn.Conv2d(1, channels, 3, padding=1)
        self.down = ResBlock(channels, time_dim)
        self.middle = ResBlock(channels, time_dim)
        self.out = nn.Conv2d(2 * channels, 1, 3, padding=1)

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        emb = self.time(t)
        skip = self.down(self.stem(x), emb)
        h = self.middle(F.avg_pool2d(skip, 2), emb)
        h = F.interpolate(h, scale_factor=2, mode="nearest")
        return self.out(torch.cat((h, skip), dim=1))


def extract(a: Tensor, t: Tensor, x_shape: torch.Size) -> Tensor:
    out = a.gather(-1, t)
    return out.reshape(t.shape[0], *((1,) * (len(x_shape) - 1)))


def cosine_beta_schedule(timesteps: int, s: float = 0.008) -> Tensor:
    x = torch.linspace(0, timesteps, timesteps + 1, dtype=torch.float64)
    alphas_cumprod = torch.cos(((x / timesteps) + s) / (1 + s) * math.pi * 0.5) ** 2
    alphas_cumprod = alphas_cumprod / alphas_cumprod[0]
    return torch.clip(1 - (alphas_cumprod[1:] / alphas_cumprod[:-1]), 0, 0.999)


class GaussianDiffusion(nn.Module):
    def __init__(self, model: nn.Module, timesteps: int) -> None:
        super().__init__()
        self.model, self.num_timesteps = model, timesteps
        betas = cosine_beta_schedule(timesteps)
        alphas = 1.0 - betas
        alphas_cumprod = torch.cumprod(alphas, dim=0)
        alphas_cumprod_prev = F.pad(alphas_cumprod[:-1], (1, 0), value=1.0)
        self._buffer("betas", betas)
        self._buffer("sqrt_recip_alphas", torch.sqrt(1.0 / alphas))
        self._buffer("sqrt_alphas_cumprod", torch.sqrt(alphas_cumprod))
        self._buffer("sqrt_one_minus_alphas_cumprod", torch.sqrt(1.0 - alphas_cumprod))
        self._buffer("posterior_variance", betas * (1.0 - alphas_cumprod_prev) / (1.0 - alphas_cumprod))

    def _buffer(self, name: str, value: Tensor) -> None:
        self.register_buffer(name, value.to(torch.float32))

    def q_sample(self, x_start: Tensor, t: Tensor, noise: Tensor) -> Tensor:
        return (
            extract(self.sqrt_alphas_cumprod, t, x_start.shape) * x_start
            + extract(self.sqrt_one_minus_alphas_cumprod, t, x_start.shape) * noise
        )

    def forward(self, x_start: Tensor) -> Tensor:
        t = torch.randint(0, self.num_timesteps, (x_start.shape[0],), device=x_start.device).long()
        noise = torch.randn_like(x_start)
        return F.mse_loss(self.model(self.q_sample(x_start, t, noise), t), noise)

    @torch.no_grad()
    def p_sample(self, x: Tensor, t: int) -> Tensor:
        batched = torch.full((x.shape[0],), t, device=x.device, dtype=torch.long)
        noise_scale = extract(self.betas, batched, x.shape)
        noise_scale = noise_scale / extract(self.sqrt_one_minus_alphas_cumprod, batched, x.shape)
        mean = extract(self.sqrt_recip_alphas, batched, x.shape) * (x - noise_scale * self.model(x, batched))
        if t == 0:
            return mean
        return mean + torch.sqrt(extract(self.posterior_variance, batched, x.shape)) * torch.randn_like(x)

    @torch.no_grad()
    def sample(self, count: int, size: int) -> Tensor:
        img = torch.randn(count, 1, size, size, device=self.betas.device)
        for t in reversed(range(self.num_timesteps)):
            img = self.p_sample(img, t)
        return (img.clamp(-1, 1) + 1) * 0.5


class EMA:
    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.model = copy.deepcopy(model).eval().requires_grad_(False)

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        for ema, current in zip(self.model.parameters(), model.parameters(), strict=True):
            ema.data.mul_(self.decay).add_(current.data, alpha=1 - self.decay)


def synthetic_discs(count: int, size: int) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    centre = torch.rand(count, 2, 1, 1, generator=generator) * size
    grid = torch.stack(torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij"))
    distance = (grid - centre).pow(2).sum(1).sqrt()
    return (distance < size / 4).float().unsqueeze(1) * 2 - 1


def cycle(data: Tensor, batch_size: int):
    while True:
        yield from torch.utils.data.DataLoader(data, batch_size, shuffle=True, drop_last=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--timesteps", type=int, default=6)
    parser.add_argument("--image-size", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--ema-decay", type=float, default=0.9)
    args = parser.parse_args()

    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    diffusion = GaussianDiffusion(Denoiser(), args.timesteps).to(device)
    ema = EMA(diffusion, args.ema_decay)
    optimizer = torch.optim.Adam(diffusion.parameters(), lr=args.lr, betas=(0.9, 0.99))
    batches = cycle(synthetic_discs(32, args.image_size), args.batch_size)

    for step in range(args.steps):
        images = next(batches).to(device)
        loss = diffusion(images)
        loss.backward()
        nn.utils.clip_grad_norm_(diffusion.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        ema.update(diffusion)
        if step % 3 == 0:
            print(f"step {step}: loss {loss.item():.4f}")

    samples = ema.model.sample(4, args.image_size)
    print(f"samples: min {samples.min().item():.3f}, max {samples.max().item():.3f}")


if __name__ == "__main__":
    main()

"""Diffusion policy on a 2D block pushing task: predict a chunk of actions, run its start, look again."""

import json
import math
import pathlib
import tempfile
from dataclasses import asdict, dataclass

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    horizon: int = 8
    n_obs_steps: int = 2
    n_action_steps: int = 4
    num_train_timesteps: int = 50
    num_inference_steps: int = 5
    hidden: int = 64
    batch_size: int = 32
    num_epochs: int = 3
    lr: float = 1e-3
    lr_warmup_steps: int = 5
    ema_power: float = 0.75
    rollout_every: int = 1
    n_rollouts: int = 3
    max_env_steps: int = 8
    seed: int = 42


class PushEnv:
    """A point agent has to bring a block to the goal at the origin."""

    def reset(self, seed):
        rng = np.random.RandomState(seed)
        self.agent, self.block = rng.uniform(-1, 1, 2), rng.uniform(-0.6, 0.6, 2)
        return self._obs()

    def step(self, action):
        self.agent = self.agent + np.clip(action, -0.2, 0.2)
        offset = self.block - self.agent
        distance = np.linalg.norm(offset)
        if distance < 0.15:
            self.block = self.agent + offset / max(distance, 1e-6) * 0.15
        reward = float(np.exp(-4 * np.linalg.norm(self.block)))
        return self._obs(), reward, reward > 0.8

    def _obs(self):
        return np.concatenate([self.agent, self.block]).astype(np.float32)

    def expert(self, rng):
        behind = self.block + 0.12 * self.block / (np.linalg.norm(self.block) + 1e-6)
        target = behind if np.linalg.norm(self.agent - behind) > 0.1 else np.zeros(2)
        return np.clip(target - self.agent, -0.2, 0.2) + rng.normal(0, 0.02, 2)


class SequenceDataset(Dataset):
    def __init__(self, n_episodes, cfg):
        self.cfg, self.obs, self.action, self.indices = cfg, [], [], []
        rng, env = np.random.RandomState(cfg.seed), PushEnv()
        for episode in range(n_episodes):
            obs, done, steps = env.reset(1000 + episode), False, 0
            episode_obs, episode_action = [], []
            while not done and steps < 20:
                action = env.expert(rng)
                episode_obs.append(obs)
                episode_action.append(action.astype(np.float32))
                obs, _, done = env.step(action)
                steps += 1
            self.obs.append(np.stack(episode_obs))
            self.action.append(np.stack(episode_action))
            self.indices += [(episode, start) for start in range(0, steps, 2)]

    def __len__(self):
        return len(self.indices)

    def __getitem__(self, i):
        episode, start = self.indices[i]
        last = len(self.obs[episode]) - 1
        where = np.clip(np.arange(start - self.cfg.n_obs_steps + 1, start + self.cfg.horizon), 0, last)
        return {
            "obs": torch.from_numpy(self.obs[episode][where[: self.cfg.n_obs_steps]]),
            "action": torch.from_numpy(self.action[episode][where[self.cfg.n_obs_steps - 1 :]]),
        }


class LinearNormalizer(nn.Module):
    def fit(self, name, data):
        low, high = data.min(0).values, data.max(0).values
        scale = torch.where(high - low < 1e-4, torch.ones_like(low), 2 / (high - low))
        self.register_buffer(f"{name}_scale", scale)
        self.register_buffer(f"{name}_offset", -1 - scale * low)

    def normalize(self, name, x):
        return x * getattr(self, f"{name}_scale") + getattr(self, f"{name}_offset")

    def unnormalize(self, name, x):
        return (x - getattr(self, f"{name}_offset")) / getattr(self, f"{name}_scale")


class DDIMScheduler:
    def __init__(self, num_train_timesteps, device):
        t = torch.linspace(0, 1, num_train_timesteps + 1, dtype=torch.float64)
        bar = torch.cos((t + 0.008) / 1.008 * math.pi / 2) ** 2
        betas = (1 - bar[1:] / bar[:-1]).clamp(max=0.999)
        self.alphas_cumprod = torch.cumprod(1 - betas, 0).float().to(device)
        self.num_train_timesteps = num_train_timesteps

    def set_timesteps(self, n):
        self.stride = self.num_train_timesteps // n
        self.timesteps = torch.from_numpy((np.arange(n) * self.stride)[::-1].copy())

    def add_noise(self, x, noise, t):
        bar = self.alphas_cumprod[t].view(-1, 1, 1)
        return bar.sqrt() * x + (1 - bar).sqrt() * noise

    def step(self, eps, t, x):
        prev = t - self.stride
        bar = self.alphas_cumprod[t]
        bar_prev = self.alphas_cumprod[prev] if prev >= 0 else torch.ones_like(bar)
        x0 = ((x - (1 - bar).sqrt() * eps) / bar.sqrt()).clamp(-1, 1)
        return bar_prev.sqrt() * x0 + (1 - bar_prev).sqrt() * eps


class ConditionalResBlock(nn.Module):
    def __init__(self, cin, cout, cond):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv1d(cin, cout, 3, padding=1), nn.Conv1d(cout, cout, 3, padding=1)
        self.norm1, self.norm2 = nn.GroupNorm(4, cout), nn.GroupNorm(4, cout)
        self.film = nn.Sequential(nn.Mish(), nn.Linear(cond, 2 * cout))
        self.skip = nn.Conv1d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x, cond):
        h = F.mish(self.norm1(self.conv1(x)))
        scale, bias = self.film(cond).unsqueeze(-1).chunk(2, dim=1)
        h = F.mish(self.norm2(self.conv2(h * (1 + scale) + bias)))
        return h + self.skip(x)


class NoisePredictor(nn.Module):
    def __init__(self, action_dim, obs_dim, cfg):
        super().__init__()
        self.dim = cfg.hidden
        self.time_mlp = nn.Sequential(nn.Linear(self.dim, self.dim), nn.Mish(), nn.Linear(self.dim, self.dim))
        cond = self.dim + obs_dim * cfg.n_obs_steps
        self.blocks = nn.ModuleList(
            [ConditionalResBlock(action_dim, self.dim, cond), ConditionalResBlock(self.dim, self.dim, cond)]
        )
        self.final = nn.Conv1d(self.dim, action_dim, 1)

    def forward(self, sample, timestep, obs):
        if not torch.is_tensor(timestep):
            timestep = torch.tensor([timestep], dtype=torch.long, device=sample.device)
        elif timestep.ndim == 0:
            timestep = timestep[None].to(sample.device)
        timestep = timestep.expand(sample.shape[0])
        freq = torch.exp(
            torch.arange(self.dim // 2, device=sample.device) * -(math.log(1e4) / (self.dim // 2 - 1))
        )
        angle = timestep[:, None].float() * freq[None]
        cond = torch.cat([self.time_mlp(torch.cat([angle.sin(), angle.cos()], -1)), obs.flatten(1)], -1)
        x = sample.transpose(1, 2)
        for block in self.blocks:
            x = block(x, cond)
        return self.final(x).transpose(1, 2)


class EMAModel:
    def __init__(self, model, power, max_value=0.9999):
        self.averaged, self.power, self.max_value, self.step_count = model, power, max_value, 0
        self.averaged.requires_grad_(False).eval()

    @torch.no_grad()
    def step(self, model):
        decay = min(self.max_value, max(0.0, 1 - (1 + self.step_count) ** -self.power))
        for ema_param, param in zip(self.averaged.parameters(), model.parameters(), strict=True):
            ema_param.mul_(decay).add_(param.data.to(dtype=ema_param.dtype), alpha=1 - decay)
        self.step_count += 1


class Workspace:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        self.device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
        self.dataset = SequenceDataset(12, cfg)
        self.normalizer = LinearNormalizer()
        self.normalizer.fit("obs", torch.from_numpy(np.concatenate(self.dataset.obs)))
        self.normalizer.fit("action", torch.from_numpy(np.concatenate(self.dataset.action)))
        self.normalizer.to(self.device)
        self.model = NoisePredictor(2, 4, cfg).to(self.device)
        self.ema = EMAModel(NoisePredictor(2, 4, cfg).to(self.device), cfg.ema_power)
        self.ema.averaged.load_state_dict(self.model.state_dict())
        self.scheduler = DDIMScheduler(cfg.num_train_timesteps, self.device)
        self.output_dir = tempfile.mkdtemp()

    def compute_loss(self, batch):
        action = self.normalizer.normalize("action", batch["action"])
        obs = self.normalizer.normalize("obs", batch["obs"])
        noise = torch.randn(action.shape, device=action.device)
        t = torch.randint(0, self.cfg.num_train_timesteps, (len(action),), device=action.device).long()
        return F.mse_loss(self.model(self.scheduler.add_noise(action, noise, t), t, obs), noise)

    @torch.no_grad()
    def predict_action(self, obs):
        obs = self.normalizer.normalize("obs", torch.from_numpy(obs).to(self.device))
        x = torch.randn((len(obs), self.cfg.horizon, 2), device=self.device)
        self.scheduler.set_timesteps(self.cfg.num_inference_steps)
        for t in self.scheduler.timesteps:
            x = self.scheduler.step(self.ema.averaged(x, t, obs), t, x)
        return (
            self.normalizer.unnormalize("action", x)[:, : self.cfg.n_action_steps].detach().to("cpu").numpy()
        )

    def rollout(self):
        envs = [PushEnv() for _ in range(self.cfg.n_rollouts)]
        history = [[env.reset(i)] * self.cfg.n_obs_steps for i, env in enumerate(envs)]
        best = np.zeros(len(envs))
        for _ in range(self.cfg.max_env_steps // self.cfg.n_action_steps):
            actions = self.predict_action(np.stack([h[-self.cfg.n_obs_steps :] for h in history]))
            for i, env in enumerate(envs):
                for action in actions[i]:
                    obs, reward, done = env.step(action)
                    history[i].append(obs)
                    best[i] = max(best[i], reward)
                    if done:
                        break
        return best.mean()

    def run(self):
        cfg = self.cfg
        loader = DataLoader(self.dataset, cfg.batch_size, shuffle=True)
        optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=cfg.lr, betas=(0.95, 0.999), weight_decay=1e-6
        )
        total = len(loader) * cfg.num_epochs

        def schedule(step):
            if step < cfg.lr_warmup_steps:
                return step / max(1, cfg.lr_warmup_steps)
            return 0.5 * (
                1 + math.cos(math.pi * (step - cfg.lr_warmup_steps) / (total - cfg.lr_warmup_steps))
            )

        lr_scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, schedule)
        best_score, global_step = -1.0, 0
        with (pathlib.Path(self.output_dir) / "logs.json.txt").open("a", buffering=1) as log:
            for epoch in range(cfg.num_epochs):
                train_losses = []
                self.model.train()
                for batch in loader:
                    batch = {key: x.to(self.device, non_blocking=True) for key, x in batch.items()}
                    raw_loss = self.compute_loss(batch)
                    raw_loss.backward()
                    optimizer.step()
                    optimizer.zero_grad()
                    lr_scheduler.step()
                    self.ema.step(self.model)
                    train_losses.append(raw_loss.item())
                    record = {
                        "train_loss": train_losses[-1],
                        "step": global_step,
                        "lr": lr_scheduler.get_last_lr()[0],
                    }
                    log.write(json.dumps(record) + "\n")
                    global_step += 1
                print(f"epoch {epoch}: loss {np.mean(train_losses):.4f}")
                if (epoch + 1) % cfg.rollout_every == 0:
                    score = self.rollout()
                    print(f"epoch {epoch}: mean score {score:.3f}")
                    if score > best_score:
                        best_score = score
                        path = pathlib.Path(self.output_dir) / "latest.ckpt"
                        torch.save({"cfg": asdict(cfg), "ema": self.ema.averaged.state_dict()}, path)


if __name__ == "__main__":
    Workspace(Config()).run()

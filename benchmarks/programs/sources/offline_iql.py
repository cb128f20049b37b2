# Implicit Q-Learning (https://arxiv.org/abs/2110.06169) on a logged point-mass dataset, single file
import copy
import os
import random
import tempfile
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal
from torch.optim.lr_scheduler import CosineAnnealingLR

TensorBatch = list[torch.Tensor]
EXP_ADV_MAX = 100.0
LOG_STD_MIN, LOG_STD_MAX = -20.0, 2.0


@dataclass
class TrainConfig:
    device: str = "cuda" if torch.cuda.is_available() else "cpu"
    env: str = "pointmass-medium-v0"
    seed: int = 0
    eval_freq: int = 8
    n_episodes: int = 1
    max_timesteps: int = 24
    buffer_size: int = 4000
    batch_size: int = 64
    discount: float = 0.99
    tau: float = 0.005
    beta: float = 3.0
    iql_tau: float = 0.7
    vf_lr: float = 3e-4
    qf_lr: float = 3e-4
    actor_lr: float = 3e-4
    hidden_dim: int = 64
    actor_dropout: float = 0.1
    normalize: bool = True
    normalize_reward: bool = True
    checkpoints_path: str | None = field(default_factory=tempfile.mkdtemp)
    name: str = "IQL"

    def __post_init__(self):
        self.name = f"{self.name}-{self.env}-{str(uuid.uuid4())[:8]}"
        if self.checkpoints_path is not None:
            self.checkpoints_path = os.path.join(self.checkpoints_path, self.name)  # noqa: PTH118


class PointMass:
    state_dim, action_dim, max_action, horizon = 4, 2, 1.0, 20

    def __init__(self, rng: np.random.RandomState):
        self.rng = rng

    def reset(self) -> np.ndarray:
        self.state, self.t = np.concatenate([self.rng.uniform(-1, 1, 2), np.zeros(2)]), 0
        return self.state.astype(np.float32)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        velocity = 0.9 * self.state[2:] + 0.1 * np.clip(action, -1, 1)
        self.state = np.concatenate([self.state[:2] + velocity, velocity])
        self.t += 1
        distance = float(np.linalg.norm(self.state[:2]))
        return self.state.astype(np.float32), -distance, distance < 0.05 or self.t >= self.horizon


def collect(env: PointMass, n: int) -> dict[str, np.ndarray]:
    rows: dict[str, list] = {
        k: [] for k in ("observations", "actions", "rewards", "next_observations", "terminals")
    }
    state = env.reset()
    while len(rows["rewards"]) < n:
        action = np.clip(-2 * state[:2] - state[2:] + env.rng.normal(0, 0.5, 2), -1, 1).astype(np.float32)
        next_state, reward, done = env.step(action)
        for k, v in zip(rows, (state, action, reward, next_state, float(done)), strict=True):
            rows[k].append(v)
        state = env.reset() if done else next_state
    return {k: np.array(v, dtype=np.float32) for k, v in rows.items()}


class ReplayBuffer:
    def __init__(self, state_dim: int, action_dim: int, buffer_size: int, device: str = "cpu"):
        self._buffer_size, self._size, self._device = buffer_size, 0, device
        shapes = (state_dim, action_dim, 1, state_dim, 1)
        self._states, self._actions, self._rewards, self._next_states, self._dones = (
            torch.zeros((buffer_size, dim), dtype=torch.float32, device=device) for dim in shapes
        )

    def _to_tensor(self, data: np.ndarray) -> torch.Tensor:
        return torch.tensor(data, dtype=torch.float32, device=self._device)

    def load_d4rl_dataset(self, data: dict[str, np.ndarray]) -> None:
        if self._size != 0:
            raise ValueError("Trying to load data into non-empty replay buffer")
        n = data["observations"].shape[0]
        if n > self._buffer_size:
            raise ValueError("Replay buffer is smaller than the dataset you are trying to load!")
        self._states[:n] = self._to_tensor(data["observations"])
        self._actions[:n] = self._to_tensor(data["actions"])
        self._rewards[:n] = self._to_tensor(data["rewards"][..., None])
        self._next_states[:n] = self._to_tensor(data["next_observations"])
        self._dones[:n] = self._to_tensor(data["terminals"][..., None])
        self._size += n
        print(f"Dataset size: {n}")

    def sample(self, batch_size: int) -> TensorBatch:
        indices = np.random.randint(0, self._size, size=batch_size)
        return [
            self._states[indices],
            self._actions[indices],
            self._rewards[indices],
            self._next_states[indices],
            self._dones[indices],
        ]


def asymmetric_l2_loss(u: torch.Tensor, tau: float) -> torch.Tensor:
    return torch.mean(torch.abs(tau - (u < 0).float()) * u**2)


def mlp(dims: list[int], dropout: float = 0.0) -> nn.Sequential:
    layers: list[nn.Module] = []
    for i in range(len(dims) - 2):
        layers += [nn.Linear(dims[i], dims[i + 1]), nn.ReLU()]
        if dropout > 0.0:
            layers.append(nn.Dropout(dropout))
    return nn.Sequential(*layers, nn.Linear(dims[-2], dims[-1]))


class GaussianPolicy(nn.Module):
    def __init__(self, state_dim: int, act_dim: int, max_action: float, hidden_dim: int, dropout: float):
        super().__init__()
        self.net = mlp([state_dim, hidden_dim, hidden_dim, act_dim], dropout)
        self.log_std = nn.Parameter(torch.zeros(act_dim, dtype=torch.float32))
        self.max_action = max_action

    def forward(self, obs: torch.Tensor) -> Normal:
        std = torch.exp(self.log_std.clamp(LOG_STD_MIN, LOG_STD_MAX))
        return Normal(torch.tanh(self.net(obs)), std)

    @torch.no_grad()
    def act(self, state: np.ndarray, device: str = "cpu") -> np.ndarray:
        state = torch.tensor(state.reshape(1, -1), device=device, dtype=torch.float32)
        dist = self(state)
        action = dist.mean if not self.training else dist.sample()
        action = torch.clamp(self.max_action * action, -self.max_action, self.max_action)
        return action.cpu().data.numpy().flatten()


class TwinQ(nn.Module):
    def __init__(self, state_dim: int, action_dim: int, hidden_dim: int):
        super().__init__()
        dims = [state_dim + action_dim, hidden_dim, hidden_dim, 1]
        self.q1, self.q2 = mlp(dims), mlp(dims)

    def both(self, state: torch.Tensor, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        sa = torch.cat([state, action], 1)
        return self.q1(sa).squeeze(-1), self.q2(sa).squeeze(-1)

    def forward(self, state: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return torch.min(*self.both(state, action))


class ImplicitQLearning:
    def __init__(self, config: TrainConfig, state_dim: int, action_dim: int, max_action: float):
        device, hidden = config.device, config.hidden_dim
        self.config, self.total_it = config, 0
        self.actor = GaussianPolicy(state_dim, action_dim, max_action, hidden, config.actor_dropout).to(
            device
        )
        self.qf = TwinQ(state_dim, action_dim, hidden).to(device)
        self.q_target = copy.deepcopy(self.qf).requires_grad_(False).to(device)
        self.vf = mlp([state_dim, hidden, hidden, 1]).to(device)
        self.v_optimizer = torch.optim.Adam(self.vf.parameters(), lr=config.vf_lr)
        self.q_optimizer = torch.optim.Adam(self.qf.parameters(), lr=config.qf_lr)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=config.actor_lr)
        self.actor_lr_schedule = CosineAnnealingLR(self.actor_optimizer, config.max_timesteps)

    def _update_v(self, observations, actions, log_dict) -> torch.Tensor:
        with torch.no_grad():
            target_q = self.q_target(observations, actions)
        adv = target_q - self.vf(observations).squeeze(-1)
        v_loss = asymmetric_l2_loss(adv, self.config.iql_tau)
        log_dict["value_loss"] = v_loss.item()
        self.v_optimizer.zero_grad()
        v_loss.backward()
        self.v_optimizer.step()
        return adv

    def _update_q(self, next_v, observations, actions, rewards, terminals, log_dict) -> None:
        targets = rewards + (1.0 - terminals.float()) * self.config.discount * next_v.detach()
        qs = self.qf.both(observations, actions)
        q_loss = sum(F.mse_loss(q, targets) for q in qs) / len(qs)
        log_dict["q_loss"] = q_loss.item()
        self.q_optimizer.zero_grad()
        q_loss.backward()
        self.q_optimizer.step()
        for target_param, source_param in zip(self.q_target.parameters(), self.qf.parameters(), strict=True):
            target_param.data.copy_(
                (1 - self.config.tau) * target_param.data + self.config.tau * source_param.data
            )

    def _update_policy(self, adv, observations, actions, log_dict) -> None:
        exp_adv = torch.exp(self.config.beta * adv.detach()).clamp(max=EXP_ADV_MAX)
        bc_losses = -self.actor(observations).log_prob(actions).sum(-1, keepdim=False)
        policy_loss = torch.mean(exp_adv * bc_losses)
        log_dict["actor_loss"] = policy_loss.item()
        self.actor_optimizer.zero_grad()
        policy_loss.backward()
        self.actor_optimizer.step()
        self.actor_lr_schedule.step()

    def train(self, batch: TensorBatch) -> dict[str, float]:
        self.total_it += 1
        observations, actions, rewards, next_observations, dones = batch
        log_dict: dict[str, float] = {}
        with torch.no_grad():
            next_v = self.vf(next_observations).squeeze(-1)
        adv = self._update_v(observations, actions, log_dict)
        self._update_q(next_v, observations, actions, rewards.squeeze(-1), dones.squeeze(-1), log_dict)
        self._update_policy(adv, observations, actions, log_dict)
        return log_dict

    def state_dict(self) -> dict[str, Any]:
        return {"qf": self.qf.state_dict(), "vf": self.vf.state_dict(), "actor": self.actor.state_dict()}


def eval_actor(env: PointMass, normalise, actor: GaussianPolicy, device: str, n_episodes: int) -> np.ndarray:
    actor.eval()
    returns = []
    for _ in range(n_episodes):
        state, done, episode_reward = env.reset(), False, 0.0
        while not done:
            state, reward, done = env.step(actor.act(normalise(state), device))
            episode_reward += reward
        returns.append(episode_reward)
    actor.train()
    return np.asarray(returns)


def train(config: TrainConfig) -> None:
    random.seed(config.seed)
    np.random.seed(config.seed)
    torch.manual_seed(config.seed)
    env = PointMass(np.random.RandomState(config.seed))
    dataset = collect(env, 2000)
    if config.normalize_reward:
        dataset["rewards"] /= dataset["rewards"].std()
    mean, std = 0.0, 1.0
    if config.normalize:
        mean, std = dataset["observations"].mean(0), dataset["observations"].std(0) + 1e-3
    for key in ("observations", "next_observations"):
        dataset[key] = (dataset[key] - mean) / std
    buffer = ReplayBuffer(env.state_dim, env.action_dim, config.buffer_size, config.device)
    buffer.load_d4rl_dataset(dataset)
    trainer = ImplicitQLearning(config, env.state_dim, env.action_dim, env.max_action)
    if config.checkpoints_path is not None:
        Path(config.checkpoints_path).mkdir(parents=True)
    history = []
    for t in range(config.max_timesteps):
        batch = [b.to(config.device) for b in buffer.sample(config.batch_size)]
        history.append(trainer.train(batch))
        if (t + 1) % config.eval_freq == 0:
            averaged = {k: round(float(np.mean([h[k] for h in history])), 4) for k in history[0]}
            history.clear()
            scores = eval_actor(
                env, lambda s: (s - mean) / std, trainer.actor, config.device, config.n_episodes
            )
            print(f"step {t + 1} {averaged} return {scores.mean():.3f} +- {scores.std():.3f}")
            if config.checkpoints_path is not None:
                torch.save(trainer.state_dict(), Path(config.checkpoints_path) / f"checkpoint_{t}.pt")


if __name__ == "__main__":
    train(TrainConfig())

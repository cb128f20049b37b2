"""Proximal policy optimisation on a batch of point-mass environments."""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch import Tensor
from torch.distributions.categorical import Categorical

MOVES = np.array([(0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)], dtype=np.float32)


class PointEnvs:
    """Points that are rewarded for going to the origin."""

    def __init__(self, count: int, horizon: int = 12, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.count, self.horizon = count, horizon
        self.reset()

    def reset(self) -> np.ndarray:
        self.position = self.rng.uniform(-1, 1, (self.count, 2)).astype(np.float32)
        self.age = self.rng.integers(0, self.horizon, self.count)
        return self.position.copy()

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        self.position += 0.1 * MOVES[actions]
        reward = -np.linalg.norm(self.position, axis=1)
        self.age += 1
        done = self.age >= self.horizon
        self.position[done] = self.rng.uniform(-1, 1, (done.sum(), 2))
        self.age[done] = 0
        return self.position.copy(), reward, done


def layer_init(layer: nn.Linear, std: float = np.sqrt(2), bias_const: float = 0.0) -> nn.Linear:
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self, observations: int = 2, actions: int = len(MOVES), width: int = 16) -> None:
        super().__init__()
        self.critic = nn.Sequential(
            layer_init(nn.Linear(observations, width)), nn.Tanh(), layer_init(nn.Linear(width, 1), std=1.0)
        )
        self.actor = nn.Sequential(
            layer_init(nn.Linear(observations, width)), nn.Tanh(), layer_init(nn.Linear(width, actions), 0.01)
        )

    def get_value(self, x: Tensor) -> Tensor:
        return self.critic(x)

    def get_action_and_value(self, x: Tensor, action: Tensor | None = None):
        probs = Categorical(logits=self.actor(x))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


class Rollout:
    """Storage for one round of interaction."""

    def __init__(self, steps: int, envs: int, device: torch.device) -> None:
        self.obs = torch.zeros((steps, envs, 2), device=device)
        self.actions = torch.zeros((steps, envs), device=device)
        self.logprobs = torch.zeros((steps, envs), device=device)
        self.rewards = torch.zeros((steps, envs), device=device)
        self.dones = torch.zeros((steps, envs), device=device)
        self.values = torch.zeros((steps, envs), device=device)

    def flat(self, advantages: Tensor) -> dict[str, Tensor]:
        return {
            "obs": self.obs.reshape(-1, 2),
            "actions": self.actions.reshape(-1).long(),
            "logprobs": self.logprobs.reshape(-1),
            "values": self.values.reshape(-1),
            "advantages": advantages.reshape(-1),
            "returns": (advantages + self.values).reshape(-1),
        }


def collect(agent, envs, rollout, next_obs, next_done, device):
    for step in range(len(rollout.obs)):
        rollout.obs[step] = next_obs
        rollout.dones[step] = next_done
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(next_obs)
        rollout.values[step] = value.flatten()
        rollout.actions[step] = action
        rollout.logprobs[step] = logprob
        obs, reward, done = envs.step(action.cpu().numpy())
        rollout.rewards[step] = torch.tensor(reward).to(device).view(-1)
        next_obs = torch.Tensor(obs).to(device)
        next_done = torch.Tensor(done).to(device)
    return next_obs, next_done


@torch.no_grad()
def gae(agent: Agent, rollout: Rollout, next_obs, next_done, gamma: float, gae_lambda: float) -> Tensor:
    next_value = agent.get_value(next_obs).reshape(1, -1)
    advantages = torch.zeros_like(rollout.rewards)
    lastgaelam, steps = 0, len(rollout.rewards)
    for t in reversed(range(steps)):
        nextnonterminal = 1.0 - (next_done if t == steps - 1 else rollout.dones[t + 1])
        nextvalues = next_value if t == steps - 1 else rollout.values[t + 1]
        delta = rollout.rewards[t] + gamma * nextvalues * nextnonterminal - rollout.values[t]
        advantages[t] = lastgaelam = delta + gamma * gae_lambda * nextnonterminal * lastgaelam
    return advantages


def minibatch_loss(agent: Agent, batch: dict[str, Tensor], args) -> tuple[Tensor, Tensor, Tensor]:
    _, newlogprob, entropy, newvalue = agent.get_action_and_value(batch["obs"], batch["actions"])
    logratio = newlogprob - batch["logprobs"]
    ratio = logratio.exp()
    with torch.no_grad():
        approx_kl = ((ratio - 1) - logratio).mean()
        clipfrac = ((ratio - 1.0).abs() > args.clip_coef).float().mean()
    advantages = batch["advantages"]
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    clipped = torch.clamp(ratio, 1 - args.clip_coef, 1 + args.clip_coef)
    pg_loss = torch.max(-advantages * ratio, -advantages * clipped).mean()
    v_loss = 0.5 * ((newvalue.view(-1) - batch["returns"]) ** 2).mean()
    loss = pg_loss - args.ent_coef * entropy.mean() + args.vf_coef * v_loss
    return loss, approx_kl, clipfrac


def update(agent: Agent, optimizer, batch: dict[str, Tensor], args) -> tuple[float, float]:
    batch_size = len(batch["obs"])
    b_inds = np.arange(batch_size)
    clipfracs = []
    for _ in range(args.update_epochs):
        np.random.shuffle(b_inds)
        for start in range(0, batch_size, args.minibatch_size):
            mb_inds = b_inds[start : start + args.minibatch_size]
            minibatch = {name: tensor[mb_inds] for name, tensor in batch.items()}
            loss, approx_kl, clipfrac = minibatch_loss(agent, minibatch, args)
            clipfracs += [clipfrac.item()]
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), args.max_grad_norm)
            optimizer.step()
        if args.target_kl is not None and approx_kl > args.target_kl:
            break
    return loss.item(), float(np.mean(clipfracs))


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=2, help="rounds of interaction and learning")
    parser.add_argument("--num-envs", type=int, default=4)
    parser.add_argument("--num-steps", type=int, default=8)
    parser.add_argument("--update-epochs", type=int, default=3)
    parser.add_argument("--minibatch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=2.5e-3)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--gae-lambda", type=float, default=0.95)
    parser.add_argument("--clip-coef", type=float, default=0.2)
    parser.add_argument("--ent-coef", type=float, default=0.01)
    parser.add_argument("--vf-coef", type=float, default=0.5)
    parser.add_argument("--max-grad-norm", type=float, default=0.5)
    parser.add_argument("--target-kl", type=float, default=0.05)
    return parser.parse_args()


def main() -> None:
    args = parse_args()
    np.random.seed(1)
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    envs = PointEnvs(args.num_envs)
    agent = Agent().to(device)
    optimizer = optim.Adam(agent.parameters(), lr=args.lr, eps=1e-5)
    rollout = Rollout(args.num_steps, args.num_envs, device)

    next_obs = torch.Tensor(envs.reset()).to(device)
    next_done = torch.zeros(args.num_envs).to(device)
    start = time.time()
    for iteration in range(1, args.epochs + 1):
        optimizer.param_groups[0]["lr"] = (1.0 - (iteration - 1.0) / args.epochs) * args.lr
        next_obs, next_done = collect(agent, envs, rollout, next_obs, next_done, device)
        advantages = gae(agent, rollout, next_obs, next_done, args.gamma, args.gae_lambda)
        loss, clipfrac = update(agent, optimizer, rollout.flat(advantages), args)
        reward = rollout.rewards.mean().item()
        sps = iteration * args.num_envs * args.num_steps / (time.time() - start)
        print(f"round {iteration}: loss {loss:.4f} reward {reward:.3f} clipfrac {clipfrac:.3f} SPS {sps:.0f}")


if __name__ == "__main__":
    main()

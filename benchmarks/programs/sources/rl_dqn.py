"""A deep Q-network with a replay buffer on a cart-pole written in numpy."""

from __future__ import annotations

import argparse
import math
import random
from collections import deque, namedtuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch import Tensor

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class CartPole:
    """The classic control task, with Euler integration."""

    gravity, masspole, total_mass, length, force_mag, tau = 9.8, 0.1, 1.1, 0.5, 10.0, 0.02

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.state = np.zeros(4, dtype=np.float32)
        self.steps = 0

    def reset(self) -> np.ndarray:
        self.state = self.rng.uniform(-0.05, 0.05, 4).astype(np.float32)
        self.steps = 0
        return self.state

    def step(self, action: int) -> tuple[np.ndarray, float, bool]:
        _, x_dot, theta, theta_dot = self.state.tolist()
        force = self.force_mag if action == 1 else -self.force_mag
        costheta, sintheta = math.cos(theta), math.sin(theta)
        polemass_length = self.masspole * self.length
        temp = (force + polemass_length * theta_dot**2 * sintheta) / self.total_mass
        inertia = self.length * (4.0 / 3.0 - self.masspole * costheta**2 / self.total_mass)
        thetaacc = (self.gravity * sintheta - costheta * temp) / inertia
        xacc = temp - polemass_length * thetaacc * costheta / self.total_mass
        derivative = np.array([x_dot, xacc, theta_dot, thetaacc])
        self.state = (self.state + self.tau * derivative).astype(np.float32)
        self.steps += 1
        fallen = abs(self.state[0]) > 2.4 or abs(self.state[2]) > math.radians(12)
        return self.state, 1.0, bool(fallen) or self.steps >= 200


class ReplayMemory:
    def __init__(self, capacity: int) -> None:
        self.memory: deque[Transition] = deque(maxlen=capacity)

    def push(self, *args) -> None:
        self.memory.append(Transition(*args))

    def sample(self, batch_size: int) -> list[Transition]:
        return random.sample(self.memory, batch_size)

    def __len__(self) -> int:
        return len(self.memory)


class DQN(nn.Module):
    def __init__(self, n_observations: int, n_actions: int, width: int = 32) -> None:
        super().__init__()
        self.layer1 = nn.Linear(n_observations, width)
        self.layer2 = nn.Linear(width, width)
        self.layer3 = nn.Linear(width, n_actions)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.layer1(x))
        x = F.relu(self.layer2(x))
        return self.layer3(x)


class Agent:
    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.policy_net = DQN(4, 2).to(device)
        self.target_net = DQN(4, 2).to(device)
        self.target_net.load_state_dict(self.policy_net.state_dict())
        self.optimizer = optim.AdamW(self.policy_net.parameters(), lr=args.lr, amsgrad=True)
        self.memory = ReplayMemory(1000)
        self.steps_done = 0

    def select_action(self, state: Tensor) -> Tensor:
        args = self.args
        decay = math.exp(-1.0 * self.steps_done / args.eps_decay)
        eps_threshold = args.eps_end + (args.eps_start - args.eps_end) * decay
        self.steps_done += 1
        if random.random() > eps_threshold:
            with torch.no_grad():
                return self.policy_net(state).max(1).indices.view(1, 1)
        return torch.tensor([[random.randrange(2)]], device=device, dtype=torch.long)

    def optimize_model(self) -> float | None:
        if len(self.memory) < self.args.batch_size:
            return None
        transitions = self.memory.sample(self.args.batch_size)
        batch = Transition(*zip(*transitions, strict=True))

        non_final_mask = torch.tensor(
            tuple(s is not None for s in batch.next_state), device=device, dtype=torch.bool
        )
        non_final_next_states = torch.cat([s for s in batch.next_state if s is not None])
        state_batch = torch.cat(batch.state)
        action_batch = torch.cat(batch.action)
        reward_batch = torch.cat(batch.reward)

        state_action_values = self.policy_net(state_batch).gather(1, action_batch)
        next_state_values = torch.zeros(self.args.batch_size, device=device)
        with torch.no_grad():
            next_state_values[non_final_mask] = self.target_net(non_final_next_states).max(1).values
        expected = next_state_values * self.args.gamma + reward_batch

        loss = F.smooth_l1_loss(state_action_values, expected.unsqueeze(1))
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(self.policy_net.parameters(), 100)
        self.optimizer.step()
        return loss.item()

    def soft_update(self) -> None:
        target, policy = self.target_net.state_dict(), self.policy_net.state_dict()
        tau = self.args.tau
        for key in policy:
            target[key] = policy[key] * tau + target[key] * (1 - tau)
        self.target_net.load_state_dict(target)


def run_episode(env: CartPole, agent: Agent, budget: int) -> tuple[int, list[float]]:
    state = torch.tensor(env.reset(), dtype=torch.float32, device=device).unsqueeze(0)
    losses: list[float] = []
    duration = 0
    while duration < budget:
        duration += 1
        action = agent.select_action(state)
        observation, reward, done = env.step(action.item())
        reward = torch.tensor([reward], device=device)
        next_state = None
        if not done:
            next_state = torch.tensor(observation, dtype=torch.float32, device=device).unsqueeze(0)
        agent.memory.push(state, action, next_state, reward)
        state = next_state
        loss = agent.optimize_model()
        if loss is not None:
            losses.append(loss)
        agent.soft_update()
        if done:
            break
    return duration, losses


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=36, help="environment steps")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--eps-start", type=float, default=0.9)
    parser.add_argument("--eps-end", type=float, default=0.05)
    parser.add_argument("--eps-decay", type=float, default=20)
    parser.add_argument("--tau", type=float, default=0.005)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()

    random.seed(0)
    torch.manual_seed(0)
    env, agent = CartPole(), Agent(args)
    remaining, episode = args.steps, 0
    while remaining > 0:
        duration, losses = run_episode(env, agent, remaining)
        remaining -= duration
        mean_loss = sum(losses) / len(losses) if losses else float("nan")
        print(f"episode {episode}: {duration} steps, loss {mean_loss:.4f}")
        episode += 1


if __name__ == "__main__":
    main()

"""REINFORCE with a learned baseline and a recurrent policy on a small grid world (numpy)."""

import argparse
from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class GridWorld:
    """Walk to the goal; only the 3x3 cells around the agent and the direction of the goal are seen."""

    MOVES = np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])

    def __init__(self, size=6, n_walls=5, max_steps=8, seed=0):
        self.size, self.n_walls, self.max_steps = size, n_walls, max_steps
        self.rng = np.random.default_rng(seed)
        self.observation_size, self.n_actions = 9 + 2, 4

    def reset(self):
        cells = self.rng.permutation(self.size**2)
        self.walls = np.ones((self.size + 2, self.size + 2), dtype=np.float32)
        self.walls[1:-1, 1:-1] = 0
        for c in cells[2 : 2 + self.n_walls]:
            self.walls[1 + c // self.size, 1 + c % self.size] = 1
        self.pos, self.goal = (1 + np.array(divmod(c, self.size)) for c in cells[:2])
        self.t = 0
        return self._obs()

    def _obs(self):
        y, x = self.pos
        view = self.walls[y - 1 : y + 2, x - 1 : x + 2].ravel()
        return np.concatenate([view, np.sign(self.goal - self.pos)]).astype(np.float32)

    def step(self, action):
        self.t += 1
        new = self.pos + self.MOVES[action]
        bumped = self.walls[tuple(new)] > 0
        if not bumped:
            self.pos = new
        success = bool((self.pos == self.goal).all())
        reward = 1.0 if success else (-0.1 if bumped else -0.02)
        return self._obs(), reward, success or self.t >= self.max_steps, {"success": success}


class RecurrentPolicy(nn.Module):
    def __init__(self, obs_size, n_actions, hidden=32):
        super().__init__()
        self.embed = nn.Linear(obs_size, hidden)
        self.gru = nn.GRUCell(hidden, hidden)
        self.actor = nn.Linear(hidden, n_actions)
        self.critic = nn.Linear(hidden, 1)
        self.hidden = hidden

    def forward(self, obs, state):
        state = self.gru(F.relu(self.embed(obs)), state)
        return self.actor(state), self.critic(state), state


class Agent:
    def __init__(self, env, device, lr=5e-3, gamma=0.98):
        self.device, self.gamma = device, gamma
        self.policy = RecurrentPolicy(env.observation_size, env.n_actions).to(device)
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.clear()

    def clear(self):
        self.log_probs, self.values, self.entropies, self.rewards = [], [], [], []
        self.state = torch.zeros(1, self.policy.hidden, device=self.device)

    def act(self, obs):
        obs = torch.from_numpy(obs).float().unsqueeze(0).to(self.device)
        logits, value, self.state = self.policy(obs, self.state)
        dist = Categorical(logits=logits)
        action = dist.sample()
        self.log_probs.append(dist.log_prob(action))
        self.entropies.append(dist.entropy())
        self.values.append(value.squeeze(-1))
        return action.item()

    def returns(self):
        R, out = 0.0, []
        for r in self.rewards[::-1]:
            R = r + self.gamma * R
            out.insert(0, R)
        return torch.tensor(out, dtype=torch.float32).to(self.device)

    def update(self):
        returns = self.returns()
        values = torch.cat(self.values)
        advantage = returns - values.detach()
        if len(self.rewards) > 1:
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
        policy_loss = -(torch.cat(self.log_probs) * advantage).sum()
        value_loss = F.smooth_l1_loss(values, returns, reduction="sum")
        loss = policy_loss + 0.5 * value_loss - 0.01 * torch.cat(self.entropies).sum()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.optimizer.step()
        self.clear()
        return loss.item()


@torch.no_grad()
def greedy_success(agent, env, episodes):
    wins = 0
    for _ in range(episodes):
        obs, done = env.reset(), False
        state = torch.zeros(1, agent.policy.hidden, device=agent.device)
        while not done:
            obs = torch.as_tensor(obs, device=agent.device).unsqueeze(0)
            logits, _, state = agent.policy(obs, state)
            obs, _, done, info = env.step(logits.argmax(-1).cpu().numpy()[0])
        wins += info["success"]
    return wins / episodes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=8)
    parser.add_argument("--log-interval", type=int, default=4)
    parser.add_argument("--seed", type=int, default=543)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    env, eval_env = GridWorld(seed=args.seed), GridWorld(seed=args.seed + 1)
    agent = Agent(env, device)
    recent = deque(maxlen=10)

    for episode in range(1, args.episodes + 1):
        obs, done, total = env.reset(), False, 0.0
        while not done:
            action = agent.act(obs)
            obs, reward, done, _ = env.step(action)
            agent.rewards.append(reward)
            total += reward
        loss = agent.update()
        recent.append(total)
        if episode % args.log_interval == 0:
            print(f"episode {episode}\tloss {loss:.3f}\tmean return {np.mean(recent):.3f}")
    print("greedy success rate:", greedy_success(agent, eval_env, 2))


if __name__ == "__main__":
    main()

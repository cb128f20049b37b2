import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class DDPG:
    def __init__(self, obs, act, device, gamma=0.99, tau=0.005):
        self.device, self.gamma, self.tau = device, gamma, tau
        self.actor = nn.Sequential(nn.Linear(obs, 128), nn.ReLU(), nn.Linear(128, act), nn.Tanh()).to(device)
        self.critic = nn.Sequential(nn.Linear(obs + act, 128), nn.ReLU(), nn.Linear(128, 1)).to(device)
        self.target = copy.deepcopy(self.critic)
        self.pi_opt = torch.optim.Adam(self.actor.parameters(), 1e-4)
        self.q_opt = torch.optim.Adam(self.critic.parameters(), 1e-3)

    def update(self, s, a, r, s2):
        s, a, r, s2 = (t.to(self.device) for t in (s, a, r, s2))
        with torch.no_grad():
            y = r + self.gamma * self.target(torch.cat([s2, self.actor(s2)], -1)).squeeze(-1)
        q_loss = F.mse_loss(self.critic(torch.cat([s, a], -1)).squeeze(-1), y)
        self.q_opt.zero_grad()
        q_loss.backward()
        self.q_opt.step()  # expect@a: XLA401
        pi_loss = -self.critic(torch.cat([s, self.actor(s)], -1)).mean()
        self.pi_opt.zero_grad()
        pi_loss.backward()
        self.pi_opt.step()  # expect@a: XLA401
        with torch.no_grad():
            for p, tp in zip(self.critic.parameters(), self.target.parameters()):
                tp.lerp_(p, self.tau)  # expect@a: XLA401

import numpy as np
import torch
import torch_xla
from torch import nn

HORIZON = 50


class HistoryPolicy(nn.Module):
    def __init__(self, obs_dim=17, act_dim=6, width=128):
        super().__init__()
        self.embed = nn.Linear(obs_dim, width)
        self.mix = nn.TransformerEncoderLayer(width, 4, batch_first=True)
        self.pi = nn.Linear(width, act_dim)

    def forward(self, obs_history):
        h = self.mix(self.embed(obs_history))
        return torch.tanh(self.pi(h[:, -1]))


class Dynamics(nn.Module):
    def __init__(self, obs_dim=17, act_dim=6):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs_dim + act_dim, 256), nn.SiLU(), nn.Linear(256, obs_dim))

    def forward(self, obs, act):
        return obs + self.net(torch.cat([obs, act], -1))


@torch.no_grad()
def imagine(policy, dynamics, start_obs):
    observations = [start_obs]
    for _ in range(HORIZON):
        history = torch.stack(observations, dim=1)  # expect: XLA303|XLA302
        action = policy(history)
        observations.append(dynamics(observations[-1], action))
        torch_xla.sync()
    return observations[-1]


if __name__ == "__main__":
    dev = torch_xla.device()
    pi, dyn = HistoryPolicy().to(dev).eval(), Dynamics().to(dev).eval()
    rng = np.random.default_rng(0)
    for episode in range(100):
        s0 = torch.from_numpy(rng.normal(size=(32, 17)).astype(np.float32)).to(dev)
        final = imagine(pi, dyn, s0)
        print(episode, final.mean().item())

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla


class Replay:
    def __init__(self):
        self.states = np.zeros((0, 4), dtype=np.float32)
        self.returns = np.zeros((0,), dtype=np.float32)

    def extend(self, s, r):
        self.states = np.concatenate([self.states, s])  # silent
        self.returns = np.concatenate([self.returns, r])  # silent

    def sample(self, n):
        idx = np.random.randint(0, len(self.states), size=n)
        return torch.from_numpy(self.states[idx]), torch.from_numpy(self.returns[idx])  # silent


def collect(n=128):
    s = np.random.randn(n, 4).astype(np.float32)
    return s, s.sum(1)


def main():
    device = torch_xla.device()
    value = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 1)).to(device)
    opt = torch.optim.Adam(value.parameters(), lr=3e-4)
    memory = Replay()
    episode_lengths = []
    for it in range(300):
        memory.extend(*collect())
        episode_lengths.append(it)
        s, r = memory.sample(256)
        loss = F.mse_loss(value(s.to(device)).squeeze(-1), r.to(device))
        opt.zero_grad()
        loss.backward()
        opt.step()
        torch_xla.sync()
        avg = np.mean(np.stack(episode_lengths))  # silent
        if it % 50 == 0:
            print(it, avg)


if __name__ == "__main__":
    main()

import numpy as np
import torch
import torch.nn as nn
import torch_xla


class RecurrentActor(nn.Module):
    def __init__(self, obs=8, act=4, hid=64):
        super().__init__()
        self.inp = nn.Linear(obs, hid)
        self.rec = nn.Linear(2 * hid, hid)
        self.head = nn.Linear(hid, act)

    def forward(self, o, h):
        h = torch.tanh(self.rec(torch.cat([self.inp(o), h], -1)))
        return self.head(h), h


class ToyEnv:
    def reset(self):
        self.s = np.zeros(8, dtype=np.float32)
        return self.s

    def step(self, a):
        self.s = self.s + 0.1 * np.random.randn(8).astype(np.float32)
        return self.s, float(a == 0)


@torch.no_grad()
def play(actor, env, device, n_steps=10000):
    obs = env.reset()
    hidden = torch.zeros(1, 64, device=device)
    total = 0.0
    for _ in range(n_steps):  # expect@a: XLA402
        o = torch.from_numpy(obs).to(device).unsqueeze(0)
        logits, hidden = actor(o, hidden)  # expect@a: XLA402
        action = logits.argmax(-1).item()  # expect@a: XLA402
        obs, reward = env.step(action)
        total += reward  # expect@a: XLA402
    return total


if __name__ == "__main__":
    dev = torch_xla.device()
    print(play(RecurrentActor().to(dev).eval(), ToyEnv(), dev))

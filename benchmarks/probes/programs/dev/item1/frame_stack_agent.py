from collections import deque

import numpy as np
import torch
import torch.nn as nn
import torch_xla


class QNet(nn.Module):
    def __init__(self, n_actions=6, frames=4):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(frames, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Flatten())
        self.head = nn.Linear(64 * 9 * 9, n_actions)

    def forward(self, s):
        return self.head(self.body(s))


class FrameStack:
    def __init__(self, k, shape, device):
        self.frames = deque([torch.zeros(shape, device=device) for _ in range(k)], maxlen=k)

    def push(self, frame):
        self.frames.append(frame)  # silent

    def state(self):
        return torch.stack(list(self.frames), dim=1)  # silent


@torch.no_grad()
def evaluate(env_step, qnet, device, steps=1000):
    stack = FrameStack(4, (8, 84, 84), device)
    obs = np.zeros((8, 84, 84), dtype=np.float32)
    for _ in range(steps):
        stack.push(torch.from_numpy(obs).to(device))
        q = qnet(stack.state())
        torch_xla.sync()
        obs = env_step(q.argmax(1).cpu().numpy())


if __name__ == "__main__":
    dev = torch_xla.device()
    evaluate(lambda a: np.random.rand(8, 84, 84).astype(np.float32), QNet().to(dev).eval(), dev)

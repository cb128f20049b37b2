import numpy as np
import torch
import torch_xla

from agent import DDPG


def sample(buf, n=256):
    idx = np.random.randint(0, len(buf[0]), n)
    return [torch.from_numpy(b[idx]) for b in buf]


def offline_data(n=50000, obs=11, act=3):
    rng = np.random.default_rng(0)
    f = lambda *s: rng.normal(size=s).astype(np.float32)
    return f(n, obs), f(n, act), f(n), f(n, obs)


def main():
    agent = DDPG(11, 3, torch_xla.device())
    buf = offline_data()
    for step in range(100000):  # expect@a: XLA401
        agent.update(*sample(buf))  # expect@a: XLA401
        if (step + 1) % 10000 == 0:
            print("step", step + 1)


if __name__ == "__main__":
    main()

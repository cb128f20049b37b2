import torch
import torch.nn as nn

from config import Config


def mixer(cfg):
    layers = []
    for _ in range(cfg.depth):
        layers += [nn.LayerNorm(cfg.width), nn.Linear(cfg.width, cfg.width), nn.GELU()]
    return nn.Sequential(*layers, nn.Linear(cfg.width, 1))


class Runner:
    def __init__(self, cfg):
        self.cfg = cfg
        self.device = torch.device(cfg.device)  # expect@a: XLA001|XLA003
        self.net = mixer(cfg).to(self.device)
        self.opt = torch.optim.AdamW(self.net.parameters(), lr=cfg.optim.lr, weight_decay=cfg.optim.weight_decay)

    def step(self):
        x = torch.randn(64, self.cfg.width, device=self.device)
        loss = (self.net(x).squeeze(-1) - x.mean(-1)).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()

    def run(self):
        for _ in range(self.cfg.steps):
            self.step()


if __name__ == "__main__":
    Runner(Config()).run()

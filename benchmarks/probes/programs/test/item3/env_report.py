import logging
import platform

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla

log = logging.getLogger("train")


def describe_environment():
    log.info("python %s torch %s", platform.python_version(), torch.__version__)
    log.info("cuda available: %s", torch.cuda.is_available())  # silent: XLA003|XLA013
    if torch.cuda.is_available():  # silent: XLA003|XLA013
        log.info("running next to a CUDA install %s", torch.version.cuda)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(13, 64), nn.GELU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.net(x).squeeze(-1)


def main():
    logging.basicConfig(level=logging.INFO)
    describe_environment()
    device = torch_xla.device()
    model = Regressor().to(device)  # silent: XLA003|XLA017
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    for _ in range(4000):
        x = torch.randn(64, 13).to(device)
        loss = F.huber_loss(model(x), x.mean(1))
        opt.zero_grad()
        loss.backward()
        opt.step()
        torch_xla.sync()


if __name__ == "__main__":
    main()

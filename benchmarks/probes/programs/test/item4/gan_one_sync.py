import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Flatten(), nn.Linear(3072, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1))

    def forward(self, x):
        return self.net(x)


class Maker(nn.Module):
    def __init__(self, z=128):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(z, 256), nn.ReLU(), nn.Linear(256, 3072), nn.Tanh())

    def forward(self, z):
        return self.net(z).view(-1, 3, 32, 32)


def main():
    device = torch_xla.device()
    critic, maker = Critic().to(device), Maker().to(device)
    c_opt = torch.optim.Adam(critic.parameters(), 1e-4, betas=(0.0, 0.9))
    m_opt = torch.optim.Adam(maker.parameters(), 1e-4, betas=(0.0, 0.9))
    for it in range(10000):  # silent: XLA401|XLA402
        real = torch.rand(64, 3, 32, 32).to(device)
        fake = maker(torch.randn(64, 128, device=device))
        c_loss = F.relu(1 - critic(real)).mean() + F.relu(1 + critic(fake.detach())).mean()
        c_opt.zero_grad()
        c_loss.backward()
        c_opt.step()  # silent
        m_loss = -critic(fake).mean()
        m_opt.zero_grad()
        m_loss.backward()
        m_opt.step()  # silent
        torch_xla.sync()  # silent


if __name__ == "__main__":
    main()

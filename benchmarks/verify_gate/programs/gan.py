import torch
from torch import nn

torch.manual_seed(3)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
real_data = torch.randn(512, 4) * 0.5 + 1

generator = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4)).to(device)
discriminator = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)).to(device)
criterion = nn.BCEWithLogitsLoss()
optimizer_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizer_d = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))

for step in range(40):
    rows = torch.randint(0, len(real_data), (16,))
    real = real_data[rows].to(device)
    noise = torch.randn(16, 8, device=device)
    fake = generator(noise)
    ones, zeros = torch.ones(16, 1, device=device), torch.zeros(16, 1, device=device)

    optimizer_d.zero_grad()
    loss_d = criterion(discriminator(real), ones) + criterion(discriminator(fake.detach()), zeros)
    loss_d.backward()
    optimizer_d.step()

    optimizer_g.zero_grad()
    loss_g = criterion(discriminator(fake), ones)
    loss_g.backward()
    optimizer_g.step()

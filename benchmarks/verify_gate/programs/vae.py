import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(4)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
data = torch.rand(400, 12)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(12, 16)
        self.mean, self.logvar = nn.Linear(16, 3), nn.Linear(16, 3)
        self.decoder = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 12))

    def reparameterize(self, mean, logvar):
        return mean + torch.randn_like(mean) * torch.exp(0.5 * logvar)

    def forward(self, x):
        hidden = torch.relu(self.encoder(x))
        mean, logvar = self.mean(hidden), self.logvar(hidden)
        return torch.sigmoid(self.decoder(self.reparameterize(mean, logvar))), mean, logvar


def loss_function(output, x, mean, logvar):
    error = F.binary_cross_entropy(output, x, reduction="sum")
    divergence = -0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp())
    return error + divergence


model = VAE().to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
model.train()
for epoch in range(3):
    for x in data.split(20):
        x = x.to(device)
        optimizer.zero_grad()
        output, mean, logvar = model(x)
        loss = loss_function(output, x, mean, logvar)
        loss.backward()
        optimizer.step()

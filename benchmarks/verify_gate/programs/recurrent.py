import torch
from torch import nn

torch.manual_seed(7)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
text = (torch.arange(2000) * 7 % 20).view(10, 200)


class Model(nn.Module):
    def __init__(self, tokens=20, width=12):
        super().__init__()
        self.drop = nn.Dropout(0.2)
        self.encoder = nn.Embedding(tokens, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.decoder = nn.Linear(width, tokens)
        self.width = width

    def forward(self, x, hidden):
        output, hidden = self.rnn(self.drop(self.encoder(x)), hidden)
        return self.decoder(self.drop(output)), hidden

    def init_hidden(self, size, device):
        return torch.zeros(1, size, self.width, device=device)


model = Model().to(device)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
hidden = model.init_hidden(10, device)
for i in range(0, 160, 5):
    data, targets = text[:, i : i + 5].to(device), text[:, i + 1 : i + 6].to(device)
    hidden = hidden.detach()
    output, hidden = model(data, hidden)
    loss = criterion(output.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    optimizer.step()

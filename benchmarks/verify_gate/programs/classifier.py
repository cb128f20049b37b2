import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
device = "cuda" if torch.cuda.is_available() else "cpu"
images = torch.randn(256, 3, 8, 8)
labels = images.mean((2, 3)).argmax(1)
loader = DataLoader(TensorDataset(images, labels), batch_size=16, shuffle=True, drop_last=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 8, 3, padding=1)
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv1(x)))
        x = torch.relu(self.conv2(x)).mean((2, 3))
        return self.head(self.dropout(x))


net = Net()
net = net.to(device)
if device == "cuda":
    net = nn.DataParallel(net)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 4, gamma=0.5)
net.train()
for epoch in range(4):
    for inputs, targets in loader:
        inputs = inputs + 0.1 * torch.randn_like(inputs)
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad()
        loss = criterion(net(inputs), targets)
        loss.backward()
        optimizer.step()
        scheduler.step()

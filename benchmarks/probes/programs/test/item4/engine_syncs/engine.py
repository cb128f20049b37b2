import torch
import torch_xla


class Engine:
    def __init__(self, model, criterion, lr):
        self.device = torch_xla.device()
        self.model = model.to(self.device)
        self.criterion = criterion
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def _finish(self):
        self.optimizer.step()  # silent
        self.optimizer.zero_grad()
        torch_xla.sync()  # silent

    def train_batch(self, x, y):
        self.model.train()
        pred = self.model(x.to(self.device))
        loss = self.criterion(pred, y.to(self.device))
        loss.backward()
        self._finish()
        return loss.detach()

import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset
from tqdm import tqdm


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(24, 96), nn.ReLU(), nn.Linear(96, 8))

    def forward(self, x):
        return self.net(x)


def main():
    accelerator = Accelerator(project_dir="runs")
    set_seed(1)
    ds = TensorDataset(torch.randn(12800, 24), torch.randint(0, 8, (12800,)))
    loader = DataLoader(ds, batch_size=128, shuffle=True, drop_last=True)
    net = Net()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
    net, opt, loader = accelerator.prepare(net, opt, loader)
    for epoch in range(5):
        bar = tqdm(loader, disable=not accelerator.is_local_main_process)  # silent
        for x, y in bar:
            loss = F.cross_entropy(net(x), y)
            accelerator.backward(loss)
            opt.step()
            opt.zero_grad()
        accelerator.wait_for_everyone()  # silent
        accelerator.save_state(f"runs/state_{epoch}")  # silent: XLA710
        if accelerator.is_main_process:  # silent: XLA710
            print("finished", epoch, "of", 5)  # silent


if __name__ == "__main__":
    main()

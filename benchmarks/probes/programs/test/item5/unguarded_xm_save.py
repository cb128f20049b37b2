import torch
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import torch_xla.runtime as xr
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from torchvision import datasets, transforms
from torchvision.models import resnet34


def train_fn(index, flags):
    device = torch_xla.device()
    ds = datasets.FakeData(4096, (3, 128, 128), 100, transforms.ToTensor())
    sampler = DistributedSampler(ds, num_replicas=xr.world_size(), rank=xr.global_ordinal(), shuffle=True)
    loader = pl.MpDeviceLoader(DataLoader(ds, batch_size=flags["bs"], sampler=sampler, drop_last=True), device)
    torch_xla.manual_seed(3)
    model = resnet34(num_classes=100).to(device)
    xm.broadcast_master_param(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(flags["epochs"]):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            xm.optimizer_step(optimizer)
        xm.master_print("done epoch", epoch)  # silent
        xm.save({"net": model.state_dict(), "epoch": epoch}, f"resnet_{epoch}.pt")  # silent: XLA710


if __name__ == "__main__":
    torch_xla.launch(train_fn, args=({"bs": 64, "epochs": 3},))

import os
import tarfile
import urllib.request

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import torch_xla.runtime as xr
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from torchvision import datasets, transforms

URL = "https://s3.amazonaws.com/fast-ai-imageclas/imagenette2-160.tgz"


def download(root):
    os.makedirs(root, exist_ok=True)
    archive = os.path.join(root, "data.tgz")
    if not os.path.exists(archive):
        urllib.request.urlretrieve(URL, archive)
        with tarfile.open(archive) as tar:
            tar.extractall(root)


def _mp_fn(index, root):
    device = torch_xla.device()
    if xr.local_ordinal() == 0:  # silent
        download(root)  # silent
    xm.rendezvous("data-ready")  # silent
    tf = transforms.Compose([transforms.RandomResizedCrop(128), transforms.ToTensor()])
    ds = datasets.ImageFolder(os.path.join(root, "imagenette2-160", "train"), tf)
    sampler = DistributedSampler(ds, num_replicas=xr.world_size(), rank=xr.global_ordinal())
    loader = pl.MpDeviceLoader(DataLoader(ds, batch_size=32, sampler=sampler, drop_last=True), device)
    net = nn.Sequential(nn.Conv2d(3, 32, 7, 4), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)).to(device)
    xm.broadcast_master_param(net)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        xm.optimizer_step(opt)


if __name__ == "__main__":
    torch_xla.launch(_mp_fn, args=("/tmp/imagenette",))

import torch
import torch.nn.functional as F
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
from torch.utils.data import DataLoader
from torchvision import datasets, models, transforms


def get_loaders(device, root="cifar"):
    tf = transforms.Compose([transforms.RandomCrop(32, 4), transforms.RandomHorizontalFlip(), transforms.ToTensor()])
    train = datasets.CIFAR10(root, train=True, download=True, transform=tf)
    test = datasets.CIFAR10(root, train=False, transform=transforms.ToTensor())
    make = lambda ds, shuffle: DataLoader(ds, batch_size=128, shuffle=shuffle, drop_last=True, num_workers=4)
    return pl.MpDeviceLoader(make(train, True), device), pl.MpDeviceLoader(make(test, False), device)


def main():
    device = xm.xla_device()
    train, test = get_loaders(device)
    net = models.resnet18(num_classes=10).to(device)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(20):
        net.train()
        for x, y in train:  # silent: XLA401|XLA402
            loss = F.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()  # silent
        net.eval()
        good = torch.zeros((), device=device)
        with torch.no_grad():
            for x, y in test:  # silent: XLA401|XLA402
                good = good + (net(x).argmax(-1) == y).sum()  # silent
        print(epoch, good.item() / 10000)


if __name__ == "__main__":
    main()

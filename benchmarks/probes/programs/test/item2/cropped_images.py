import torch
import torch.nn.functional as F
import torch_xla
import torchvision.transforms as T
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.models import resnet18


def loaders(root, size=224, **kw):
    train_tf = T.Compose([
        T.RandomResizedCrop(size, scale=(0.2, 1.0)),  # silent
        T.RandomHorizontalFlip(),
        T.ToTensor(),
    ])
    val_tf = T.Compose([T.Resize(256), T.CenterCrop(size), T.ToTensor()])  # silent
    train = DataLoader(ImageFolder(root + "/train", train_tf), shuffle=True, drop_last=True, **kw)  # silent
    val = DataLoader(ImageFolder(root + "/val", val_tf), drop_last=True, **kw)  # silent
    return train, val


def main(root="imagenette2"):
    device = torch_xla.device()
    train, val = loaders(root, batch_size=64, num_workers=8)  # silent
    net = resnet18(num_classes=10).to(device)
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    for epoch in range(30):
        net.train()
        for x, y in train:
            x, y = x.to(device), y.to(device)
            x = F.interpolate(x, size=(128, 128), mode="bilinear", align_corners=False)  # silent
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()
        net.eval()
        hits = torch.zeros((), device=device)
        with torch.no_grad():
            for x, y in val:
                x = F.interpolate(x.to(device), size=(128, 128), mode="bilinear", align_corners=False)  # silent
                hits += (net(x).argmax(1) == y.to(device)).sum()
                torch_xla.sync()
        print(epoch, hits.item())


if __name__ == "__main__":
    main()

import torch
import torch.nn as nn
import torch_xla
from torch.utils.data import DataLoader, Dataset

CANVAS = (512, 512)
MAX_OBJECTS = 20


class Scenes(Dataset):
    def __len__(self):
        return 600

    def __getitem__(self, i):
        gen = torch.Generator().manual_seed(i)
        h, w = torch.randint(200, 512, (2,), generator=gen).tolist()
        n = int(torch.randint(1, MAX_OBJECTS, (1,), generator=gen))
        return torch.randn(3, h, w), torch.rand(n, 4)


def on_canvas(batch):
    imgs, boxes = zip(*batch)
    image = torch.zeros(len(imgs), 3, *CANVAS)  # silent
    pixel_mask = torch.ones(len(imgs), *CANVAS, dtype=torch.bool)  # silent
    target = torch.zeros(len(imgs), MAX_OBJECTS, 4)  # silent
    valid = torch.zeros(len(imgs), MAX_OBJECTS)
    for i, (im, bx) in enumerate(zip(imgs, boxes)):
        image[i, :, : im.shape[1], : im.shape[2]] = im  # silent
        pixel_mask[i, : im.shape[1], : im.shape[2]] = False  # silent
        target[i, : len(bx)] = bx
        valid[i, : len(bx)] = 1
    return image, pixel_mask, target, valid


class Slots(nn.Module):
    def __init__(self):
        super().__init__()
        self.cnn = nn.Sequential(nn.Conv2d(3, 64, 8, 8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.out = nn.Linear(64, MAX_OBJECTS * 4)

    def forward(self, image, pixel_mask):
        x = image.masked_fill(pixel_mask[:, None], 0.0)
        return self.out(self.cnn(x)).view(-1, MAX_OBJECTS, 4).sigmoid()


if __name__ == "__main__":
    device = torch_xla.device()
    loader = DataLoader(Scenes(), 8, shuffle=True, drop_last=True, collate_fn=on_canvas, num_workers=2)  # silent
    model = Slots().to(device)
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    for epoch in range(10):
        for batch in loader:
            image, pmask, target, valid = [t.to(device) for t in batch]
            l1 = (model(image, pmask) - target).abs().sum(-1)
            loss = (l1 * valid).sum() / valid.sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            torch_xla.sync()

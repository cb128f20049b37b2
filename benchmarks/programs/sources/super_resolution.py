import argparse
import copy
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


# ---------------------------------------------------------------- utils
class AverageMeter:
    """Computes and stores the average and current value"""

    def __init__(self, name, fmt=":f"):
        self.name = name
        self.fmt = fmt
        self.reset()

    def reset(self):
        self.val = 0
        self.avg = 0
        self.sum = 0
        self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count

    def __str__(self):
        fmtstr = "{name} {val" + self.fmt + "} ({avg" + self.fmt + "})"
        return fmtstr.format(**self.__dict__)


class ProgressMeter:
    def __init__(self, num_batches, meters, prefix=""):
        self.num_batches = num_batches
        self.meters = meters
        self.prefix = prefix

    def display(self, batch):
        print(
            "\t".join([f"{self.prefix}[{batch}/{self.num_batches}]"] + [str(meter) for meter in self.meters])
        )


def to_device(batch, device):
    if isinstance(batch, (list, tuple)):
        return [to_device(b, device) for b in batch]
    if isinstance(batch, dict):
        return {k: to_device(v, device) for k, v in batch.items()}
    return batch.to(device, non_blocking=True) if torch.is_tensor(batch) else batch


def calc_psnr(img1, img2):
    return 10.0 * torch.log10(1.0 / torch.mean((img1 - img2) ** 2))


def calc_ssim(img1, img2, window_size=7):
    c1, c2 = 0.01**2, 0.03**2
    channel = img1.size(1)
    coords = torch.arange(window_size, dtype=torch.float32, device=img1.device) - window_size // 2
    g = torch.exp(-(coords**2) / (2 * 1.5**2))
    g = (g / g.sum()).unsqueeze(1)
    window = (g @ g.t()).expand(channel, 1, window_size, window_size).contiguous()

    def blur(x):
        return F.conv2d(x, window, padding=window_size // 2, groups=channel)

    mu1, mu2 = blur(img1), blur(img2)
    sigma1 = blur(img1 * img1) - mu1**2
    sigma2 = blur(img2 * img2) - mu2**2
    sigma12 = blur(img1 * img2) - mu1 * mu2
    ssim = ((2 * mu1 * mu2 + c1) * (2 * sigma12 + c2)) / ((mu1**2 + mu2**2 + c1) * (sigma1 + sigma2 + c2))
    return ssim.mean()


# ---------------------------------------------------------------- data
def draw_image(height, width, generator):
    """Waves, a box and a disc."""
    y = torch.linspace(0, 1, height).view(1, -1, 1)
    x = torch.linspace(0, 1, width).view(1, 1, -1)
    p = torch.rand(12, generator=generator)
    freq = 5 + 15 * p[:3].view(3, 1, 1)
    img = 0.5 + 0.3 * torch.sin(freq * x + 6 * p[3]) * torch.cos(freq * y)
    img = img + 0.3 * ((x > p[4]) & (y > p[5])).float()
    img = img - 0.3 * (((x - p[6]) ** 2 + (y - p[7]) ** 2) < 0.05).float()
    return img.clamp(0, 1)


class TrainDataset(Dataset):
    def __init__(self, n, scale, patch_size):
        g = torch.Generator().manual_seed(0)
        self.images = [draw_image(48, 48, g) for _ in range(n)]
        self.scale = scale
        self.patch_size = patch_size

    def __getitem__(self, idx):
        hr = self.images[idx]
        size = self.patch_size * self.scale
        top = torch.randint(0, hr.size(1) - size + 1, (1,)).item()
        left = torch.randint(0, hr.size(2) - size + 1, (1,)).item()
        hr = hr[:, top : top + size, left : left + size]
        if torch.rand(1).item() < 0.5:
            hr = hr.flip(-1)
        lr = F.avg_pool2d(hr, self.scale)
        return {"lr": lr, "hr": hr}

    def __len__(self):
        return len(self.images)


class EvalDataset(Dataset):
    def __init__(self, scale):
        g = torch.Generator().manual_seed(1)
        self.images = [draw_image(h, w, g) for h, w in [(48, 48), (40, 56), (64, 48)]]
        self.scale = scale

    def __getitem__(self, idx):
        hr = self.images[idx]
        return {"lr": F.avg_pool2d(hr, self.scale), "hr": hr, "name": f"img_{idx:03d}"}

    def __len__(self):
        return len(self.images)


# ---------------------------------------------------------------- model
class ResBlock(nn.Module):
    def __init__(self, n_feats, res_scale=0.1):
        super().__init__()
        self.conv1 = nn.Conv2d(n_feats, n_feats, 3, padding=1)
        self.act = nn.ReLU(True)
        self.conv2 = nn.Conv2d(n_feats, n_feats, 3, padding=1)
        self.res_scale = res_scale

    def forward(self, x):
        res = self.conv2(self.act(self.conv1(x))).mul(self.res_scale)
        res += x
        return res


class EDSR(nn.Module):
    def __init__(self, scale, n_resblocks=3, n_feats=16):
        super().__init__()
        self.register_buffer("mean", torch.tensor([0.4488, 0.4371, 0.4040]).view(1, 3, 1, 1))
        self.head = nn.Conv2d(3, n_feats, 3, padding=1)
        self.body = nn.Sequential(
            *[ResBlock(n_feats) for _ in range(n_resblocks)], nn.Conv2d(n_feats, n_feats, 3, padding=1)
        )
        upsample = []
        for _ in range(int(math.log(scale, 2))):
            upsample += [nn.Conv2d(n_feats, 4 * n_feats, 3, padding=1), nn.PixelShuffle(2)]
        self.tail = nn.Sequential(*upsample, nn.Conv2d(n_feats, 3, 3, padding=1))

    def forward(self, x):
        x = x - self.mean
        x = self.head(x)
        x = x + self.body(x)
        return self.tail(x) + self.mean


# ---------------------------------------------------------------- train / validate
def train(loader, model, criterion, optimizer, epoch, args, device):
    batch_time = AverageMeter("Time", ":6.3f")
    losses = AverageMeter("Loss", ":.4f")
    psnrs = AverageMeter("PSNR", ":6.2f")
    progress = ProgressMeter(len(loader), [batch_time, losses, psnrs], prefix=f"Epoch: [{epoch}]")
    model.train()
    end = time.time()
    for i, batch in enumerate(loader):
        batch = to_device(batch, device)
        preds = model(batch["lr"])
        loss = criterion(preds, batch["hr"])
        losses.update(loss.item(), len(batch["lr"]))
        psnrs.update(calc_psnr(preds.detach(), batch["hr"]).item(), len(batch["lr"]))

        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

        batch_time.update(time.time() - end)
        end = time.time()
        if i % args.print_freq == 0:
            progress.display(i)
    return losses.avg


def validate(loader, model, device):
    psnr, ssim = AverageMeter("PSNR", ":.2f"), AverageMeter("SSIM", ":.4f")
    model.eval()
    for batch in loader:
        batch = to_device(batch, device)
        with torch.no_grad():
            preds = model(batch["lr"]).clamp(0.0, 1.0)
        psnr.update(calc_psnr(preds, batch["hr"]), len(batch["lr"]))
        ssim.update(calc_ssim(preds, batch["hr"]), len(batch["lr"]))
    print(f" * PSNR {psnr.avg:.2f} SSIM {ssim.avg:.4f}")
    return psnr.avg


def main():
    parser = argparse.ArgumentParser(description="EDSR, small")
    parser.add_argument("--scale", type=int, default=2, choices=[2, 4])
    parser.add_argument("--patch-size", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--num-workers", type=int, default=0)
    parser.add_argument("--print-freq", type=int, default=2)
    args = parser.parse_args()

    torch.manual_seed(123)
    torch.backends.cudnn.benchmark = True
    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")

    train_dataset = TrainDataset(32, args.scale, args.patch_size)
    train_loader = DataLoader(
        train_dataset, args.batch_size, shuffle=True, num_workers=args.num_workers, drop_last=True
    )
    eval_loader = DataLoader(EvalDataset(args.scale), batch_size=1)

    model = EDSR(args.scale).to(device)
    criterion = nn.L1Loss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[3], gamma=0.5)

    best_psnr, best_epoch = 0.0, 0
    best_weights = copy.deepcopy(model.state_dict())
    for epoch in range(args.epochs):
        train(train_loader, model, criterion, optimizer, epoch, args, device)
        scheduler.step()
        psnr = validate(eval_loader, model, device)
        if psnr > best_psnr:
            best_epoch, best_psnr = epoch, psnr
            best_weights = copy.deepcopy(model.state_dict())
    model.load_state_dict(best_weights)
    print(f"best epoch: {best_epoch}, psnr: {best_psnr:.2f}")


if __name__ == "__main__":
    main()

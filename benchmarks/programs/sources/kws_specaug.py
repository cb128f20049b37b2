import argparse
import os
import random
import shutil
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.backends.cudnn as cudnn
import torch.utils.data
from torch.autograd import Variable

parser = argparse.ArgumentParser(description='PyTorch keyword spotting')
parser.add_argument('--epochs', default=3, type=int, metavar='N', help='number of total epochs to run')
parser.add_argument('-b', '--batch-size', default=16, type=int, metavar='N')
parser.add_argument('--lr', '--learning-rate', default=0.02, type=float, metavar='LR')
parser.add_argument('--momentum', default=0.9, type=float, metavar='M')
parser.add_argument('--weight-decay', '--wd', default=1e-4, type=float, metavar='W')
parser.add_argument('--print-freq', '-p', default=2, type=int, metavar='N')
parser.add_argument('--seed', default=1, type=int)
parser.add_argument('--n-mels', default=32, type=int)

KEYWORDS = ['yes', 'no', 'up', 'down', 'stop', 'go', '_unknown_', '_silence_']
SR = 4000
best_prec1 = 0

class SyntheticSpeech(torch.utils.data.Dataset):
    """Every keyword is a pair of formant-like chirps, plus noise and a random time shift."""

    def __init__(self, n, train=True, seed=0):
        rng = np.random.RandomState(seed)
        self.train = train
        self.labels = rng.randint(0, len(KEYWORDS), n)
        self.seeds = rng.randint(0, 2 ** 31 - 1, n)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        rng = np.random.RandomState(self.seeds[index])
        y = int(self.labels[index])
        t = np.arange(SR) / float(SR)
        wav = 0.05 * rng.randn(SR)
        if KEYWORDS[y] != '_silence_':
            f0, f1 = (200 + 150 * y, 400 + 100 * ((3 * y) % 7)) if KEYWORDS[y] != '_unknown_' else rng.randint(150, 1500, 2)
            env = np.exp(-((t - 0.5) / 0.15) ** 2)
            wav = wav + env * (np.sin(2 * np.pi * (f0 + 200 * t) * t) + 0.6 * np.sin(2 * np.pi * f1 * t))
        if self.train:
            wav = np.roll(wav, np.random.randint(-400, 400)) * np.random.uniform(0.6, 1.2)
        return torch.from_numpy(wav.astype(np.float32)), y


class LogMel(nn.Module):
    def __init__(self, n_mels, n_fft=128, hop=50):
        super(LogMel, self).__init__()
        self.n_fft, self.hop = n_fft, hop
        mel = lambda f: 2595.0 * np.log10(1 + f / 700.0)
        hz = lambda m: 700.0 * (10 ** (m / 2595.0) - 1)
        pts = hz(np.linspace(mel(20), mel(SR / 2), n_mels + 2))
        freqs = np.linspace(0, SR / 2, n_fft // 2 + 1)
        fb = np.zeros((n_mels, len(freqs)), dtype=np.float32)
        for i in range(n_mels):
            lo, ce, hi = pts[i:i + 3]
            fb[i] = np.maximum(0, np.minimum((freqs - lo) / (ce - lo), (hi - freqs) / (hi - ce)))
        self.register_buffer('fb', torch.from_numpy(fb))
        self.register_buffer('window', torch.hann_window(n_fft))

    def forward(self, wav):
        spec = torch.stft(wav, self.n_fft, self.hop, window=self.window, return_complex=True)
        power = spec.real ** 2 + spec.imag ** 2
        x = torch.log(torch.matmul(self.fb, power) + 1e-6)
        return (x - x.mean(dim=(1, 2), keepdim=True)) / (x.std(dim=(1, 2), keepdim=True) + 1e-5)


def spec_augment(x, F=6, T=15, num_masks=2):
    # x: (batch, mel, time), masks are drawn per utterance
    x = x.clone()
    for i in range(x.size(0)):
        for _ in range(num_masks):
            f = random.randint(0, F)
            f0 = random.randint(0, x.size(1) - f)
            x[i, f0:f0 + f, :] = 0
            t = random.randint(0, T)
            t0 = random.randint(0, x.size(2) - t)
            x[i, :, t0:t0 + t] = 0
    return x


class DSConv(nn.Module):
    def __init__(self, c, stride=1):
        super(DSConv, self).__init__()
        self.dw = nn.Conv2d(c, c, 3, stride=stride, padding=1, groups=c, bias=False)
        self.bn1 = nn.BatchNorm2d(c)
        self.pw = nn.Conv2d(c, c, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(c)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.relu(self.bn1(self.dw(x)))
        return self.relu(self.bn2(self.pw(x)))


class DSCNN(nn.Module):
    def __init__(self, num_classes, c=48):
        super(DSCNN, self).__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, c, (4, 10), stride=2, padding=(1, 5), bias=False), nn.BatchNorm2d(c), nn.ReLU(inplace=True))
        self.blocks = nn.Sequential(DSConv(c), DSConv(c, 2), DSConv(c), DSConv(c))
        self.dropout = nn.Dropout(0.2)
        self.fc = nn.Linear(c, num_classes)

    def forward(self, x):
        x = self.blocks(self.stem(x.unsqueeze(1)))
        x = x.mean(3).mean(2)
        return self.fc(self.dropout(x))


def main():
    global args, best_prec1
    args = parser.parse_args()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    cudnn.benchmark = True

    model = DSCNN(len(KEYWORDS)).cuda()
    frontend = LogMel(args.n_mels).cuda()
    criterion = nn.CrossEntropyLoss().cuda()
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=args.momentum, weight_decay=args.weight_decay, nesterov=True)

    # 16 * 6 + 8: the last batch is smaller
    train_loader = torch.utils.data.DataLoader(SyntheticSpeech(104, True, 0), batch_size=args.batch_size, shuffle=True,
                                               pin_memory=torch.cuda.is_available())
    val_loader = torch.utils.data.DataLoader(SyntheticSpeech(48, False, 1), batch_size=args.batch_size, shuffle=False,
                                             pin_memory=torch.cuda.is_available())
    save_dir = tempfile.mkdtemp()
    for epoch in range(args.epochs):
        adjust_learning_rate(optimizer, epoch)
        train(train_loader, frontend, model, criterion, optimizer, epoch)
        prec1 = validate(val_loader, frontend, model, criterion)
        is_best = prec1 > best_prec1
        best_prec1 = max(prec1, best_prec1)
        save_checkpoint({'epoch': epoch + 1, 'state_dict': model.state_dict(), 'best_prec1': best_prec1,
                         'optimizer': optimizer.state_dict()}, is_best, save_dir)
    shutil.rmtree(save_dir)
    print('best: {:.3f}'.format(best_prec1))


def train(train_loader, frontend, model, criterion, optimizer, epoch):
    batch_time, data_time, losses, top1 = AverageMeter(), AverageMeter(), AverageMeter(), AverageMeter()
    model.train()
    end = time.time()
    for i, (input, target) in enumerate(train_loader):
        data_time.update(time.time() - end)
        target = target.cuda()
        input_var = Variable(input.cuda())
        with torch.no_grad():
            feats = spec_augment(frontend(input_var))
        output = model(feats)
        loss = criterion(output, target)
        prec1, prec3 = accuracy(output.data, target, topk=(1, 3))
        losses.update(loss.item(), input.size(0))
        top1.update(prec1.item(), input.size(0))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batch_time.update(time.time() - end)
        end = time.time()
        if i % args.print_freq == 0:
            print('Epoch: [{0}][{1}/{2}]\tTime {bt.val:.3f} ({bt.avg:.3f})\tData {dt.val:.3f} ({dt.avg:.3f})\t'
                  'Loss {loss.val:.4f} ({loss.avg:.4f})\tPrec@1 {top1.val:.3f} ({top1.avg:.3f})'.format(
                      epoch, i, len(train_loader), bt=batch_time, dt=data_time, loss=losses, top1=top1))


def validate(val_loader, frontend, model, criterion):
    losses, top1, top3 = AverageMeter(), AverageMeter(), AverageMeter()
    model.eval()
    with torch.no_grad():
        for i, (input, target) in enumerate(val_loader):
            target = target.cuda()
            output = model(frontend(input.cuda()))
            prec1, prec3 = accuracy(output, target, topk=(1, 3))
            losses.update(criterion(output, target).item(), input.size(0))
            top1.update(prec1.item(), input.size(0))
            top3.update(prec3.item(), input.size(0))
    print(' * Loss {:.4f} Prec@1 {:.3f} Prec@3 {:.3f}'.format(losses.avg, top1.avg, top3.avg))
    return top1.avg


def save_checkpoint(state, is_best, d, filename='checkpoint.pth.tar'):
    torch.save(state, os.path.join(d, filename))
    if is_best:
        shutil.copyfile(os.path.join(d, filename), os.path.join(d, 'model_best.pth.tar'))


class AverageMeter(object):
    """Computes and stores the average and current value"""
    def __init__(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val, self.sum, self.count = val, self.sum + val * n, self.count + n
        self.avg = self.sum / self.count


def adjust_learning_rate(optimizer, epoch):
    lr = args.lr * (0.3 ** (epoch // 2))
    for param_group in optimizer.param_groups:
        param_group['lr'] = lr


def accuracy(output, target, topk=(1,)):
    _, pred = output.topk(max(topk), 1, True, True)
    correct = pred.t().eq(target.view(1, -1).expand_as(pred.t()))
    return [correct[:k].reshape(-1).float().sum(0).mul_(100.0 / target.size(0)) for k in topk]


if __name__ == '__main__':
    main()

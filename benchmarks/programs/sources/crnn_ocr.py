# ruff: noqa: RUF059, UP004, UP008, UP010, UP031
# CRNN for scene text recognition, the training script I have been carrying around since 0.3.
# lmdb is replaced with words that are drawn when asked for.
from __future__ import print_function

import argparse
import os
import random

import numpy as np
import torch
import torch.backends.cudnn as cudnn
import torch.nn as nn
import torch.optim as optim
import torch.utils.data

parser = argparse.ArgumentParser()
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--batchSize", type=int, default=8)
parser.add_argument("--imgH", type=int, default=16)
parser.add_argument("--nh", type=int, default=32, help="size of the lstm hidden state")
parser.add_argument("--nepoch", type=int, default=2)
parser.add_argument("--lr", type=float, default=1e-3)
parser.add_argument("--beta1", type=float, default=0.5)
parser.add_argument("--alphabet", type=str, default="0123456789abcdef")
parser.add_argument("--expr_dir", default="", help="where to store samples and models")
parser.add_argument("--displayInterval", type=int, default=3)
parser.add_argument("--n_test_disp", type=int, default=1)
parser.add_argument("--valInterval", type=int, default=4)
parser.add_argument("--saveInterval", type=int, default=6)
parser.add_argument("--manualSeed", type=int, default=1234)
opt = parser.parse_args()
print(opt)

random.seed(opt.manualSeed)
np.random.seed(opt.manualSeed)
torch.manual_seed(opt.manualSeed)
cudnn.benchmark = True


class strLabelConverter(object):
    def __init__(self, alphabet):
        self.alphabet = alphabet + "-"  # for the -1 index
        self.dict = {char: i + 1 for i, char in enumerate(alphabet)}

    def encode(self, text):
        if isinstance(text, str):
            text = [self.dict[char] for char in text]
            length = [len(text)]
        else:
            length = [len(s) for s in text]
            text, _ = self.encode("".join(text))
        return (torch.IntTensor(text), torch.IntTensor(length))

    def decode(self, t, length, raw=False):
        if length.numel() == 1:
            length = length[0]
            if raw:
                return "".join([self.alphabet[i - 1] for i in t])
            char_list = []
            for i in range(length):
                if t[i] != 0 and (not (i > 0 and t[i - 1] == t[i])):
                    char_list.append(self.alphabet[t[i] - 1])
            return "".join(char_list)
        texts = []
        index = 0
        for i in range(length.numel()):
            n = length[i]
            texts.append(self.decode(t[index : index + n], torch.IntTensor([n]), raw=raw))
            index += n
        return texts


class averager(object):
    def __init__(self):
        self.reset()

    def add(self, v):
        self.n_count += v.data.numel()
        self.sum += v.data.sum()

    def reset(self):
        self.n_count = 0
        self.sum = 0

    def val(self):
        return self.sum / float(self.n_count) if self.n_count != 0 else 0


class WordDataset(torch.utils.data.Dataset):
    """Each character is a fixed random glyph of 6 columns, with noise."""

    def __init__(self, n, seed):
        rng = np.random.RandomState(seed)
        glyphs = np.random.RandomState(0).rand(len(opt.alphabet), opt.imgH, 6) > 0.5
        self.items = []
        for _ in range(n):
            word = rng.randint(0, len(opt.alphabet), rng.randint(3, 5))
            img = np.concatenate([glyphs[c] for c in word], axis=1).astype(np.float32)
            img += 0.2 * rng.randn(*img.shape).astype(np.float32)
            self.items.append((img, "".join(opt.alphabet[c] for c in word)))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


class alignCollate(object):
    def __init__(self, multiple=4):
        self.multiple = multiple

    def __call__(self, batch):
        images, labels = zip(*batch, strict=True)
        maxW = max(image.shape[1] for image in images)
        maxW = (maxW + self.multiple - 1) // self.multiple * self.multiple
        out = torch.zeros(len(images), 1, opt.imgH, maxW)
        for i, image in enumerate(images):
            out[i, 0, :, : image.shape[1]] = torch.from_numpy(image)
        return out.sub_(0.5).div_(0.5), labels


class BidirectionalLSTM(nn.Module):
    def __init__(self, nIn, nHidden, nOut):
        super(BidirectionalLSTM, self).__init__()
        self.rnn = nn.LSTM(nIn, nHidden, bidirectional=True)
        self.embedding = nn.Linear(nHidden * 2, nOut)

    def forward(self, input):
        recurrent, _ = self.rnn(input)
        T, b, h = recurrent.size()
        return self.embedding(recurrent.view(T * b, h)).view(T, b, -1)


class CRNN(nn.Module):
    def __init__(self, nclass, nh):
        super(CRNN, self).__init__()
        self.cnn = nn.Sequential(
            nn.Conv2d(1, 16, 3, 1, 1), nn.ReLU(True), nn.MaxPool2d(2, 2),
            nn.Conv2d(16, 32, 3, 1, 1), nn.BatchNorm2d(32), nn.ReLU(True), nn.MaxPool2d((2, 1), (2, 1)),
            nn.Conv2d(32, 32, (opt.imgH // 4, 3), 1, (0, 1)), nn.BatchNorm2d(32), nn.ReLU(True),
        )  # fmt: skip
        self.rnn = BidirectionalLSTM(32, nh, nclass)

    def forward(self, input):
        conv = self.cnn(input)
        b, c, h, w = conv.size()
        assert h == 1, "the height of conv must be 1"
        return self.rnn(conv.squeeze(2).permute(2, 0, 1))


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        m.weight.data.normal_(0.0, 0.05)
    elif classname.find("BatchNorm") != -1:
        m.weight.data.normal_(1.0, 0.02)
        m.bias.data.fill_(0)


def make_loader(n, seed, shuffle):
    return torch.utils.data.DataLoader(
        WordDataset(n, seed),
        opt.batchSize,
        shuffle=shuffle,
        num_workers=opt.workers,
        collate_fn=alignCollate(),
    )


converter = strLabelConverter(opt.alphabet)
criterion = nn.CTCLoss(zero_infinity=True)
crnn = CRNN(len(opt.alphabet) + 1, opt.nh)
crnn.apply(weights_init)
crnn.cuda()
criterion = criterion.cuda()
loss_avg = averager()
optimizer = optim.Adam(crnn.parameters(), lr=opt.lr, betas=(opt.beta1, 0.999))
train_loader, test_loader = make_loader(64, 1, True), make_loader(2, 2, False)


def val(net):
    print("Start val")
    net.eval()
    n_correct = 0
    loss_avg = averager()
    with torch.no_grad():
        for cpu_images, cpu_texts in test_loader:
            batch_size = cpu_images.size(0)
            text, length = converter.encode(cpu_texts)
            preds = net(cpu_images.cuda()).log_softmax(2)
            preds_size = torch.IntTensor([preds.size(0)] * batch_size)
            loss_avg.add(criterion(preds, text, preds_size, length))
            _, preds = preds.max(2)
            preds = preds.transpose(1, 0).contiguous().view(-1)
            sim_preds = converter.decode(preds.data, preds_size.data, raw=False)
            for pred, target in zip(sim_preds, cpu_texts, strict=True):
                n_correct += pred == target
    raw_preds = converter.decode(preds.data, preds_size.data, raw=True)[: opt.n_test_disp]
    for raw, pred, gt in zip(raw_preds, sim_preds, cpu_texts, strict=False):
        print("%-20s => %-20s, gt: %-20s" % (raw, pred, gt))
    print("Test loss: %f, accuracy: %f" % (loss_avg.val(), n_correct / float(len(test_loader.dataset))))


def trainBatch(data):
    cpu_images, cpu_texts = data
    batch_size = cpu_images.size(0)
    text, length = converter.encode(cpu_texts)
    preds = crnn(cpu_images.cuda(non_blocking=True)).log_softmax(2)
    preds_size = torch.IntTensor([preds.size(0)] * batch_size)
    cost = criterion(preds, text, preds_size, length)
    crnn.zero_grad()
    cost.backward()
    optimizer.step()
    return cost


for epoch in range(opt.nepoch):
    for i, data in enumerate(train_loader, 1):
        crnn.train()
        cost = trainBatch(data)
        loss_avg.add(cost)
        if i % opt.displayInterval == 0:
            print("[%d/%d][%d/%d] Loss: %f" % (epoch, opt.nepoch, i, len(train_loader), loss_avg.val()))
            loss_avg.reset()
        if i % opt.valInterval == 0:
            val(crnn)
        if opt.expr_dir and i % opt.saveInterval == 0:
            torch.save(crnn.state_dict(), os.path.join(opt.expr_dir, "netCRNN_%d_%d.pth" % (epoch, i)))  # noqa: PTH118

"""Waveform denoising with a small Demucs-like network and a multi-resolution STFT loss."""

import argparse
import itertools
import math
import os
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.backends.cudnn.benchmark = True


class AttrDict(dict):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.__dict__ = self


CONFIG = AttrDict(
    batch_size=4,
    learning_rate=5e-4,
    adam_b1=0.8,
    adam_b2=0.99,
    lr_decay=0.98,
    seed=1234,
    segment_size=512,
    sampling_rate=8000,
    hidden=8,
    depth=3,
    kernel_size=8,
    stride=4,
    resolutions=[(64, 16, 64), (128, 32, 128), (256, 64, 200)],
)


class NoisySpeech(Dataset):
    """Harmonic tones with an envelope, under noise of a random level; whole utterances unless `split`."""

    def __init__(self, n, h, split, seed):
        self.h, self.split = h, split
        rng = np.random.default_rng(seed)
        self.pairs = []
        for _ in range(n):
            length = int(rng.integers(500, 800))
            t = np.arange(length) / h.sampling_rate
            f0 = rng.uniform(90, 250) * (1 + 0.05 * np.sin(2 * np.pi * 3 * t))
            phase = 2 * np.pi * np.cumsum(f0) / h.sampling_rate
            clean = sum(np.sin(k * phase) / k for k in range(1, 6)) * (np.sin(2 * np.pi * 4 * t) > -0.3)
            noise = rng.standard_normal(length) * clean.std() * 10 ** (-rng.uniform(0, 10) / 20)
            scale = 0.95 / np.abs(clean + noise).max()
            self.pairs.append(
                ((clean * scale).astype(np.float32), ((clean + noise) * scale).astype(np.float32))
            )

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, index):
        clean, noisy = (torch.from_numpy(x) for x in self.pairs[index])
        if self.split:
            if clean.size(0) >= self.h.segment_size:
                start = int(torch.randint(0, clean.size(0) - self.h.segment_size + 1, (1,)))
                clean = clean[start : start + self.h.segment_size]
                noisy = noisy[start : start + self.h.segment_size]
            else:
                pad = self.h.segment_size - clean.size(0)
                clean, noisy = F.pad(clean, (0, pad)), F.pad(noisy, (0, pad))
        return clean, noisy


hann_windows = {}


def stft_magnitude(x, n_fft, hop, win):
    key = f"{win}_{x.device}"
    if key not in hann_windows:
        hann_windows[key] = torch.hann_window(win).to(x.device)
    spec = torch.stft(x, n_fft, hop, win, hann_windows[key], center=True, return_complex=True)
    return torch.sqrt(spec.real.pow(2) + spec.imag.pow(2) + 1e-7)


class MultiResolutionSTFTLoss(nn.Module):
    def __init__(self, resolutions, factor_sc=0.5, factor_mag=0.5):
        super().__init__()
        self.resolutions, self.factor_sc, self.factor_mag = resolutions, factor_sc, factor_mag

    def forward(self, x, y):
        sc_loss, mag_loss = 0.0, 0.0
        for n_fft, hop, win in self.resolutions:
            x_mag, y_mag = stft_magnitude(x, n_fft, hop, win), stft_magnitude(y, n_fft, hop, win)
            sc_loss += torch.norm(y_mag - x_mag, p="fro") / torch.norm(y_mag, p="fro")
            mag_loss += F.l1_loss(torch.log(x_mag), torch.log(y_mag))
        n = len(self.resolutions)
        return self.factor_sc * sc_loss / n, self.factor_mag * mag_loss / n


class WaveUNet(nn.Module):
    """Strided encoder, LSTM, transposed decoder with skips, all on the normalised waveform."""

    def __init__(self, h):
        super().__init__()
        self.h = h
        self.encoder, self.decoder = nn.ModuleList(), nn.ModuleList()
        chin, hidden = 1, h.hidden
        for index in range(h.depth):
            self.encoder.append(
                nn.Sequential(
                    nn.Conv1d(chin, hidden, h.kernel_size, h.stride), nn.ReLU(),
                    nn.Conv1d(hidden, 2 * hidden, 1), nn.GLU(1),
                )
            )  # fmt: skip
            decode = [nn.Conv1d(hidden, 2 * hidden, 1), nn.GLU(1)]
            decode.append(nn.ConvTranspose1d(hidden, chin, h.kernel_size, h.stride))
            if index > 0:
                decode.append(nn.ReLU())
            self.decoder.insert(0, nn.Sequential(*decode))
            chin, hidden = hidden, 2 * hidden
        self.lstm = nn.LSTM(chin, chin)

    def valid_length(self, length):
        for _ in range(self.h.depth):
            length = max(math.ceil((length - self.h.kernel_size) / self.h.stride) + 1, 1)
        for _ in range(self.h.depth):
            length = (length - 1) * self.h.stride + self.h.kernel_size
        return length

    def forward(self, wav):
        length = wav.shape[-1]
        std = wav.std(dim=-1, keepdim=True)
        x = (wav / (1e-3 + std)).unsqueeze(1)
        x = F.pad(x, (0, self.valid_length(length) - length))
        skips = []
        for encode in self.encoder:
            x = encode(x)
            skips.append(x)
        x, _ = self.lstm(x.permute(2, 0, 1))
        x = x.permute(1, 2, 0)
        for decode in self.decoder:
            skip = skips.pop(-1)
            x = decode(x + skip[..., : x.shape[-1]])
        return x[:, 0, :length] * std


def si_sdr(estimate, reference, eps=1e-8):
    estimate, reference = estimate - estimate.mean(-1, True), reference - reference.mean(-1, True)
    alpha = (estimate * reference).sum(-1, True) / (reference.pow(2).sum(-1, True) + eps)
    target = alpha * reference
    return 10 * torch.log10(target.pow(2).sum(-1) / ((estimate - target).pow(2).sum(-1) + eps) + eps)


def segmental_snr(estimate, reference, frame=256):
    """numpy, as scored by the challenge."""
    scores = []
    for start in range(0, len(reference) - frame, frame):
        s = reference[start : start + frame]
        e = s - estimate[start : start + frame]
        scores.append(np.clip(10 * np.log10((s**2).sum() / ((e**2).sum() + 1e-8) + 1e-8), -10, 35))
    return float(np.mean(scores))


def save_checkpoint(filepath, obj):
    print(f"Saving checkpoint to {filepath}")
    torch.save(obj, filepath)


def validate(generator, mrstft, loader, device):
    generator.eval()
    torch.cuda.empty_cache()
    err, sdr, ssnr = 0.0, [], []
    with torch.no_grad():
        for clean, noisy in loader:
            clean, noisy = clean.to(device), noisy.to(device)
            enhanced = generator(noisy)
            sc, mag = mrstft(enhanced, clean)
            err += (sc + mag).item()
            sdr.append(si_sdr(enhanced, clean))
            ssnr.append(segmental_snr(enhanced[0].cpu().numpy(), clean[0].cpu().numpy()))
    generator.train()
    return err / len(loader), torch.cat(sdr).mean().item(), float(np.mean(ssnr))


def train(rank, a, h):
    torch.cuda.set_device(rank)
    torch.cuda.manual_seed(h.seed)
    device = torch.device(f"cuda:{rank:d}")
    generator = WaveUNet(h).to(device)
    print(f"Total Parameters: {sum(p.numel() for p in generator.parameters()) / 1e3:.1f}K")
    mrstft = MultiResolutionSTFTLoss(h.resolutions).to(device)
    optim_g = torch.optim.AdamW(generator.parameters(), h.learning_rate, betas=[h.adam_b1, h.adam_b2])
    scheduler_g = torch.optim.lr_scheduler.ExponentialLR(optim_g, gamma=h.lr_decay)
    train_loader = DataLoader(NoisySpeech(24, h, True, 1), h.batch_size, shuffle=True, pin_memory=True)
    valid_loader = DataLoader(NoisySpeech(2, h, False, 2), 1, shuffle=False)
    steps, best_sdr = 0, -np.inf
    generator.train()
    for epoch in itertools.count():
        if steps >= a.training_steps:
            break
        start = time.time()
        for batch in train_loader:
            start_b = time.time()
            clean, noisy = batch
            clean = clean.to(device, non_blocking=True)
            noisy = noisy.to(device, non_blocking=True)

            optim_g.zero_grad()
            enhanced = generator(noisy)
            loss_sc, loss_mag = mrstft(enhanced, clean)
            loss_time = F.l1_loss(enhanced, clean)
            loss_all = loss_sc + loss_mag + 10 * loss_time
            if not torch.isfinite(loss_all):
                print(f"skipping step {steps}: loss is {loss_all}")
                continue
            loss_all.backward()
            grad_norm = nn.utils.clip_grad_norm_(generator.parameters(), a.grad_clip)
            optim_g.step()

            if steps % a.stdout_interval == 0:
                with torch.no_grad():
                    time_error = F.l1_loss(enhanced, clean).item()
                print(
                    f"Steps : {steps:d}, Gen Loss: {loss_all:4.3f}, Time Loss : {time_error:4.3f}, "
                    f"grad : {grad_norm:.2f}, s/b : {time.time() - start_b:4.3f}"
                )
            steps += 1
            if steps % a.validation_interval == 0:
                val_err, sdr, ssnr = validate(generator, mrstft, valid_loader, device)
                print(f"Steps : {steps:d}, Val Loss: {val_err:.3f}, SI-SDR: {sdr:.2f}, SSNR: {ssnr:.2f}")
                if sdr > best_sdr:
                    best_sdr = sdr
                    if a.checkpoint_path:
                        path = os.path.join(a.checkpoint_path, f"g_{steps:08d}")  # noqa: PTH118
                        save_checkpoint(path, {"generator": generator.state_dict()})
            if steps >= a.training_steps:
                break
        scheduler_g.step()
        print(f"Time taken for epoch {epoch + 1} is {int(time.time() - start)} sec\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint_path", default="")
    parser.add_argument("--training_steps", default=12, type=int)
    parser.add_argument("--stdout_interval", default=4, type=int)
    parser.add_argument("--validation_interval", default=6, type=int)
    parser.add_argument("--grad_clip", default=5.0, type=float)
    a = parser.parse_args()
    torch.manual_seed(CONFIG.seed)
    if not torch.cuda.is_available():
        raise SystemExit("needs a GPU")
    train(0, a, CONFIG)


if __name__ == "__main__":
    main()

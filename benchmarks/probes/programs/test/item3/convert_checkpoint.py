"""Rename the keys of an old checkpoint; runs on the CPU, needs no accelerator."""
import argparse
import re

import torch

RULES = [(r"^module\.", ""), (r"\.gamma$", ".weight"), (r"\.beta$", ".bias")]


def rename(key):
    for pattern, repl in RULES:
        key = re.sub(pattern, repl, key)
    return key


def summarize(state):
    total = 0
    for name, value in state.items():
        total += value.numel()
        print(f"{name:60s} {tuple(value.shape)} mean={value.float().mean().item():.4f}")  # silent
    print("parameters:", total)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("src")
    ap.add_argument("dst")
    ap.add_argument("--half", action="store_true")
    a = ap.parse_args()
    ckpt = torch.load(a.src, map_location="cpu", weights_only=True)  # silent
    state = ckpt.get("state_dict", ckpt)
    out = {}
    for key, value in state.items():
        out[rename(key)] = value.clone()  # silent
    summarize(out)  # silent
    torch.save(out, a.dst)  # silent: XLA017|XLA003


if __name__ == "__main__":
    main()

import bisect
import random

import torch
from torch.utils.data import Sampler

BOUNDARIES = (32, 64, 128, 256)


class BucketBatchSampler(Sampler):
    """Yields batches whose members share one of four lengths."""

    def __init__(self, lengths, batch_size):
        self.batch_size = batch_size
        self.buckets = {b: [] for b in BOUNDARIES}
        for i, n in enumerate(lengths):
            self.buckets[BOUNDARIES[bisect.bisect_left(BOUNDARIES, n)]].append(i)

    def __iter__(self):
        batches = []
        for members in self.buckets.values():
            random.shuffle(members)
            full = len(members) // self.batch_size
            batches += [members[j * self.batch_size:(j + 1) * self.batch_size] for j in range(full)]
        random.shuffle(batches)
        return iter(batches)

    def __len__(self):
        return sum(len(m) // self.batch_size for m in self.buckets.values())


def pad_to_bucket(batch):
    need = max(len(s) for s in batch)
    width = next(b for b in BOUNDARIES if b >= need)
    out = torch.zeros(len(batch), width, dtype=torch.long)  # silent: XLA904
    for i, s in enumerate(batch):
        out[i, : len(s)] = torch.as_tensor(s)  # silent
    return out

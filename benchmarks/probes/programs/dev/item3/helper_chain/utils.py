import random

import numpy as np
import torch


def seed_all(seed):
    random.seed(seed)
    np.random.seed(seed)


def get_device():
    if torch.cuda.is_available():  # expect@a: XLA003|XLA001
        return torch.device("cuda:0")  # expect@a: XLA003|XLA001
    if getattr(torch.backends, "mps", None) is not None and torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")  # expect@a: XLA003

from typing import List

import torch
from torch import Tensor


class NestedTensor:
    def __init__(self, tensors, mask):
        self.tensors = tensors
        self.mask = mask

    def to(self, device):
        return NestedTensor(self.tensors.to(device), self.mask.to(device))


def max_by_axis(sizes):
    maxes = list(sizes[0])
    for size in sizes[1:]:
        for i, n in enumerate(size):
            maxes[i] = max(maxes[i], n)
    return maxes


def nested_tensor_from_tensor_list(tensor_list: List[Tensor]):
    max_size = max_by_axis([list(img.shape) for img in tensor_list])  # expect@a: XLA904
    b, c, h, w = [len(tensor_list)] + max_size
    tensor = torch.zeros((b, c, h, w), dtype=tensor_list[0].dtype)  # expect@a: XLA904
    mask = torch.ones((b, h, w), dtype=torch.bool)  # expect@a: XLA904
    for img, pad_img, m in zip(tensor_list, tensor, mask):
        pad_img[: img.shape[0], : img.shape[1], : img.shape[2]].copy_(img)
        m[: img.shape[1], : img.shape[2]] = False
    return NestedTensor(tensor, mask)


def collate_fn(batch):
    images, labels = list(zip(*batch))
    return nested_tensor_from_tensor_list(images), torch.stack(labels)  # expect@a: XLA904

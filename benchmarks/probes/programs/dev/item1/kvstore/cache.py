import torch


class KeyValueStore:
    """Holds keys and values of each layer during decoding."""

    def __init__(self):
        self.keys = []
        self.values = []

    def __len__(self):
        return len(self.keys)

    def seq_length(self, layer=0):
        return 0 if layer >= len(self.keys) else self.keys[layer].shape[-2]

    def extend(self, layer, k, v):
        if layer >= len(self.keys):
            self.keys.append(k)
            self.values.append(v)
        else:
            self.keys[layer] = torch.cat([self.keys[layer], k], dim=-2)  # expect: XLA302
            self.values[layer] = torch.cat([self.values[layer], v], dim=-2)  # expect: XLA302
        return self.keys[layer], self.values[layer]

import torch
from torch.utils.data import DataLoader, Dataset


class Utterances(Dataset):
    def __init__(self, manifest):
        self.manifest = manifest

    def __len__(self):
        return len(self.manifest)

    def __getitem__(self, idx):
        seconds, label = self.manifest[idx]
        return torch.randn(int(seconds * 100), 80), label


class PadCollate:
    def __init__(self, pad_value=0.0):
        self.pad_value = pad_value

    def __call__(self, items):
        feats, labels = zip(*items)
        lengths = torch.tensor([f.size(0) for f in feats])
        padded = torch.full((len(feats), int(lengths.max()), 80), self.pad_value)  # expect@a: XLA904
        for i, f in enumerate(feats):
            padded[i, : f.size(0)] = f
        return padded, lengths, torch.tensor(labels)


def make_loader(manifest, cfg, train):
    options = dict(batch_size=cfg["batch_size"], shuffle=train, drop_last=train, collate_fn=PadCollate())  # expect@a: XLA904
    if cfg.get("workers"):
        options.update(num_workers=cfg["workers"], persistent_workers=True)
    return DataLoader(Utterances(manifest), **options)  # expect@a: XLA904

"""Models that a class method of another module makes, from parts that a third module defines."""

from __future__ import annotations

from pathlib import Path

from xlamig import engine
from xlamig.engine import Options

DECODER = """import torch
from torch import nn

class Decoder(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.table = nn.Embedding(10, n)
        self.out = nn.Linear(n, 10)

    def search(self, h):
        tokens = torch.ones(1, 1).type_as(h).long()
        for _ in range(20):
            best = self.out(self.table(tokens)[:, -1] + h[-1]).topk(3, dim=1)[1]
            tokens = torch.ones(1, 1).fill_(int(best[0, 0])).type_as(h).long()
        return tokens
"""
NET = """import torch
from torch import nn
from decoder import Decoder

class Net(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def recognize(self, x):
        return self.decoder.search(self.encoder(x))

    @classmethod
    def load(cls, path):
        package = torch.load(path, map_location="cpu")
        model = cls(nn.Linear(package["n"], 8), Decoder(8))
        model.load_state_dict(package["state"])
        return model, package["n"]
"""
MAIN = """import torch
from net import Net

def main(path, batches):
    model, n = Net.load(path)
    model.cuda()
    out = {}
    with torch.no_grad():
        for name in batches:
            x = torch.from_numpy(batches[name]).cuda()
            out[name] = model.recognize(x)
    print(out)

if __name__ == "__main__":
    main("a", {})
"""


def codes(folder: Path, decoder: str) -> list[tuple[str, str]]:
    for name, text in {"decoder": decoder, "net": NET, "main": MAIN}.items():
        (folder / f"{name}.py").write_text(text)
    select = {"select": ["XLA101", "XLA402"]}
    report = engine.check([folder], Options(select, isolated=True, jobs=1, cache=False))
    return [(finding.code, Path(finding.filename).name) for finding in report.findings]


def test_reads_of_a_part_that_the_class_method_passes(tmp_path: Path) -> None:
    assert codes(tmp_path, DECODER) == [("XLA101", "decoder.py")]


def test_a_part_that_reads_nothing_leaves_the_loop_without_an_end(tmp_path: Path) -> None:
    silent = DECODER.replace("torch.ones(1, 1).fill_(int(best[0, 0])).type_as(h).long()", "best[:, :1]")
    assert {code for code, _ in codes(tmp_path, silent)} == {"XLA402"}

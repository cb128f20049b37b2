"""A device that a program reads from a YAML file which says CUDA is reported where it is used."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine
from xlamig.engine import Options

TRAIN = """import torch
import yaml

with open("conf/base.yaml") as file:
    cfg = yaml.safe_load(file)
model = torch.nn.Linear(4, 2)
batch = {{"device": 1}}
{line}
"""
OPTIONS = Options({"select": ["XLA001"]}, isolated=True, jobs=1, cache=False)
CUDA = "model:\n  width: 8\ntrain:\n  device: cuda  # or cpu\n"
READS = 'device = torch.device(cfg["train"]["device"])'


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fixed(line: str, settings: str = CUDA, name: str = "conf/base.yaml") -> list[str]:
    """Return the lines that fixing writes instead of `line`; none may be reported after that."""
    text = TRAIN.format(line=line)
    write({"train.py": text, name: settings}, Path())
    assert not engine.fix([Path()], OPTIONS, frozenset({"safe"}), write=False).files
    outcome = engine.fix([Path()], OPTIONS, frozenset({"safe", "unsafe"}), write=True)
    assert [f.code for f in outcome.after.findings] == []
    new = Path("train.py").read_text().splitlines()
    return [one for one in new if one not in text.splitlines() and "import" not in one]


@pytest.mark.parametrize(
    ("line", "settings", "name"),
    [
        (READS, "train:\n  device: cpu\n", "conf/base.yaml"),
        (READS, "# device: cuda\ntrain:\n  name: device: cuda\n", "conf/base.yaml"),
        (READS, "train:\n  device: cuda:3\n", "conf/base.yaml"),
        (READS, CUDA, "conf/base.txt"),
        (
            'device = torch.device(cfg["train"]["device"] if torch.cuda.is_available() else "cpu")',
            CUDA,
            "a.yaml",
        ),
        ('cfg["train"]["device"] = "cpu"\n' + READS, CUDA, "a.yaml"),
        ('print(cfg["train"]["device"])', CUDA, "a.yaml"),
        ("device = torch.device(model.device)", CUDA, "a.yaml"),
        ('if cfg["train"]["device"] == "cuda":\n    print(1)', CUDA, "a.yaml"),
    ],
)
def test_leaves_other_values(line: str, settings: str, name: str) -> None:
    assert fixed(line, settings, name) == []


@pytest.mark.parametrize(
    ("line", "setting", "other"),
    [
        (READS, 'cfg["train"]["device"]', 'torch.device(cfg["train"]["device"])'),
        ("device = torch.device(cfg.train.device)", "cfg.train.device", "torch.device(cfg.train.device)"),
        ('model.to(cfg["train"].get("device"))', 'cfg["train"].get("device")', 'cfg["train"].get("device")'),
        ('device = cfg["train"]["device"]', 'cfg["train"]["device"]', 'cfg["train"]["device"]'),
    ],
)
def test_takes_the_device_of_the_program(line: str, setting: str, other: str) -> None:
    chosen = f'default_device({setting}) if torch.device({setting}).type == "cuda" else {other}'
    assert fixed(line) == [line.replace(other, chosen)]


def test_a_program_that_chooses_the_device_itself_is_silent() -> None:
    write({"train.py": TRAIN.format(line='device = torch.device("cpu")'), "conf/base.yaml": CUDA}, Path())
    assert not engine.check([Path()], OPTIONS).findings

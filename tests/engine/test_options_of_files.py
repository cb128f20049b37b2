"""Entries that no module gives a value have those that settings files give them."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

TRAIN = """import configparser, json, sys, torch, yaml
{before}
for step in range(9):
    x = torch.ones(2)
    if {test}:
        x = x.cuda()
    print(x)
"""
LOADED = "cfg = yaml.safe_load(open(sys.argv[1]))"
SECTION = f"{LOADED}\ntc = cfg['train']"


def severity(folder: Path, before: str, test: str, files: dict[str, str]) -> str:
    write({"train.py": TRAIN.format(before=before, test=test), **files}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    (found,) = engine.check([folder], options).findings
    return found.severity


@pytest.mark.parametrize(
    ("before", "test", "files"),
    [
        (LOADED, "cfg['cutout']", {"a.yaml": "cutout: false\n"}),
        (LOADED, "cfg['train']['cutout']", {"a.yaml": "train: {steps: 3, cutout: false}\n"}),
        (LOADED, "cfg.train.cutout > 0", {"a.yaml": "train:\n  cutout: 0.0\n"}),
        (LOADED, "cfg['kind'] == 'noisy'", {"a.yaml": "kind: plain\n"}),
        (SECTION, "tc['cutout'] and x.sum() > 0", {"conf/a.json": '{"train": {"cutout": false}}'}),
        (LOADED, "cfg['cutout']", {"experiments/a.json": '{"cutout": false}'}),
        (LOADED, "cfg['cutout']", {"options/a.toml": "[train]\ncutout = false\n"}),
        (
            "ini = configparser.ConfigParser()\nini.read(sys.argv[1])\nt = ini['train']",
            "t.getboolean('cutout')",
            {"a.ini": "[train]\ncutout = no\n"},
        ),
        (f"{LOADED}\ncutout = cfg['cutout']", "cutout", {"a.yaml": "cutout: false\n"}),
    ],
)
def test_settings_that_every_file_leaves_off_keep_code_off(
    tmp_path: Path, before: str, test: str, files: dict[str, str]
) -> None:
    assert severity(tmp_path, before, test, files) == "info"


@pytest.mark.parametrize(
    ("before", "test", "files"),
    [
        (LOADED, "cfg['cutout']", {}),
        (LOADED, "cfg['cutout']", {"a.yaml": "cutout: true\n"}),
        (LOADED, "not cfg['cutout']", {"a.yaml": "cutout: false\n"}),
        (LOADED, "cfg['cutout']", {"a.yaml": "cutout: false\n", "b.yaml": "cutout: true\n"}),
        (LOADED, "cfg['cutout']", {"a.yaml": "cutout: false\n", "run.sh": "python train.py cutout=true\n"}),
        (LOADED, "cfg['cutout']", {"a.yaml": "cutout: null\n"}),
        (f"{LOADED}\ncfg['cutout'] = len(sys.argv) > 2", "cfg['cutout']", {"a.yaml": "cutout: false\n"}),
        (LOADED, "cfg['kind'] == 'noisy'", {"a.yaml": "kind: plain\n", "b.yaml": "kind: noisy\n"}),
        (LOADED, "cfg['train']", {"a.yaml": "train: false\n"}),  # a way to run the program
        ("batch = json.load(open('data.json'))", "batch['iscrowd']", {"a.json": '{"iscrowd": 0}'}),
        (f"{LOADED}\nfor b in data: use(1 if b['crowd'] else 0)", "cfg['crowd']", {"a.yaml": "crowd: 0"}),
    ],
)  # fmt: skip
def test_what_a_file_turns_on_and_data_of_that_name_is_listed(
    tmp_path: Path, before: str, test: str, files: dict[str, str]
) -> None:
    assert severity(tmp_path, before, test, files) == "error"

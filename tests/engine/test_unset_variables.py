"""Code that waits for a variable of the environment which nothing sets is reported as such."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

TRAIN = """import os
import torch
{before}
for step in range(9):
    x = torch.ones(2)
    if {test}:
        x = x.cuda()
    print(x)
"""
HELPER = "def flag(name, default='0'):\n    return os.environ.get(name, default) not in ('0', '', 'false')\n"


def severity(folder: Path, before: str, test: str, files: dict[str, str]) -> str:
    write({"train.py": TRAIN.format(before=before, test=test), **files}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    (found,) = engine.check([folder], options).findings
    return found.severity


@pytest.mark.parametrize(
    ("before", "test"),
    [
        ("", "os.environ.get('SHOW_ALL')"),
        ("", "os.getenv('SHOW_ALL') == 'twice'"),
        ("", "int(os.environ.get('SHOW_ALL', '0')) and x.sum() > 0"),
        ("", "'SHOW_ALL' in os.environ"),
        ("show = os.environ.get('SHOW_ALL', '0') == '1'", "show"),
        ("show = os.environ.get('SHOW_ALL', 'false').lower() in ('1', 'true')", "show"),
        ("show = os.environ.get('SHOW_ALL') is not None", "show"),
        ("show = 'SHOW_ALL' in os.environ", "show"),
        (f"{HELPER}show = flag('SHOW_ALL')", "show"),
        (f"{HELPER}SHOW_ALL = flag('SHOW_ALL')", "SHOW_ALL and step > 3"),
    ],
)
def test_a_variable_that_nothing_sets_keeps_code_off(tmp_path: Path, before: str, test: str) -> None:
    assert severity(tmp_path, before, test, {}) == "info"


@pytest.mark.parametrize(
    ("before", "test", "files"),
    [
        ("show = os.environ.get('SHOW_ALL', '1') == '1'", "show", {}),
        (f"{HELPER}show = flag('SHOW_ALL', '1')", "show", {}),
        ("show = 'SHOW_ALL' not in os.environ", "show", {}),
        ("", "os.environ['SHOW_ALL']", {}),
        ("show = os.environ.get('SHOW_ALL')", "show", {"run.sh": "SHOW_ALL=1 python train.py\n"}),
        ("show = os.environ.get('SHOW_ALL')", "show", {"README.md": "Set `SHOW_ALL` to see all\n"}),
        ("os.environ['SHOW_ALL'] = '1'\nshow = os.environ.get('SHOW_ALL')", "show", {}),
        ("show = os.environ.get('SHOW_ALL')", "show", {"a.py": "run(env={'SHOW_ALL': '1'})\n"}),
        ("show = os.environ.get('SHOW_ALL')\nshow = show or ask()", "show", {}),
        ("many = int(os.environ.get('WORLD_SIZE', '1')) > 1", "many", {}),  # a launcher sets it
        ("", "os.environ.get('LOCAL_RANK')", {}),
    ],
)
def test_a_variable_that_something_may_set_is_listed(
    tmp_path: Path, before: str, test: str, files: dict[str, str]
) -> None:
    assert severity(tmp_path, before, test, files) == "error"

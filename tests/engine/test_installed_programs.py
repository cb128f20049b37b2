"""Options and callers keep code off in a package as well, unless others import it."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

FILES = {
    "setup.py": "from setuptools import setup\nsetup(name='net', author='A', url='u')\n",
    "net/__init__.py": "",
    "net/util.py": "import torch\ndef norm(x):\n    return x.cuda()\ndef unused(x):\n    return x.cuda()\n",
    "net/train.py": """import argparse, torch
from net.util import norm
parser = argparse.ArgumentParser()
parser.add_argument('--clip', action='store_false', default=True)
if __name__ == "__main__":
    args = parser.parse_args()
    x = torch.ones(2)
    if not args.clip:
        norm(x)
""",
    "README.md": "Run `pip install -e .`, then `python net/train.py`.\nWe import nets from others.\n",
}


def severities(folder: Path, files: dict[str, str]) -> list[str]:
    """Return the severities of the findings in what an option keeps off and in what nothing uses."""
    write({**FILES, **files}, folder)
    options = engine.Options({"select": ["XLA002"]}, isolated=True, jobs=1, cache=False)
    return [f.severity for f in engine.check([folder], options).findings if f.filename.endswith("util.py")]


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": ">>> import net\n"},
        {"README.md": "Run `pip install net`.\n"},
        {"README.md": "pip install git+https://github.com/us/Net.git\n"},
        {"docs/conf.py": "project = 'net'\n"},
    ],
)
def test_lists_what_others_may_use(tmp_path: Path, files: dict[str, str]) -> None:
    assert severities(tmp_path, files) == ["error", "error"]


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": "```python\nfrom net.util import norm\n```\n"},
        {"net/train.py": FILES["net/train.py"].replace("'store_false', default=True", "'store_true'")},
        {"README.md": FILES["README.md"] + "Use `--clip` to clip nothing.\n"},
    ],
)
def test_lists_what_the_program_or_a_page_uses(tmp_path: Path, files: dict[str, str]) -> None:
    assert severities(tmp_path, files) == ["error"]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"README.md": "Run `pip install -e ./net`, or `pip install netron`.\n"},
        {"README.md": "We import net weights.\n"},
        {"docs/README.md": "Pages.\n"},
        {"net/util.py": FILES["net/util.py"] + "def total(x):\n    return norm(x).sum()\n"},  # unused too
    ],
)
def test_lowers_what_an_option_of_a_program_keeps_off(tmp_path: Path, files: dict[str, str]) -> None:
    assert severities(tmp_path, files) == ["info"]


@pytest.mark.parametrize(("body", "expected"), [("train(1)", ["info"]), ("print(1)", ["error", "error"])])
def test_a_script_runs_torch_through_what_it_imports(tmp_path: Path, body: str, expected: list[str]) -> None:
    main = (
        f'{"from net.loop import train" if "train" in body else ""}\nif __name__ == "__main__":\n    {body}\n'
    )
    loop = FILES["net/train.py"].replace('if __name__ == "__main__":', "def train(n):")
    files = {"net/train.py": "", "net/loop.py": loop, "run.py": main}
    assert severities(tmp_path, files) == expected

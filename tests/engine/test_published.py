"""Packages that others install, against those that a program only installs for itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xlamig import engine
from xlamig.engine import Options

CUDA = "import torch\ndef f():\n    return torch.ones(2).cuda()\n"
BUILD = "from setuptools import setup\nsetup(name='fine-net')\n"
FILES = {
    "setup.py": BUILD,
    "finenet/__init__.py": "",
    "finenet/model.py": CUDA,
    "finenet/old.py": CUDA,
    "train.py": 'import torch\nfrom finenet import model\nif __name__ == "__main__":\n    model.f().cuda()\n',
}


def listed(folder: Path, files: dict[str, str], **settings: Any) -> set[str]:
    for name, text in {**FILES, **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    options = Options({"select": ["XLA002"], **settings}, isolated=True, jobs=1, cache=False)
    report = engine.check([folder], options)
    return {Path(finding.filename).name for finding in report.findings}


@pytest.mark.parametrize(
    "files",
    [
        {},  # no page says anything
        {"README.md": "Run `pip install fine-net`.\n"},
        {"README.md": "Run `pip install -U 'fine_net[all]'`.\n"},
        {"README.md": "$ pip install git+https://example.org/somebody/finenet.git\n"},
        {"README.md": "Run it.\n", "docs/start.rst": "    conda install -c forge fine-net\n"},
        {"README.rst": ".. image:: https://badges.example/pypi/v/fine-net.svg\n"},
        {
            "README.md": "Run `pip install .`\n",
            "finenet/README.md": "`uv add fine-net`\n",
            "finenet/setup.py": BUILD,
        },
    ],
)
def test_lists_all_modules_of_a_package_that_others_install(tmp_path: Path, files: dict[str, str]) -> None:
    assert {"model.py", "old.py", "train.py"} <= listed(tmp_path, files)


@pytest.mark.parametrize(
    "page",
    [
        "Run `pip install -e .`, then `python train.py`.\n",
        "Run `python setup.py develop`.\n",
        "pip install -r requirements.txt\npip install fine-net-tools other\n",
        "Install finenet from this repository: it is on no index.\n",
        "pip install " * 2_000,  # read in one pass
    ],
)
def test_leaves_out_what_only_a_package_for_its_own_scripts_holds(tmp_path: Path, page: str) -> None:
    assert listed(tmp_path, {"README.md": page}) == {"model.py", "train.py"}
    assert "old.py" in listed(tmp_path, {}, **{"include-unused": True})


def test_reads_a_project_inside_another_with_the_pages_around_it(tmp_path: Path) -> None:
    copied = {f"suite/{name}": text for name, text in FILES.items() if name != "train.py"}
    files = {**copied, "README.md": "Run `sh evaluate.sh`\n", "run.py": "import torch\nimport train\n"}
    (tmp_path / "setup.py").unlink(missing_ok=True)
    assert listed(tmp_path, files) == {"model.py", "train.py"}

"""Where the helper goes in projects of several shapes, and that its import works as the project starts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from xlamig import engine

DEVICE = 'device = "cuda" if torch.cuda.is_available() else "cpu"\n'
SCRIPT = f"import torch\n{DEVICE}\nif __name__ == '__main__':\n    print(device)\n"
LIBRARY = "import torch\n\n\ndef pick():\n    return 'cuda' if torch.cuda.is_available() else 'cpu'\n"


def fix(root: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The helpers that fixing a project makes."""
    for name, text in {"pyproject.toml": "", **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(root)
    options = engine.Options(
        {"select": ["XLA003"], "include-tests": True}, isolated=True, jobs=1, cache=False
    )
    outcome = engine.fix([Path()], options, frozenset({"safe"}), write=True)
    assert not outcome.problems
    assert not engine.fix([Path()], options, frozenset({"safe"}), write=True).files
    return {f.filename for f in outcome.created}


def starts(root: Path, *arguments: str) -> None:
    """Python runs it, with a stand-in for torch."""
    stand_in = root / "stand_in" / "torch"
    stand_in.mkdir(parents=True, exist_ok=True)
    (stand_in / "__init__.py").write_text(
        "class device(str):\n    type = 'cpu'\nclass cuda:\n    is_available = staticmethod(lambda: False)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(stand_in.parent), "PJRT_DEVICE": ""}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def reads(root: Path, name: str) -> str:
    return (root / name).read_text()


def test_scripts_that_are_started_as_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "README.md": "Run `python -m scripts.train --depth 4`.\n",
        "core/__init__.py": "",
        "core/common.py": LIBRARY,
        "core/data.py": LIBRARY,
        "scripts/train.py": "import os\nos.environ['A'] = '1'\nimport torch\n"
        f"from core.common import pick\n{DEVICE}",
        "scripts/other.py": SCRIPT,
    }
    assert fix(tmp_path, files, monkeypatch) == {"core/xla_compat.py"}
    train = reads(tmp_path, "scripts/train.py")
    assert train.index("environ['A']") < train.index("from core.xla_compat import default_device")
    assert "def default_device(" in reads(tmp_path, "scripts/other.py")
    starts(tmp_path, "-m", "scripts.train")
    starts(tmp_path, "-m", "scripts.other")


def test_a_folder_of_scripts_that_import_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"main.py": f"import torch\nimport tools\n{DEVICE}", "tools.py": LIBRARY, "other.py": SCRIPT}
    assert fix(tmp_path, files, monkeypatch) == {"xla_compat.py"}
    starts(tmp_path, "main.py")


def test_examples_in_many_folders_get_no_helpers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {f"{name}/main.py": SCRIPT for name in ("mnist", "vae", "gan")}
    assert fix(tmp_path, files, monkeypatch) == set()
    assert "def default_device(" in reads(tmp_path, "vae/main.py")
    starts(tmp_path, "mnist/main.py")


@pytest.mark.parametrize("layout", ["", "src/"])
def test_examples_of_an_installed_library_rely_on_no_new_module_of_it(
    layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "setup.py": "",
        f"{layout}lib/__init__.py": "",
        f"{layout}lib/a.py": LIBRARY,
        f"{layout}lib/b.py": LIBRARY,
        "examples/one/main.py": f"from lib.a import pick\n{SCRIPT}",
        "examples/one/plain.py": f"import torch\nfrom lib.a import pick\n{DEVICE}",
        "examples/one/test_b.py": f"import torch\nfrom lib.a import pick\n{DEVICE}",
        "tests/test_a.py": f"import torch\nfrom lib.a import pick\n\n\ndef test_a():\n    {DEVICE}",
    }
    assert fix(tmp_path, files, monkeypatch) == {f"{layout}lib/xla_compat.py"}
    for name in ("main", "plain", "test_b"):
        assert "from lib.xla_compat" not in reads(tmp_path, f"examples/one/{name}.py")
    assert "from lib.xla_compat import" in reads(tmp_path, "tests/test_a.py")


def test_a_module_that_may_be_run_by_its_path_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "main.py": f"import torch\nfrom models.net import pick\n{DEVICE}\nother = pick()\n",
        "models/net.py": f"{LIBRARY}\n\nif __name__ == '__main__':\n    print(pick())\n",
        "data.py": LIBRARY,
    }
    assert fix(tmp_path, files, monkeypatch) == {"xla_compat.py"}
    assert "from xla_compat" in reads(tmp_path, "main.py")
    assert "def default_device(" in reads(tmp_path, "models/net.py")
    starts(tmp_path, "main.py")
    starts(tmp_path, "models/net.py")


def test_an_installed_package_of_the_same_name_is_not_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "app/__init__.py": "",
        "app/run.py": LIBRARY,
        "app/parts/__init__.py": "",
        "app/parts/numpy.py": "x = 1\n",
        "app/parts/a.py": f"import numpy\n{LIBRARY}",
    }
    assert fix(tmp_path, files, monkeypatch) == {"app/xla_compat.py"}
    assert "from app.xla_compat import" in reads(tmp_path, "app/parts/a.py")


def test_a_console_script_is_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "pyproject.toml": '[build-system]\n[project.scripts]\ntrain = "app.train:main"\n',
        "app/__init__.py": "",
        "app/train.py": SCRIPT,
        "app/net.py": LIBRARY,
        "app/data.py": LIBRARY,
    }
    assert fix(tmp_path, files, monkeypatch) == {"app/xla_compat.py"}
    starts(tmp_path, "-m", "app.train")


def test_a_package_below_a_folder_that_is_one_without_saying_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "main.py": f"import torch\nfrom lib.models.sampling import pick\n{DEVICE}",
        "lib/models/sampling/__init__.py": "from .solver import pick\n",
        "lib/models/sampling/solver.py": f"from .base import x\n{LIBRARY}",
        "lib/models/sampling/base.py": f"x = 1\n{LIBRARY}",
        "lib/models/sampling/alone.py": LIBRARY,  # nothing says as what it is loaded
    }
    assert fix(tmp_path, files, monkeypatch) == {"xla_compat.py"}
    assert "from xla_compat import" in reads(tmp_path, "lib/models/sampling/base.py")
    assert "def default_device(" in reads(tmp_path, "lib/models/sampling/alone.py")
    starts(tmp_path, "main.py")


@pytest.mark.parametrize("launch", ["accelerate launch test_net.py", "sh ./all.sh"])
def test_programs_in_the_folder_of_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, launch: str
) -> None:
    files = {
        "run.sh": f"cd programs\n{launch}\n",
        "programs/__init__.py": "",
        "programs/test_net.py": f"import torch\nfrom parts.data import pick\n{DEVICE}",
        "programs/parts/__init__.py": "",
        "programs/parts/data.py": f"from parts.base import x\n{LIBRARY}",
        "programs/parts/base.py": f"x = 1\n{LIBRARY}",
    }
    assert fix(tmp_path, files, monkeypatch) == {"programs/parts/xla_compat.py"}
    monkeypatch.chdir(tmp_path / "programs")
    starts(tmp_path / "programs", "test_net.py")


def test_a_package_of_the_same_name_as_a_folder_of_the_importer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "app/__init__.py": "",
        "app/datasets/__init__.py": "",
        "app/datasets/own.py": LIBRARY,
        "app/net.py": f"from datasets import load_dataset\n{LIBRARY}",
    }
    assert fix(tmp_path, files, monkeypatch) == {"app/xla_compat.py"}
    assert "from app.xla_compat import" in reads(tmp_path, "app/net.py")


def test_one_helper_for_packages_of_one_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The root would do for all but `layers`, which is imported by a name in a text."""
    files = {
        "tools/__init__.py": "",
        "tools/pick.py": LIBRARY,
        "tools/other.py": LIBRARY,
        "layers/__init__.py": "",
        "layers/net.py": f"from tools import pick\n{LIBRARY}",
        "layers/loss.py": f"from tools import pick\n{LIBRARY}",
        "config/__init__.py": "",
        "config/all.py": "",
        "train.py": f"from tools import pick, other\nimport config.all\n{SCRIPT}",
        "example.py": f"import config.all\n{SCRIPT}",
        "sample.py": f"import config.all\n{SCRIPT}",
    }
    made = fix(tmp_path, files, monkeypatch)
    assert len(made) == 1
    starts(tmp_path, "example.py")
    starts(tmp_path, "train.py")


@pytest.mark.parametrize("init", ["", '"""Parts."""\n', "import torch\n", "from core.net import pick\n"])
def test_scripts_beside_a_package_share_its_helper(
    init: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The package's modules are loaded by relative imports: nothing says that the root serves them."""
    inner = f"from .part import other\n{LIBRARY}"
    files = {
        "core/__init__.py": init,
        "core/net.py": inner,
        "core/part.py": "import torch\n\n\ndef other():\n    return torch.ones(1)\n",
        **{f"core/{name}.py": inner for name in ("loss", "data", "step")},
        **{f"{name}.py": SCRIPT for name in ("train", "test", "demo")},
    }
    shares = "import" not in init
    assert fix(tmp_path, files, monkeypatch) == ({"core/xla_compat.py"} if shares else set())
    assert ("from core.xla_compat import" in reads(tmp_path, "train.py")) is shares
    starts(tmp_path, "train.py")

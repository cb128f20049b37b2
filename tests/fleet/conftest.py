"""Small repositories with known contents, and one scan of them that many tests ask."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")

TRAIN = """import torch
import acme_ops

model = torch.nn.Linear(4, 4).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for batch in torch.utils.data.DataLoader([torch.zeros(4)]):
    loss = torch.nn.functional.elu(model(batch.cuda())).sum()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""
KERNELS = """import torch
import flash_attn

def attend(q, k, v):
    return flash_attn.flash_attn_func(q, k, v)
"""
CUDA = """#include <cuda_runtime.h>
__global__ void scale(float* x, float by) {
  x[threadIdx.x] *= by;
}
"""
REPOSITORIES: Mapping[str, Mapping[str, str]] = {
    "trainer": {"train.py": TRAIN, "requirements.txt": "torch>=2.1\nacme-ops\n"},
    "acme-ops": {
        "acme_ops/__init__.py": KERNELS,
        "acme_ops/scale.cu": CUDA,
        "pyproject.toml": '[project]\nname = "acme-ops"\ndependencies = ["torch", "flash-attn>=2"]\n',
    },
    "docs": {"conf.py": "project = 'docs'\n"},
}


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(folder: Path, files: Mapping[str, str]) -> str:
    """The files as the next commit of a work tree; its name."""
    if not (folder / ".git").exists():
        folder.mkdir(parents=True, exist_ok=True)
        git(folder, "init", "-q", "-b", "main")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "work")
    return git(folder, "rev-parse", "HEAD")


def mirror(work_tree: Path, to: Path) -> Path:
    """A bare copy."""
    to.parent.mkdir(parents=True, exist_ok=True)
    git(work_tree, "clone", "-q", "--bare", str(work_tree), str(to))
    return to


def run_cli(*arguments: str | Path) -> Result:
    from xlamig.cli import xlamig

    return CliRunner().invoke(xlamig, ["fleet", *map(str, arguments)])


@pytest.fixture(scope="session")
def mirrors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with bare repositories."""
    top = tmp_path_factory.mktemp("mirrors")
    for name, files in REPOSITORIES.items():
        commit(top / "trees" / name, files)
        mirror(top / "trees" / name, top / "bare" / f"{name}.git")
    return top / "bare"


@pytest.fixture(scope="session")
def scanned(mirrors: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two scans: the second finds the trainer one commit on, with GPU hours, and one repository gone."""
    top = tmp_path_factory.mktemp("scanned")
    listed = top / "fleet.csv"
    listed.write_text(
        "name,location,gpu,gpu_hours\n"
        f"trainer,{mirrors}/trainer.git,a100,8000\n"
        f"acme-ops,{mirrors}/acme-ops.git,,\n"
        f"docs,{mirrors}/docs.git,,\n"
        f"gone,{mirrors}/gone.git,h100,500\n"
    )
    first = run_cli("scan", listed, "-o", top / "out", "--date", "2026-01-01", "--isolated")
    assert first.exit_code == 1, first.output  # one is gone
    tree = top / "trainer"
    git(mirrors, "clone", "-q", str(mirrors / "trainer.git"), str(tree))
    commit(tree, {"train.py": TRAIN.replace("    print(loss.item())\n", "")})
    rest = listed.read_text().replace(f"{mirrors}/trainer.git", str(tree))
    listed.write_text(rest.replace(f"docs,{mirrors}/docs.git,,\n", ""))
    second = run_cli("scan", listed, "-o", top / "out", "--date", "2026-02-01", "--isolated")
    assert second.exit_code == 1, second.output
    assert "acme-ops: unchanged" in second.output
    return top / "out"

"""Code for jobs that Slurm starts is reported as such where nothing in the project starts one."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

SETUP = """import os, torch
def init(args):
    if "RANK" in os.environ:
        args.gpu = int(os.environ["LOCAL_RANK"])
    elif {test}:
        args.gpu = args.rank % torch.cuda.device_count()
"""
TRAIN = "import torch, setup_jobs\nsetup_jobs.init(args)\n"
ASKS = "'SLURM_PROCID' in os.environ"


def severity(folder: Path, test: str, files: dict[str, str]) -> str:
    write({"setup_jobs.py": SETUP.format(test=test), "train.py": TRAIN, **files}, folder)
    options = engine.Options({"select": ["XLA004"]}, isolated=True, jobs=1, cache=False)
    return engine.check([folder], options).findings[0].severity


@pytest.mark.parametrize(
    ("test", "files"),
    [
        (ASKS, {}),
        (ASKS, {"run.sh": "torchrun --nproc_per_node=8 train.py\n"}),
        ("'SLURM_PROCID' in os.environ and args.multi", {}),
        ("os.environ.get('SLURM_PROCID')", {}),
        ("not 'SLURM_PROCID' not in os.environ", {}),
    ],
)
def test_lowers_what_only_slurm_would_run(tmp_path: Path, test: str, files: dict[str, str]) -> None:
    assert severity(tmp_path, test, files) == "info"


@pytest.mark.parametrize(
    ("test", "files"),
    [
        (ASKS, {"run.sh": "srun python train.py\n"}),
        (ASKS, {"job.slurm": "#SBATCH --nodes=2\npython train.py\n"}),
        (ASKS, {"README.md": "On a Slurm cluster, start `train.py` on each node.\n"}),
        (ASKS, {"submit.py": "import submitit\n"}),
        (ASKS, {"submit.py": "import os, torch\nos.system('sbatch job.sh')\n"}),
        (ASKS, {"submit.py": "import os\nos.environ['SLURM_PROCID'] = rank\n"}),
        (ASKS, {"setup.py": "from setuptools import setup\nsetup(name='net', author='A')\n"}),
        ("'SLURM_PROCID' not in os.environ", {}),
        ("'MASTER_ADDR' in os.environ", {}),
        ("'SLURM_PROCID' in names", {}),
    ],
)
def test_lists_what_the_project_may_start(tmp_path: Path, test: str, files: dict[str, str]) -> None:
    assert severity(tmp_path, test, files) == "error"

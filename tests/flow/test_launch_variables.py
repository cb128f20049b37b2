"""Environment variables of a launcher that a program can do without."""

from __future__ import annotations

import pytest
from reading import facts_in

from xlamig.facts import Launch

HEAD = "import torch, os\nimport torch.distributed as dist\n"


def variables(source: str) -> list[str]:
    return [fact.variable for fact in facts_in(HEAD + source, Launch) if fact.via == "variable"]


@pytest.mark.parametrize(
    "source",
    [
        "int(os.environ['RANK'])",
        "int(os.environ.get('RANK'))",
        "int(os.environ.get('RANK', rank))",
        "os.environ.get('RANK', args.rank)",
        "os.environ.get('NODE_RANK', 0)",
        "os.environ['RANK'] = '0'",
        "os.environ.setdefault('RANK', '0')",
        "settings.get('RANK', 0)",
        "'RANK' in settings",
        "os.environ.get(*names)",
        "os.getenv(key='RANK', default=rank)",
        "for name in names:\n    name in os.environ",
        "for name in ('HOME', 'USER'):\n    name in os.environ",
        "for name in ('PMI_RANK', 'OMPI_COMM_WORLD_RANK'):\n    name in os.environ",  # a logger of MPI
        "for name in ('RANK', 'USER'):\n    other in os.environ",
    ],
)
def test_variable_is_required_or_given_by_the_caller(source: str) -> None:
    assert variables(source) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("int(os.environ.get('RANK', 0))", "RANK"),
        ("int(os.environ.get('LOCAL_RANK', '-1'))", "LOCAL_RANK"),
        ("os.getenv('RANK', -1) != -1", "RANK"),
        ("from os import getenv\ngetenv('WORLD_SIZE', 1)", "WORLD_SIZE"),
        ("from os import environ\nenviron.get('RANK', None)", "RANK"),
        ("if 'RANK' in os.environ: pass", "RANK"),
        ("if 'WORLD_SIZE' not in os.environ: pass", "WORLD_SIZE"),
        ("x = 0 if os.environ.get('SLURM_PROCID') is None else 1", "SLURM_PROCID"),
        ("for name in ['LOCAL_RANK', 'X']:\n    if name in os.environ: pass", "LOCAL_RANK"),
    ],
)
def test_program_goes_on_without_the_variable(source: str, found: str) -> None:
    assert variables(source) == [found]

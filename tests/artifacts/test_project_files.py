"""pyproject.toml, Pipfile, lock files, setup.cfg, setup.py, environment.yml."""

from __future__ import annotations

import pytest
from said import facts, malformed, packages, placed

from xlamig.artifacts import setup_py_facts
from xlamig.facts import Package

PYPROJECT = """\
[build-system]
requires = ["setuptools", "torch"]

[project]
name = "model"
dependencies = [
  "numpy",  # flash-attn is not one
  'flash-attn>=2.5; python_version < "3.13"',
]

[project.optional-dependencies]
fast = ["xformers", "model[other]"]

[dependency-groups]
dev = ["bitsandbytes", {include-group = "test"}]

[tool.poetry.dependencies]
python = "^3.10"
deepspeed = "^0.14"
apex = { git = "https://github.com/NVIDIA/apex", optional = true }

[tool.poetry.group.gpu.dependencies]
cupy-cuda12x = "*"
"""


def test_every_table_of_a_pyproject() -> None:
    assert packages(PYPROJECT, "toml") == [
        ("setuptools", ""),
        ("torch", ""),
        ("numpy", ""),
        ("flash-attn", ">=2.5"),
        ("xformers", ""),
        ("bitsandbytes", ""),
        ("deepspeed", ">=0.14,<1"),
        ("apex", ""),
        ("cupy-cuda12x", ""),
    ]


def test_what_is_optional() -> None:
    found = [f for f in facts(PYPROJECT, "toml") if isinstance(f, Package)]
    assert {f.name for f in found if f.optional} == {"xformers", "bitsandbytes", "apex", "cupy-cuda12x"}


def test_places_in_a_pyproject() -> None:
    places = placed(PYPROJECT, "toml")
    assert places["flash-attn"] == 'flash-attn>=2.5; python_version < "3.13"'
    assert places["deepspeed"] == "deepspeed"


def test_a_pipfile() -> None:
    text = '[[source]]\nurl = "https://pypi.nvidia.com"\n\n[packages]\ncupy = "==12.0"\n\n'
    text += '[dev-packages]\napex = "*"\n'
    assert packages(text, "toml") == [("cupy", "==12.0"), ("apex", "")]
    assert [f.kind for f in facts(text, "toml")].count("environment") == 1


@pytest.mark.parametrize(
    "text",
    [
        '[[package]]\nname = "nvidia-cublas-cu12"\nversion = "12.1"\n',
        '{"default": {"nvidia-cublas-cu12": {"version": "==12.1"}}}',
    ],
)
def test_lock_files(text: str) -> None:
    assert packages(text, "lock") == [("nvidia-cublas-cu12", "==12.1")]
    assert placed(text, "lock") == {"nvidia-cublas-cu12": "nvidia-cublas-cu12"}


def test_a_setup_cfg() -> None:
    text = "[options]\ninstall_requires =\n    numpy\n    cupy>=12  # why\n\n"
    text += "[options.extras_require]\nfast = xformers\n"
    assert packages(text, "setup-cfg") == [("numpy", ""), ("cupy", ">=12"), ("xformers", "")]
    assert placed(text, "setup-cfg")["cupy"] == "cupy>=12"


SETUP = """\
from setuptools import setup
BASE = ["numpy", "é", "torch>=2.0"]
setup(name="x", install_requires=BASE + ["flash-attn"], extras_require={"a": ["cupy"]}, author="xformers")
"""


def test_the_literal_lists_of_a_setup_py() -> None:
    found = setup_py_facts(SETUP, frozenset())
    assert [SETUP[slice(*f.span)] for f in found] == ["flash-attn", "numpy", "torch>=2.0", "cupy"] or {
        SETUP[slice(*f.span)] for f in found
    } == {"flash-attn", "numpy", "torch>=2.0", "cupy"}
    assert [f.name for f in found if isinstance(f, Package) and f.optional] == ["cupy"]


@pytest.mark.parametrize("text", ["print 'python 2'\n", "", "setup(install_requires=open('r.txt').read())\n"])
def test_a_setup_py_that_says_nothing(text: str) -> None:
    assert setup_py_facts(text, frozenset()) == []


CONDA = """\
name: gpu
channels: [pytorch, nvidia]
dependencies:
  - python=3.10
  - pytorch=2.1=py3.10_cuda11.8_cudnn8
  - pytorch-cuda=11.8
  - pip:
      - --extra-index-url https://download.pytorch.org/whl/cu118
      - flash-attn
"""


def test_a_conda_environment() -> None:
    assert packages(CONDA, "yaml") == [
        ("python", "==3.10.*"),
        ("torch", "==2.1.*"),
        ("pytorch-cuda", "==11.8.*"),
        ("flash-attn", ""),
    ]
    (torch,) = [f for f in facts(CONDA, "yaml") if isinstance(f, Package) and f.name == "torch"]
    assert torch.cuda == "cu118" and torch.releases == {"2.1"}


def test_dependencies_of_something_else() -> None:
    assert packages("dependencies:\n  - flash-attn\n", "yaml") == []


@pytest.mark.parametrize(
    ("kind", "text", "row"),
    [
        ("toml", '[project]\ndependencies = ["torch"\n[tool]\n', 3),
        ("lock", '[[package]]\nname = "torch\n', 2),
        ("lock", '{"default": {"torch": }}', 1),
        ("setup-cfg", "install_requires = torch\n", 1),
        ("yaml", "torch: [1\nb: }\n", 2),
        ("json", '{"deepspeed": \n}', 2),
    ],
)
def test_a_mistake_is_told_with_its_line(kind: str, text: str, row: int) -> None:
    assert [found for found, _ in malformed(text, kind)] == [row]

"""Environments for NVIDIA GPUs are one information each where a twin for the CPU lies beside them."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine

CUDA = "name: net\ndependencies:\n- pytorch=1.5.1\n- cudatoolkit=10.2\n"
CPU = "name: net\ndependencies:\n- pytorch=1.5.1\n"
PINNED = "torch==1.12.1+cu113\n"
IMAGE = "FROM nvidia/cuda:11.8.0-runtime-ubuntu22.04\n"


def severities(folder: Path, files: dict[str, str], name: str) -> set[str]:
    write({"train.py": "import torch\nprint(torch.ones(2))\n", **files}, folder)
    found = engine.check([folder], engine.Options({}, isolated=True, jobs=1, cache=False)).findings
    return {f.severity for f in found if f.filename.endswith(f"/{name}")}


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("linux_cuda10.yml", {"linux_cuda10.yml": CUDA, "linux_cpu.yml": CPU}),
        ("environment.yaml", {"environment.yaml": CUDA, "environment_cpu_mps.yaml": CPU}),
        ("environment.yml", {"environment.yml": CUDA, "environment_cpuonly.yml": CPU}),
        ("environment-cuda.yml", {"environment-cuda.yml": CUDA, "environment-cpu.yaml": CPU}),
        ("requirements.txt", {"requirements.txt": PINNED, "requirements-cpu.txt": "torch==2.9.0\n"}),
        ("requirements-gpu.txt", {"requirements-gpu.txt": PINNED, "requirements-cpu.txt": "torch==2.9.0\n"}),
        ("Dockerfile", {"Dockerfile": IMAGE, "Dockerfile.cpu": "FROM python:3.11\n"}),
    ],
)
def test_lowers_an_environment_with_a_twin_for_the_cpu(
    tmp_path: Path, name: str, files: dict[str, str]
) -> None:
    assert severities(tmp_path, files, name) == {"info"}


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("environment.yml", {"environment.yml": CUDA}),
        ("environment.yml", {"environment.yml": CUDA, "environment_cpu.yml": CUDA}),  # both ask for CUDA
        ("environment.yml", {"environment.yml": CUDA, "other_cpu.yml": CPU}),
        ("environment.yml", {"environment.yml": CUDA, "docs/environment_cpu.yml": CPU}),
        ("environment.yml", {"environment.yml": CUDA, "environment_dev.yml": CPU}),
        ("environment.yml", {"environment.yml": CUDA, "environment_cpu.yml": "model:\n  width: 3\n"}),
        ("environment_cpu.yml", {"environment_cpu.yml": CUDA, "environment.yml": CPU}),
        ("requirements.txt", {"requirements.txt": PINNED, "cpu/requirements.txt": "torch==2.9.0\n"}),
        ("requirements.txt", {"requirements.txt": "torch==1.12.1\n", "requirements-cpu.txt": "numpy\n"}),
        ("Dockerfile", {"Dockerfile": IMAGE, "Dockerfile.dev": "FROM python:3.11\n"}),
    ],
)
def test_reports_an_environment_without_one(tmp_path: Path, name: str, files: dict[str, str]) -> None:
    assert not severities(tmp_path, files, name) <= {"info"}

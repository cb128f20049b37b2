"""Dockerfiles, scripts, Makefiles, YAML and JSON."""

from __future__ import annotations

import pytest
from said import facts, malformed, packages, settings

NAMES = (
    "nvidia/cuda*", "CUDA_VISIBLE_DEVICES", "NCCL_*", "torchrun", "nvidia-smi", "docker run --gpus",
    "sbatch --gres", "srun --gres", "nvidia.com/gpu", "distributed_type", "runs-on", "libcudnn*",
    "python -m torch.distributed.launch", "zero_optimization", "deepspeed",
)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("dockerfile", "# FROM nvidia/cuda:12.1\nFROM python:3.11-slim\n"),
        ("dockerfile", "FROM python:3.11\nRUN echo done # torchrun\n"),
        ("shell", "# torchrun train.py\necho 'use torchrun to start'\n"),
        ("shell", 'echo "$CUDA_VISIBLE_DEVICES"\nif [ -z "$NCCL_DEBUG" ]; then exit; fi\n'),
        ("shell", "#SBATCH --gres-flags=enforce-binding\n"),
        ("yaml", "# nvidia.com/gpu: 1\nlimits:\n  google.com/tpu: 4\n"),
        ("yaml", "description: uses torchrun and nvidia-smi\n"),
        ("makefile", "train:\n\tpython train.py  # torchrun\n"),
        ("json", '{"comment": "zero_optimization"}'),
    ],
)
def test_silent(kind: str, text: str) -> None:
    assert facts(text, kind, *NAMES) == []


def test_images_of_a_dockerfile() -> None:
    text = "ARG V=12.1\nFROM --platform=linux/amd64 docker.io/nvidia/cuda:${V}-devel AS build\nFROM build\n"
    assert settings(text, "dockerfile", *NAMES) == [
        ("image", "nvidia/cuda:12.1-devel", "docker.io/nvidia/cuda:12.1-devel")
    ]


def test_commands_and_variables_of_a_dockerfile() -> None:
    text = """\
FROM python:3.11
ENV NCCL_DEBUG=INFO CUDA_VISIBLE_DEVICES="0,1"
ENV NCCL_P2P_DISABLE 1
RUN apt-get update && apt-get install -y --no-install-recommends \\
    # a comment between
    libcudnn8 \\
    git
RUN pip install --no-cache-dir "flash-attn>=2" torch==2.4.1 -r requirements.txt
RUN <<EOF
nvidia-smi
EOF
CMD ["torchrun", "train.py"]
"""
    assert settings(text, "dockerfile", *NAMES) == [
        ("variable", "NCCL_DEBUG", "INFO"),
        ("variable", "CUDA_VISIBLE_DEVICES", "0,1"),
        ("variable", "NCCL_P2P_DISABLE", "1"),
        ("package", "libcudnn8", ""),
        ("command", "nvidia-smi", ""),
        ("command", "torchrun", "train.py"),
    ]
    assert packages(text, "dockerfile") == [("flash-attn", ">=2"), ("torch", "==2.4.1")]


def test_an_unknown_instruction() -> None:
    assert malformed("FROM a\nRUNN pip install torch\n", "dockerfile") == [
        (2, "`RUNN` is no instruction of a Dockerfile")
    ]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("torchrun --nproc_per_node 8 train.py", "torchrun"),
        ("/usr/bin/torchrun train.py", "torchrun"),
        ("CUDA_LAUNCH_BLOCKING=1 sudo -u me env A=1 torchrun train.py", "torchrun"),
        ("x=$(torchrun train.py)", "torchrun"),
        ("if true; then torchrun \\\n  train.py; fi", "torchrun"),
        ("srun --ntasks 2 torchrun train.py", "torchrun"),
        ("python3 -m torch.distributed.launch train.py", "python -m torch.distributed.launch"),
        ("uv run torchrun train.py", "torchrun"),
    ],
)
def test_a_command_however_it_is_started(line: str, name: str) -> None:
    found = [entry for entry in settings(f"{line}\n", "shell", *NAMES) if entry[0] == "command"]
    assert [entry[1] for entry in found] == [name]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("#SBATCH --gres=gpu:8\n", ("option", "sbatch --gres", "gpu:8")),
        ("srun --gres gpu:1 python x.py\n", ("option", "srun --gres", "gpu:1")),
        ("docker run --rm --gpus all image\n", ("option", "docker run --gpus", "all")),
    ],
)
def test_options(line: str, expected: tuple[str, str, str]) -> None:
    assert expected in settings(line, "shell", *NAMES)


def test_a_variable_that_is_set_ten_times_is_told_once() -> None:
    text = "export CUDA_VISIBLE_DEVICES=0\n" * 10
    assert len(facts(text, "shell", *NAMES)) == 1


def test_offsets_count_code_points() -> None:
    text = "echo 'é𝔘'; torchrun train.py\n"
    (fact,) = facts(text, "shell", *NAMES)
    assert text[slice(*fact.span)] == "torchrun"


def test_a_makefile() -> None:
    text = "export NCCL_DEBUG := INFO\n\ntrain: data\n\t@torchrun train.py \\\n  --steps 1\n\n"
    text += "data:\n\tpip install cupy\n"
    assert settings(text, "makefile", *NAMES) == [
        ("variable", "NCCL_DEBUG", "INFO"),
        ("command", "torchrun", "train.py --steps 1"),
    ]
    assert packages(text, "makefile") == [("cupy", "")]


MANIFEST = """\
kind: Pod
spec:
  containers:
    - image: nvidia/cuda:12.1
      command: ["bash", "-c", "torchrun train.py"]
      env:
        - name: NCCL_DEBUG
          value: INFO
      resources: {limits: {nvidia.com/gpu: 8}}
---
services:
  train:
    environment:
      - CUDA_VISIBLE_DEVICES=0
"""


def test_a_manifest_of_kubernetes_and_a_compose_file() -> None:
    assert sorted(settings(MANIFEST, "yaml", *NAMES)) == [
        ("command", "torchrun", "train.py"),
        ("image", "nvidia/cuda:12.1", "nvidia/cuda:12.1"),
        ("setting", "nvidia.com/gpu", "8"),
        ("variable", "CUDA_VISIBLE_DEVICES", "0"),
        ("variable", "NCCL_DEBUG", "INFO"),
    ]


def test_a_workflow() -> None:
    text = "jobs:\n  a:\n    runs-on: [self-hosted, gpu]\n    steps:\n"
    text += "      - run: |\n          nvidia-smi\n          pip install cupy\n"
    assert settings(text, "yaml", *NAMES) == [
        ("setting", "runs-on", "self-hosted, gpu"),
        ("command", "nvidia-smi", ""),
    ]
    assert packages(text, "yaml") == [("cupy", "")]


def test_a_section_that_is_empty_says_nothing() -> None:
    assert settings("zero_optimization: {}\n", "yaml", *NAMES) == []


def test_a_template_is_no_mistake() -> None:
    assert facts("{{- if .Values.gpu }}\na: {{ .b }}: c\n{{- end }}\n", "yaml", *NAMES) == []


def test_settings_of_deepspeed() -> None:
    text = '{"train_batch_size": 8, "zero_optimization": {"stage": 3}}'
    assert settings(text, "json", *NAMES) == [("setting", "zero_optimization", '{"stage": 3}')]


@pytest.mark.parametrize("kind", ["yaml", "json", "shell", "dockerfile"])
def test_what_is_nested_without_end_is_told(kind: str) -> None:
    assert [m for _, m in malformed("torch: " + "[" * 5000, kind)] == ["nested too deeply"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1}\n{"a": 2}\n', []),  # JSON Lines: data
        ('{"a": 1} {"a": 2}\n', ["invalid JSON (Extra data)"]),
        ('{"a": 1,}\n', True),
    ],
)
def test_a_value_per_line_is_no_broken_json(text: str, said: list[str] | bool) -> None:
    found = [message for _, message in malformed(text, "json")]
    assert bool(found) if said is True else found == said

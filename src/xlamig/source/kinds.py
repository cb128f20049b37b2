"""Classify a file that is not Python, by its name alone."""

from __future__ import annotations

import re
from typing import Literal, get_args

Kind = Literal[
    "requirements",  # of pip
    "toml",  # pyproject.toml, Pipfile
    "setup-cfg",
    "lock",  # uv.lock, poetry.lock, Pipfile.lock ...: what is installed along
    "yaml",
    "json",  # settings of DeepSpeed and Accelerate
    "dockerfile",
    "shell",
    "makefile",
    "native",  # C++ and CUDA
]
KINDS: tuple[Kind, ...] = get_args(Kind)

_BY_NAME: dict[str, Kind] = {
    "pyproject.toml": "toml",
    "Pipfile": "toml",
    "setup.cfg": "setup-cfg",
    "uv.lock": "lock",
    "poetry.lock": "lock",
    "pdm.lock": "lock",
    "Pipfile.lock": "lock",
    "Makefile": "makefile",
    "makefile": "makefile",
    "GNUmakefile": "makefile",
}
_BY_SUFFIX: dict[str, Kind] = {
    **dict.fromkeys(("yml", "yaml"), "yaml"),
    **dict.fromkeys(("sh", "bash", "slurm", "sbatch", "slrm"), "shell"),
    **dict.fromkeys(("cu", "cuh", "cpp", "cc", "cxx", "h", "hpp", "hxx"), "native"),
    **dict.fromkeys(("dockerfile", "Dockerfile", "containerfile"), "dockerfile"),
    "mk": "makefile",
}
_REQUIREMENTS = re.compile(r"(?:^|[-_./])(?:requirements?|reqs?)(?:[-_./][^/]*)?\.(?:txt|in)$")
_DOCKERFILE = re.compile(r"(?:Dockerfile|Containerfile)(?:[-_.][\w.-]*)?$")
_SETTINGS = re.compile(r"(?:^|[-_.])(?:ds|deepspeed|zero\d?|accelerate)(?:[-_.]|$)", re.IGNORECASE)


def kind_of(path: str) -> Kind | None:
    """The kind of a file by its path, with "/"; None for Python and for what is of no interest."""
    folder, _, name = path.rpartition("/")
    kind = _BY_NAME.get(name)
    if kind is not None:
        return kind
    suffix = name.rpartition(".")[2]
    kind = _BY_SUFFIX.get(suffix)
    if kind is not None:
        return kind
    if suffix in ("txt", "in"):
        near = f"{folder.rpartition('/')[2]}/{name}"
        return "requirements" if _REQUIREMENTS.search(near) else None
    if suffix == "json":
        return "json" if _SETTINGS.search(name[: -len(".json")]) else None
    return "dockerfile" if _DOCKERFILE.match(name) else None

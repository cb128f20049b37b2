"""Find the environments for NVIDIA GPUs that have a twin for the CPU: `linux_cuda10.yml` beside
`linux_cpu.yml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from xlamig.engine.source import Source

_KINDS = frozenset({"requirements", "yaml", "dockerfile"})
_OF_CONDA = re.compile(r"^dependencies:", re.MULTILINE)
_WORD = re.compile(r"[^\W_]+")
_OF_CPU = re.compile(r"cpu(?:only)?|no(?:cuda|gpu)")
_OF_GPU = re.compile(r"cuda\d*|cu\d+|gpus?|nvidia")
_OTHER = re.compile(r"mps|only|yaml|yml")  # what else a name may add, and how an environment may end
_ASKS_FOR_CUDA = re.compile(r"cuda|nvidia|[+/]cu\d{2,}|-gpu\b", re.IGNORECASE)
_REMARK = re.compile(r"(?:^|\s)#.*$", re.MULTILINE)


def gpu_environments(sources: Iterable[Source]) -> Mapping[str, str]:
    """Return why requirements, Conda environments and images serve NVIDIA GPUs alone, by file: they ask for
    CUDA, and a file of the same name for the CPU lies beside them, which does not."""
    twins: dict[tuple[str, frozenset[str]], str] = {}
    asking: dict[str, tuple[str, frozenset[str]]] = {}
    for source in sources:
        if source.source.kind not in _KINDS or not _is_environment(source):
            continue
        path = PurePosixPath(source.file.name)
        words = _WORD.findall(path.name.lower())
        of_cpu = any(map(_OF_CPU.fullmatch, words))
        kept = frozenset(w for w in words if not any(p.fullmatch(w) for p in (_OF_CPU, _OF_GPU, _OTHER)))
        place = (str(path.parent), kept)
        if _ASKS_FOR_CUDA.search(_REMARK.sub("", source.source.text)):
            if not of_cpu:
                asking[source.file.name] = place
        elif of_cpu:
            twins[place] = path.name
    return {
        name: f"`{twins[place]}` beside it is the same environment without CUDA"
        for name, place in asking.items()
        if place in twins
    }


def _is_environment(source: Source) -> bool:
    return source.source.kind != "yaml" or _OF_CONDA.search(source.source.text) is not None

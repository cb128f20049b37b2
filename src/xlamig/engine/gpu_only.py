"""Find the files that serve NVIDIA GPUs alone, beside others that do not: TensorRT runners, Cog's containers,
diagnoses of a GPU package, environments with a twin for the CPU."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import PurePosixPath

from xlamig.engine.gpu_environments import gpu_environments
from xlamig.engine.source import Source
from xlamig.findings import ABOUT_THE_RUN, Finding, Reason
from xlamig.flow import ProjectIndex
from xlamig.flow.model.closure import closure
from xlamig.flow.model.project import packages_of
from xlamig.flow.model.scripts import MARK
from xlamig.knowledge import values as table

_HELP = "Leave it: this file is for NVIDIA GPUs, and other files of the program are not"
_COG = re.compile(r"^[ \t]*(?:from|import) cog\b", re.MULTILINE)
_RUNS_ITSELF = re.compile(rf"^if __name__ == ['\"]{MARK}['\"]", re.MULTILINE)
_COG_GPU = re.compile(r"^\s*gpu:\s*(?:true|yes|on)\b", re.MULTILINE | re.IGNORECASE)
_NEEDS_CUDA = re.compile(
    r"if not torch\.cuda\.is_available\(\)[^\n]*:\s*(?:\n[^\n]*\n?)?\s*(?:raise\b|sys\.exit\()"
)
_CUDA_NAME = re.compile(
    r"(?:^|_)(?:flash_?attn|flash_?attention|tensorrt|trt|nccl|cuda|gpu|triton|apex)(?:_|$)"
)


def gpu_only_files(
    sources: Iterable[Source], index: ProjectIndex, beside: Collection[str]
) -> Mapping[str, str]:
    """Return why a file serves NVIDIA GPUs alone, by file; nothing where there is no other file with torch.
    A module that others load serves them; one that they import where they use it may not."""
    every = list(sources)
    cogs = [
        source.file.name
        for source in every
        if PurePosixPath(source.file.name).name == "cog.yaml" and _COG_GPU.search(source.source.text)
    ]
    containers = {name.rpartition("/")[0] for name in cogs}
    python = [s for s in every if s.source.kind is None and s.file.name not in beside]
    alone = [source for source in python if source.module not in index.import_depths]
    found = {source.file.name: why for source in alone if (why := _why(source, containers))}
    found |= _loading_gpus(python, index)
    found |= _beside_them(found, python, index)
    found |= _parts_of(found, python, index)
    found |= dict.fromkeys(cogs, "this file describes Cog's container for GPUs: it says `gpu: true`")
    found |= gpu_environments(every)
    others = (s for s in python if s.file.name not in found and "torch" in s.source.text)
    return found if found and any(others) else {}


def _loading_gpus(sources: Collection[Source], index: ProjectIndex) -> Mapping[str, str]:
    """Return why files that load with a package for GPUs serve GPUs alone: none that does not name the
    package itself, nor is named after such a one, has to load them."""
    packages = {source.module: package for source in sources if (package := _gpu_package(source))}
    loading = closure(packages, lambda module: index.loaders.get(module, ()))
    imported = {*index.importers, *(one for name in index.importers for one in packages_of(name))}
    named = {source.module for source in sources if _CUDA_NAME.search(PurePosixPath(source.file.name).stem)}
    roots = loading - packages.keys() - imported - named
    needed = closure(roots, lambda one: [m for m in loading if one in index.loaders.get(m, ())])
    found = (source for source in sources if source.module in loading - needed)
    return {source.file.name: _because_of(packages.get(source.module, "")) for source in found}


def _because_of(package: str) -> str:
    if package:
        return f"this file imports `{package}` at its top, and no file that runs without it loads this one"
    return "this file loads a package for GPUs, and no file that runs without it loads this one"


def _beside_them(
    found: Mapping[str, str], sources: Collection[Source], index: ProjectIndex
) -> Mapping[str, str]:
    """Return why further files serve GPUs alone: they lie in a folder that is named after GPUs and holds
    files that need one, `runtime/gpu`, and no file outside of it imports them."""
    parts: dict[str, str] = {}
    for folder in {folder for name in found if (folder := _gpu_folder(name))}:
        inside = {source.module: source for source in sources if source.file.name.startswith(f"{folder}/")}
        for module, source in inside.items() if len(inside) < len(sources) else ():
            if index.importers.get(module, set()) <= inside.keys():
                parts[source.file.name] = (
                    f"no file outside of `{folder}`, which is for NVIDIA GPUs, imports it"
                )
    return {name: why for name, why in parts.items() if name not in found}


def _gpu_folder(name: str) -> str:
    """Return the outermost folder of a file that is named after GPUs; "" for none."""
    folders = reversed(PurePosixPath(name).parents)
    return next((str(folder) for folder in folders if _CUDA_NAME.search(folder.name)), "")


def _parts_of(
    found: Mapping[str, str], sources: Collection[Source], index: ProjectIndex
) -> Mapping[str, str]:
    """Return why further files serve GPUs alone: only such files import them, and they are no programs."""
    alone = {source.module for source in sources if source.file.name in found}
    parts: list[Source] = []
    while more := [
        source
        for source in sources
        if source.module not in alone
        and not _RUNS_ITSELF.search(source.source.text)
        and (importers := index.importers.get(source.module))
        and importers <= alone
    ]:
        alone.update(source.module for source in more)
        parts += more
    return dict.fromkeys((part.file.name for part in parts), "only files for NVIDIA GPUs import this one")


def _why(source: Source, containers: Collection[str]) -> str:
    text, path = source.source.text, PurePosixPath(source.file.name)
    if source.file.name.rpartition("/")[0] in containers and _COG.search(text):
        return "this file is what Cog runs in a container for GPUs: cog.yaml says `gpu: true`"
    if _CUDA_NAME.search(path.stem) and "is_available" in text and _NEEDS_CUDA.search(text):
        return "this file is about a package for GPUs, and raises where CUDA is not available"
    return ""


def _gpu_package(source: Source) -> str:
    """Return the package for GPUs that a file imports at its top; "" for none."""
    text = source.source.text
    found = _gpu_imports().search(text) if any(word in text for word in _gpu_packages()) else None
    return found[1] if found else ""


def as_infos(findings: Iterable[Finding], filename: str, why: str) -> Iterator[Finding]:
    """Yield the findings of such a file, as one information."""
    for finding in findings:
        if finding.code.startswith(ABOUT_THE_RUN):
            yield finding
        else:
            yield replace(
                finding,
                severity="info",
                help=_HELP,
                fix=None,
                reasons=(Reason(why, filename, finding.place), *finding.reasons),
                effort=replace(finding.effort, optional=True),
                job=f"{filename}|gpu-only",
            )


@cache
def _gpu_packages() -> frozenset[str]:
    return table.names("gpu-only", "imports")


@cache
def _gpu_imports() -> re.Pattern[str]:
    return re.compile(rf"^(?:from|import) ({'|'.join(sorted(_gpu_packages()))})\b", re.MULTILINE)

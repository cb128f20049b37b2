"""Files beside the program: unit tests, benchmarks, and scripts that only convert or export models."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from xlamig.findings import Aside
from xlamig.source.phrases import Phrases

_TEST_FOLDERS = frozenset({"test", "tests", "testing", "unittests", "unit_tests"})
_TEST_NAME = re.compile(r"^test_|_test$|^conftest$|^tests$")
_UNIT_TEST = re.compile(
    r"^\s*(?:from|import) (?:pytest|unittest|absl\.testing|parameterized)\b|^def test_\w*\(\)",
    re.MULTILINE,
)
_CHECKS_GRADIENTS = re.compile(r"\bgradcheck\(")
_BENCHMARK_FOLDERS = frozenset({"benchmark", "benchmarks", "benchmarking"})
_BENCHMARK_NAME = re.compile(r"^bench(?:marks?)?(?:_|$)|_bench(?:marks?)?$", re.IGNORECASE)
_TIMES = re.compile(r"perf_counter|\btime\.time\(|\bTimer\(|do_bench|utils\.benchmark|cuda\.Event\(")
_SCRIPT = re.compile(r"^if __name__ ==", re.MULTILINE)
_SAVERS = r"(?:torch\.save|save_file|save_pretrained|save_model|save_checkpoint|save_state_dict)\("
_SAVES = re.compile(rf"\b{_SAVERS}")
_SAVES_AT_TOP = re.compile(rf"^(?:\w+\.)*{_SAVERS}", re.MULTILINE)
"""Matches what saves a file whenever the module is loaded: it is a script, whether it says so or not."""
_LOADS = re.compile(
    r"\b(?:torch\.(?:jit\.)?load|load_file|safe_open|from_pretrained|load_state_dict|np\.load)\("
)
_WEIGHTS = re.compile(
    r"state_dict|checkpoint|ckpt|safetensors|merge_and_unload|save_pretrained", re.IGNORECASE
)
_MODEL_FILES = re.compile(r"\.pth\b|\w_model\b")
_COMPUTES = re.compile(
    r"\boptim\.\w+\(|\bTrainer\(|\.backward\(|\.cuda\(|\.step\(|[\"']cuda|\bdevice *=(?! *[\"']?cpu)|\.to\("
    r"(?:self\.)?device|\.generate\("
    r"|DataLoader|class \w+\([^)]*Module\)"
    r"|(?<![\w.])(?!(?:write|get|build|create|load|make|init|convert|save|export)_)"
    r"(?:self\.)?(?:\w+_)?(?:model|net|network)\((?![)])"
)
_EXPORTS = Phrases(
    ("onnx.export(", "jit.save(", "ct.convert(", ".to_torchscript(", ".to_onnx("),
    re.compile(r"\bonnx\.export\(|\bjit\.save\(|\bct\.convert\(|\.to_torchscript\(|\.to_onnx\("),
)
_TRACES = Phrases(("jit.",), re.compile(r"\bjit\.(?:script|trace|trace_module)\("))
_TRAINS = re.compile(r"\boptim\.\w+\(|\bTrainer\(|\.backward\(|DataLoader")


def aside_of(filename: str, text: str, kind: str | None = None) -> Aside | None:
    """Return what a file is, if it is beside the program; `kind` is None for Python.

    A name such as `test_net.py` or a folder `test` is not enough: scripts that evaluate a model are called
    like that.
    """
    path = PurePosixPath(filename)
    folders = set(path.parts[:-1])
    if kind is not None:
        return "tests" if "tests" in folders else None
    if _is_test(path.stem, folders, text) or _is_benchmark(path.stem, folders, text):
        return "tests"
    return "converters" if _is_converter(text) else None


def _is_test(stem: str, folders: set[str], text: str) -> bool:
    if "tests" in folders or stem == "conftest":
        return True
    if not folders.isdisjoint(_TEST_FOLDERS):
        return bool(_UNIT_TEST.search(text)) or not _SCRIPT.search(text)
    checks = "test" in stem and _CHECKS_GRADIENTS.search(text)
    return bool(checks or (_TEST_NAME.search(stem) and _UNIT_TEST.search(text)))


def _is_benchmark(stem: str, folders: set[str], text: str) -> bool:
    """Return whether a file that saves nothing is a benchmark: it takes times and has the name or the folder
    of one, or it has both, and another program takes its times, a profiler for example."""
    named = _BENCHMARK_NAME.search(stem) is not None
    inside = not folders.isdisjoint(_BENCHMARK_FOLDERS)
    return ((named and inside) or bool((named or inside) and _TIMES.search(text))) and not _SAVES.search(text)


def _is_converter(text: str) -> bool:
    """Return whether it is a script that loads and saves checkpoints, without model call, device or
    optimizer."""
    if "save" not in text:  # most files: a pattern takes longer to say so
        return False
    if "__name__" in text and _SCRIPT.search(text) and _SAVES.search(text):
        converts = _WEIGHTS.search(text) is not None
    elif _SAVES_AT_TOP.search(text):
        converts = any(pattern.search(text) for pattern in (_WEIGHTS, _MODEL_FILES))
    else:
        return False
    return converts and _LOADS.search(text) is not None and not computes(text)


def computes(text: str) -> bool:
    """Return whether a text calls a model, uses a device or trains."""
    return _COMPUTES.search(text) is not None


def is_exporter(text: str) -> bool:
    """Return whether a script exports a model, to ONNX for example, and neither trains nor evaluates."""
    saves_traced = ".save(" in text and _TRACES.are_in(text)
    return (saves_traced or _EXPORTS.are_in(text)) and not _TRAINS.search(text)

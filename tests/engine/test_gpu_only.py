"""Scripts for NVIDIA GPUs, beside others that are not, are one information each."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_project import write

from xlamig import engine
from xlamig.report.together import together

MAIN = 'if __name__ == "__main__":\n    run(torch.ones(2))\n'
TRAIN = "import torch\nnet = torch.nn.Linear(2, 2).cuda()\n" + MAIN
RUNNER = "import tensorrt as trt\nimport torch\ndef run(x):\n    return x.cuda()\n" + MAIN
COG = """import torch
from cog import BasePredictor
class P(BasePredictor):
    def setup(self):
        f(torch.ones(2).cuda())
"""
TRIED = COG.replace(
    "from cog import BasePredictor",
    """try:
    from cog import BasePredictor
except ImportError:
    pass""",
)
WORK = "import torch\ndef work(x):\n    torch.cuda.set_device(0)\n"
USE = "import work\nwork.work(1)\n"
GUARDED = RUNNER.replace("import tensorrt as trt", "try: import tensorrt\nexcept ImportError: pass")
DIAGNOSIS = """import torch
def run(x):
    if not torch.cuda.is_available():
        raise RuntimeError("needs CUDA")
    torch.cuda.reset_peak_memory_stats()
    return x.cuda()
""" + MAIN  # fmt: skip
PACKAGES = """build:
  gpu: true
  python_packages:
    - xformers==0.0.20
  run:
    - pip install xformers==0.0.20
"""
ENGINES = {
    "engines/__init__.py": "from engines.two import run\n",
    "engines/one.py": RUNNER.removesuffix(MAIN),
    "engines/two.py": "import torch\nfrom .one import run\nuse = torch.ones(2).cuda()\n" + USE,
}
LATER = "def faster(x):\n    from engines.two import run\n    return run(x)\n"
ALONE = WORK + "work(1)\n"
SERVER = {"runtime/gpu/serve.py": RUNNER.removesuffix(MAIN), "runtime/gpu/work.py": ALONE}
TOOL = "import torch\nfrom run import run\nuse = torch.ones(2).cuda()\n" + MAIN
WARNS = DIAGNOSIS.replace('raise RuntimeError("needs CUDA")', "print()")


def severities(folder: Path, files: dict[str, str], name: str) -> list[str]:
    """Return the severities of what is listed of one file."""
    write({"train.py": TRAIN, **files}, folder)
    report = together(engine.check([folder], engine.Options({}, isolated=True, jobs=1, cache=False)))
    return sorted(f.severity for f in report.findings if f.filename.endswith(name))


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("run_trt.py", {"run_trt.py": RUNNER.replace("import tensorrt as trt\n", "")}),
        ("run.py", {"run.py": RUNNER, "serve.py": "import torch, run\nrun.run(torch.ones(2))\n"}),
        ("run.py", {"run.py": GUARDED}),
        ("predict.py", {"predict.py": COG}),
        ("predict.py", {"predict.py": COG, "cog.yaml": "build:\n  gpu: false\n"}),
        ("diagnose_flash_attn.py", {"diagnose_flash_attn.py": WARNS}),
        ("main.py", {"main.py": DIAGNOSIS}),
        ("train.py", {}),
        ("work.py", {"work.py": WORK, "train.py": TRAIN + USE, "run.py": RUNNER + USE}),
        ("work.py", {"work.py": WORK, "other.py": "import torch\n" + USE, "run.py": RUNNER + USE}),
        ("work.py", {"work.py": WORK + "if __name__ == '__main__':\n    work(1)\n", "run.py": RUNNER + USE}),
        ("trt.py", {"trt.py": RUNNER, "net.py": "import trt\n", "serve.py": "import net, torch\n"}),
        ("engines/one.py", {**ENGINES, "serve.py": "import torch\nfrom engines import run\nrun(1)\n"}),
        ("work.py", {"work.py": WORK, **ENGINES, "train.py": TRAIN + LATER + USE}),
        ("work.py", {name.replace("gpu", "big"): text for name, text in SERVER.items()}),
        ("work.py", {"runtime/gpu/work.py": ALONE}),
        ("work.py", {**SERVER, "train.py": TRAIN + "from runtime.gpu import work\n"}),
        ("run.py", {"run.py": RUNNER.removesuffix(MAIN), "tool.py": TOOL}),
    ],
)  # fmt: skip
def test_lists_what_others_need_too(tmp_path: Path, name: str, files: dict[str, str]) -> None:
    assert "error" in severities(tmp_path, files, name)


def test_lists_a_program_that_is_for_gpus_alone(tmp_path: Path) -> None:
    assert "error" in severities(tmp_path, {"train.py": RUNNER}, "train.py")


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("run.py", {"run.py": RUNNER}),
        ("run.py", {"run.py": RUNNER.replace("tensorrt as trt", "torch2trt")}),
        ("predict.py", {"predict.py": COG, "cog.yaml": "build:\n  gpu: true\n"}),
        ("predict.py", {"predict.py": TRIED, "cog.yaml": PACKAGES}),
        ("predict.py", {"predict.py": COG + "import train\n", "cog.yaml": PACKAGES}),
        ("cog.yaml", {"predict.py": COG, "cog.yaml": PACKAGES}),
        ("diagnose_flash_attn.py", {"diagnose_flash_attn.py": DIAGNOSIS}),
        ("work.py", {"work.py": WORK, "run.py": RUNNER + USE}),
        ("work.py", {"work.py": WORK, "more.py": USE, "run.py": RUNNER + "import more\n"}),
        ("one.py", {**ENGINES, "train.py": TRAIN + LATER}),
        ("two.py", {**ENGINES, "train.py": TRAIN + LATER}),
        ("work.py", {"work.py": WORK, **ENGINES, "train.py": TRAIN + LATER}),
        ("work.py", SERVER),
        ("serve.py", SERVER),
        ("run.py", {"run.py": RUNNER.removesuffix(MAIN), "tool_trt.py": TOOL}),
        ("tool_trt.py", {"run.py": RUNNER.removesuffix(MAIN), "tool_trt.py": TOOL}),
    ],
)
def test_folds_a_file_for_gpus_into_one_information(tmp_path: Path, name: str, files: dict[str, str]) -> None:
    assert severities(tmp_path, files, name) == ["info"]

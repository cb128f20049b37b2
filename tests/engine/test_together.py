"""One job, one finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.config.settings import EffortSettings
from xlamig.effort import estimate
from xlamig.engine import Options
from xlamig.findings import Finding
from xlamig.report.together import together

THREE = "import torch\ndef f(x, y, z):\n    return x.cuda(), y.cuda(), z.cuda()\n"
APART = "import torch\ndef f(x):\n    x.data_ptr()\ndef g(y):\n    y.data_ptr()\n"
FILE = "import torch\ndef f(x):\n    x.cuda()\ndef g(y):\n    y.cuda()\n"
FFT = """import torch
from torch import nn
class A(nn.Module):
    def forward(self, x):
        return torch.fft.rfft(x)
    def inverse(self, x):
        return torch.fft.rfft(x)
class B(nn.Module):
    def forward(self, x):
        return torch.fft.rfft(x)
"""
LAUNCH = """import torch
class Kernel:
    def load(self):
        import cupy
        self.stream = torch.cuda.Stream()
    def run(self, x):
        self.kernel(args=[x.data_ptr()])
def other(x):
    torch.cuda.synchronize()
"""
IMAGE = "FROM nvidia/cuda:12.1.0-runtime\nRUN pip install flash-attn\nRUN pip install apex\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(name: str, text: str, *select: str) -> list[Finding]:
    Path(name).write_text(text)
    given = {"select": list(select)} if select else {}
    report = engine.check([Path()], Options(given, isolated=True, jobs=1, cache=False))
    folded = together(report)
    plans = [estimate(one, EffortSettings()) for one in (report, folded)]
    assert plans[0].hours == plans[1].hours and plans[0].coverage == plans[1].coverage
    return list(folded.findings)


def test_two_functions_are_two_jobs() -> None:
    assert [len(f.also) for f in found("a.py", APART, "XLA016")] == [0, 0]


def test_the_cuda_calls_of_a_file_are_one_finding() -> None:
    assert [len(f.also) for f in found("a.py", FILE)] == [1]
    assert [len(f.also) for f in found("b.py", FILE)] == [1, 1]


def test_equal_findings_about_the_device_are_one_in_a_program() -> None:
    text = "import torch\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
    found("a.py", text)
    (finding,) = found("b.py", text)
    assert (finding.filename, [f.filename for f in finding.also]) == ("a.py", ["b.py"])


def test_the_places_of_a_statement_are_one_finding() -> None:
    (finding,) = found("a.py", THREE)
    assert [f.place.location.column for f in (finding, *finding.also)] == [12, 22, 32]


def test_an_operator_is_one_finding_for_each_class() -> None:
    one, two = found("a.py", FFT, "XLA501")
    assert (one.scope, [f.scope for f in one.also], two.scope) == ("A.forward", ["A.inverse"], "B.forward")


def test_what_belongs_to_a_kernel_is_a_place_of_it() -> None:
    kernel, alone = sorted(found("a.py", LAUNCH), key=lambda f: f.scope)
    assert kernel.code == "XLA604" and {f.code for f in kernel.also} == {"XLA007", "XLA016"}
    assert (alone.code, alone.also) == ("XLA005", ())


def test_an_image_is_one_finding() -> None:
    (image,) = found("Dockerfile", IMAGE)
    assert image.also
    assert len(found("Dockerfile", IMAGE.replace("nvidia/cuda:12.1.0-runtime", "python:3.11"))) == 2


def test_a_serious_place_stands_for_a_lesser_one() -> None:
    text = "import torch\ndef f(x, y):\n    return (x.cuda() if torch.cuda.is_available() else x), y.cuda()\n"
    leaders = found("a.py", text, "XLA002")
    assert [f.severity for f in leaders] == ["error"] and [f.severity for f in leaders[0].also] == ["info"]


READS = """import torch
def evaluate(model, loader, kept):
    model.cuda()
    for batch in loader:
        found = model(batch.cuda())
        kept.append(found["boxes"].tolist())
        kept.append(found["scores"].cpu())
        if found["scores"].max() > 3:
            kept.clear()
def test(model, loader, kept):
    model.cuda()
    for batch in loader:
        kept.append(model(batch.cuda()).tolist())
"""


def test_the_copies_of_a_function_are_one_finding() -> None:
    one, branch, other = sorted(found("a.py", READS, "XLA1"), key=lambda f: f.place.location.row)
    assert one.code == "XLA101" and "XLA102" in {f.code for f in one.also}
    assert (branch.code, branch.also, other.scope, other.also) == ("XLA106", (), "test", ())


HALVES = "import torch\ndef f(q, k):\n    q, k = torch.relu(q), torch.relu(k)\n"


def test_values_on_two_lines_are_two_jobs() -> None:
    assert [len(f.also) for f in found("a.py", HALVES + "    g(q.half())\n    g(k.half())\n", "XLA802")] == [
        0,
        0,
    ]


def test_values_on_one_line_are_one_job() -> None:
    assert [len(f.also) for f in found("a.py", HALVES + "    g(q.half(), k.half())\n", "XLA802")] == [1]

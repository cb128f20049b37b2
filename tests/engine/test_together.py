"""One job, one finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.config.settings import EffortSettings
from xlamig.effort.estimate import estimate
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


def test_the_cuda_calls_of_a_program_are_one_finding() -> None:
    assert [len(f.also) for f in found("a.py", FILE)] == [1]
    (finding,) = found("b.py", FILE)
    assert [f.filename for f in finding.also] == ["a.py", "b.py", "b.py"]


DEVICES = """import torch
def zeros(device='cuda:2'):
    return torch.zeros(3, device=device)
def ones():
    x = torch.ones(3, device='cuda:0')
    return x + torch.ones(3, device='cuda:1')
"""


def test_one_rule_with_two_kinds_of_help_is_two_findings() -> None:
    default, literal = sorted(found("a.py", DEVICES, "XLA001"), key=lambda f: f.place.start)
    assert default.help != literal.help and default.also == ()
    assert [f.message for f in literal.also] == [literal.message.replace(":0", ":1")]


def test_equal_findings_about_the_device_are_one_in_a_program() -> None:
    text = "import torch\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
    found("a.py", text)
    (finding,) = found("b.py", text)
    assert (finding.filename, [f.filename for f in finding.also]) == ("a.py", ["b.py"])


def test_the_places_of_a_statement_are_one_finding() -> None:
    (finding,) = found("a.py", THREE)
    assert [f.place.location.column for f in (finding, *finding.also)] == [12, 22, 32]


def test_an_operator_is_one_finding_in_a_program() -> None:
    (finding,) = found("a.py", FFT, "XLA501")
    assert [f.scope for f in finding.also] == ["A.inverse", "B.forward"]


TWO = """import torch
from torch import nn
class A(nn.Module):
    def forward(self, x):
        y = torch.linalg.lu(x)
        z = torch.linalg.eig(x)
        return y, z
"""


def test_two_operators_are_two_findings() -> None:
    lu, eig = found("a.py", TWO, "XLA501")
    assert lu.help == eig.help and lu.also == eig.also == ()


def test_what_belongs_to_a_kernel_is_a_place_of_it() -> None:
    kernel, alone = sorted(found("a.py", LAUNCH), key=lambda f: f.scope)
    assert kernel.code == "XLA604" and {f.code for f in kernel.also} == {"XLA007", "XLA016"}
    assert (alone.code, alone.also) == ("XLA005", ())


GRAPHS = """import torch
class Runner:
    def capture(self, x):
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.out = self.model(x)
    def __call__(self, x):
        self.graph.replay()
        torch.cuda.synchronize()
def other():
    torch.cuda.synchronize()
"""
FLASH = """import torch
class Attention(torch.nn.Module):
    def __init__(self):
        from flash_attn import flash_attn_func
        self.inner = flash_attn_func
    def forward(self, qkv):
        return self.inner(qkv.half(), qkv.sum())
class Plain(torch.nn.Module):
    def forward(self, x):
        return x.half()
"""


def test_what_a_graph_waits_for_is_a_place_of_it() -> None:
    graph, alone = sorted(found("a.py", GRAPHS, "XLA005", "XLA007"), key=lambda f: f.code, reverse=True)
    assert graph.code == "XLA007" and "XLA005" in {f.code for f in graph.also}
    assert (alone.code, alone.scope, alone.also) == ("XLA005", "other", ())


def test_float16_for_attention_on_gpus_is_a_place_of_it() -> None:
    attention, alone = sorted(found("a.py", FLASH, "XLA605", "XLA802"), key=lambda f: f.code)
    assert attention.code == "XLA605" and {f.code for f in attention.also} == {"XLA802"}
    assert (alone.code, alone.scope) == ("XLA802", "Plain.forward")


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


def test_reads_with_the_same_help_are_one_finding() -> None:
    findings = {f.code: f for f in found("a.py", READS, "XLA1")}
    assert [f.scope for f in findings["XLA101"].also] == ["test"]
    assert {f.code for f in findings["XLA102"].also} == {"XLA103"}  # of the same line
    assert findings["XLA106"].also == ()


COPY = """import torch
def train(model, loader, optimizer, scale):
    for x in loader:
        loss = model(x).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        ids = torch.unique(x.to(loss.device) * scale)
        print(ids[loss > 1])
"""


def test_copies_of_a_statement_are_one_finding() -> None:
    """Rules about shapes fold by function: two trainers with one step between them have one job."""
    found("a.py", COPY, "XLA204")
    (finding,) = found("b.py", COPY.replace("scale", "factor").replace("* factor", "* scale"), "XLA204")
    assert [f.filename for f in finding.also] == ["b.py"]


def test_statements_that_differ_are_no_copies() -> None:
    found("a.py", COPY, "XLA204")
    assert len(found("b.py", COPY.replace("* scale", "+ scale"), "XLA204")) == 2


HALVES = "import torch\ndef f(q, k):\n    q, k = torch.relu(q), torch.relu(k)\n"


def test_one_type_in_a_program_is_one_job() -> None:
    (finding,) = found("a.py", HALVES + "    g(q.half())\n    g(k.half())\n", "XLA802")
    assert len(finding.also) == 1


def test_a_requirement_is_a_place_of_what_imports_it() -> None:
    Path("requirements.txt").write_text("accelerate\ntorch-scatter\nflash-attn\n")
    findings = found("a.py", "import accelerate\nimport torch_scatter\n")
    assert {(f.code, *(one.code for one in f.also)) for f in findings} == {
        ("XLA612", "XLA909"),
        ("XLA609", "XLA909"),
        ("XLA909",),
    }


def test_a_requirement_of_another_package_is_a_finding_of_its_own() -> None:
    Path("requirements.txt").write_text("pytorch3d\n")
    codes = {(f.code, len(f.also)) for f in found("a.py", "import torch\nimport accelerate\n")}
    assert codes == {("XLA612", 0), ("XLA909", 0)}


APEX = """import torch
from apex.normalization import FusedLayerNorm
first = FusedLayerNorm(4)
second = FusedLayerNorm(8)
"""


def test_calls_that_need_no_package_of_their_own_are_places_of_its_import() -> None:
    (finding,) = found("a.py", APEX, "XLA606")
    assert [f.place.location.row for f in (finding, *finding.also)] == [2, 3, 4]


def test_calls_that_say_more_are_findings_of_their_own() -> None:
    call = "import torch\nimport torch_scatter\ndef f(x, i):\n    return torch_scatter.scatter(x, i)\n"
    assert sorted((f.code, len(f.also)) for f in found("a.py", call, "XLA609")) == [("XLA609", 0)] * 2


def test_of_two_loads_the_one_that_runs_leads() -> None:
    text = """import torch
def load(net, path, ema=False):
    state = torch.load(path)['ema'] if ema else torch.load(path)['net']
    net.load_state_dict(state)
"""
    (finding,) = found("a.py", text + "load(net, 'x')\n", "XLA907")
    assert "only if" not in finding.message and finding.place.location.column == 49
    assert ["only if" in other.message for other in finding.also] == [True]

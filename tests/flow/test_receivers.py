"""The receivers of methods."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reading import INTEREST, facts_in

from xlamig.facts import ApiUse


def receiver(source: str, head: str = "import torch\nfrom torch import nn\n") -> str:
    """The class in front of the last `.cuda`, with its confidence; "" where it is not torch's."""
    found = [use for use in facts_in(head + source, ApiUse) if use.name.endswith(".cuda")]
    return f"{found[-1].name.removesuffix('.cuda')} {found[-1].confidence}" if found else ""


@pytest.mark.parametrize(
    "source",
    [
        "'a'.cuda()",
        "f'{a}'.cuda()",
        "1.5.cuda()",
        "[a].cuda()",
        "{a: b}.cuda()",
        "[a for a in b].cuda()",
        "x = 'a'\nx.cuda()",
        "class A:\n def cuda(self): pass\nx = A()\nx.cuda()",
        "class A:\n def cuda(self): pass\nx = y = A()\ny.cuda()",
        "class A:\n def cuda(self): pass\nA.cuda()",
        "class A:\n cuda = f\nA().cuda()",
        "class A:\n def cuda(self): pass\nclass B(A): pass\nclass C(B): pass\nC().cuda()",
        "class A(nn.Module):\n def cuda(self): pass\nA().cuda()",
        "class A(nn.Module):\n def cuda(self): pass\n def f(self): self.cuda()",
        "class A:\n def cuda(self): pass\nclass B:\n def __init__(self): self.a = A()\n"
        " def f(self): self.a.cuda()",
        "import numba\nnumba.cuda()",
        "import numba as nb\nnb.config.cuda()",
        "from lib import Handle\nHandle.cuda()",
        "def f(): pass\nf.cuda()",
    ],
)
def test_the_method_is_not_torchs(source: str) -> None:
    assert receiver(source) == ""


@pytest.mark.parametrize(
    "source",
    [
        "def f(x): x.cuda()",
        "for x in y: x.cuda()",
        "x = g()\nx.cuda()",
        "x[0].cuda()",
        "(x + y).cuda()",
        "x.y.cuda()",
        "torch.zeros(1).size().cuda()",
        "torch.load(f).cuda()",
        "import models\nmodels.build().cuda()",
        "import models\nm = models.build()\nm.cuda()",
        "torch.Generator().cuda()",
        "torch.cuda.Stream().cuda()",
        "def f(*x: torch.Tensor): x.cuda()",
        "def f(**x: torch.Tensor): x.cuda()",
        "def f(x: Batch): x.cuda()",
        "x = torch.zeros(1)\nx = nn.ReLU()\nx.cuda()",
        "x = torch.zeros(1)\nx = 'a'\nx.cuda()",
        "x = torch.zeros(1)\n[x.cuda() for x in y]",
        "x = torch.zeros(1)\nf = lambda x: x.cuda()",
        "x = torch.zeros(1)\ndef f(x): x.cuda()",
        "class A: pass\nA().cuda()",
        "class A(A): pass\nA().cuda()",
        "class A(B): pass\nclass B(A): pass\nA().cuda()",
        "x = x.to(y)\nx.cuda()",
    ],
)
def test_nothing_is_known_of_it(source: str) -> None:
    assert receiver(source) == "unknown likely"


@pytest.mark.parametrize(
    "source",
    [
        "torch.zeros(1).cuda()",
        "torch.zeros(1).half().to(d).cuda()",
        "x = torch.zeros(1)\nx.cuda()",
        "x = y = torch.zeros(1)\nx.cuda()",
        "x = torch.zeros(1) if a else b\nx = torch.ones(1)\ntorch.ones(1).cuda()",
        "if a: x = torch.zeros(1)\nelse: x = torch.ones(1)\nx.cuda()",
        "nn.functional.relu(x).cuda()",
        "nn.init.zeros_(x).cuda()",
        "nn.Parameter(x).cuda()",
        "def f(x: torch.Tensor): x.cuda()",
        "class A:\n def __init__(self): self.x = torch.zeros(1)\n def f(self): self.x.cuda()",
    ],
)
def test_a_tensor(source: str) -> None:
    assert receiver(source) == "Tensor certain"


@pytest.mark.parametrize(
    "source",
    [
        "nn.Linear(1, 1).cuda()",
        "nn.Linear(1, 1).eval().cuda()",
        "m = nn.Linear(1, 1)\nm.cuda()",
        "def f(m: nn.Module): m.cuda()",
        "class A(nn.Module): pass\nA().cuda()",
        "class A(nn.Module): pass\nclass B(A): pass\nB().cuda()",
        "class A(Mixin, nn.Module): pass\nA().cuda()",
        "class A(nn.Module):\n def f(self): self.cuda()",
        "class A(nn.Module):\n def f(self):\n  def g(): self.cuda()",
        "class A(nn.Module):\n def __init__(self): self.m = nn.ReLU()\n def f(self): self.m.cuda()",
    ],
)
def test_a_module(source: str) -> None:
    assert receiver(source) == "Module certain"


def test_without_torch_an_unknown_receiver_is_only_possible() -> None:
    assert receiver("x.cuda()", head="") == "unknown possible"


def test_beside_a_class_with_the_method_an_unknown_receiver_is_only_possible() -> None:
    source = "import torch\nclass A:\n def data_ptr(self): pass\ndef f(x): x.data_ptr()"
    wanted = replace(INTEREST, names=frozenset({"unknown.data_ptr"}), methods=frozenset({"data_ptr"}))
    (use,) = facts_in(source, ApiUse, interest=wanted)
    assert (use.name, use.confidence) == ("unknown.data_ptr", "possible")


def test_what_a_project_calls_cuda_moves_there_too() -> None:
    (use,) = facts_in("import torch\nclass A:\n def cuda(self): pass\ndef f(x): x.cuda()", ApiUse)
    assert (use.confidence, use.proofs) == ("likely", {"own-method": "yes"})


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import onnxruntime as ort\nort.OrtValue.ortvalue_from_numpy(x).data_ptr()", 0),
        ("from pycuda.gpuarray import GPUArray\na = GPUArray(x)\na.data_ptr()", 0),
        (
            "import ort\nclass A:\n def __init__(self): self.a = ort.V(1)\n def f(self): self.a.data_ptr()",
            0,
        ),
        ("import einops\neinops.rearrange(x, 'a b').data_ptr()", 1),
        ("from torchvision.tv_tensors import Image\nImage(x).data_ptr()", 1),
        ("def f(x): x.data_ptr()", 1),
    ],
)
def test_an_object_of_a_library_is_no_tensor(source: str, expected: int) -> None:
    interest = replace(
        INTEREST, names=frozenset({"unknown.data_ptr", "Tensor.data_ptr"}), methods=frozenset({"data_ptr"})
    )
    found = facts_in("import torch\n" + source, ApiUse, interest=interest)
    assert len([use for use in found if use.name.endswith(".data_ptr")]) == expected


def test_an_object_of_a_library_may_be_a_module() -> None:
    assert receiver("from transformers import AutoModel\nAutoModel.from_pretrained(x).cuda()") != ""

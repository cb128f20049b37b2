"""Which names mean a known API, through imports, aliases and shadows."""

from __future__ import annotations

import pytest
from reading import facts_in, uses

from xlamig.facts import ApiUse

SYNC = "torch.cuda.synchronize"


@pytest.mark.parametrize(
    "source",
    [
        "def f(torch): torch.cuda.synchronize()",
        "def f(*torch): torch.cuda.synchronize()",
        "def f():\n torch = g()\n torch.cuda.synchronize()",
        "def f():\n torch.cuda.synchronize()\n torch = g()",
        "def f():\n for torch in g(): torch.cuda.synchronize()",
        "def f():\n with g() as torch: torch.cuda.synchronize()",
        "def f():\n try: g()\n except E as torch: torch.cuda.synchronize()",
        "def f(x):\n match x:\n  case [torch]: torch.cuda.synchronize()",
        "def f():\n if (torch := g()): torch.cuda.synchronize()",
        "def f():\n def torch(): pass\n torch.cuda.synchronize()",
        "def f():\n class torch: pass\n torch.cuda.synchronize()",
        "def f():\n def g():\n  nonlocal torch\n  torch = 1\n torch.cuda.synchronize()",
        "class A:\n torch = fake\n torch.cuda.synchronize()",
        "[torch.cuda.synchronize() for torch in x]",
        "[torch.cuda.synchronize() for a in x for b, (torch, c) in a]",
        "{torch.cuda.synchronize(): 1 for torch in x}",
        "list(torch.cuda.synchronize() for torch in x)",
        "f = lambda torch: torch.cuda.synchronize()",
    ],
)
def test_a_shadow_hides_the_module(source: str) -> None:
    assert uses(f"import torch\n{source}") == []


@pytest.mark.parametrize(
    "source",
    [
        "torch.cuda.Stream().synchronize()",
        "torch.cuda.current_stream().synchronize()",
        "self.torch.cuda.synchronize()",
        "torch.cuda.synchronize.x()",
        "torch.cuda.synchronizes()",
        "other.cuda.synchronize()",
        "torch().cuda.synchronize()",
        "torch[0].cuda.synchronize()",
    ],
)
def test_what_only_looks_like_the_name(source: str) -> None:
    assert uses(f"import torch\n{source}") == []


def test_a_name_nobody_imported_is_unknown() -> None:
    assert uses("torch.cuda.synchronize()") == []


def test_an_import_in_another_function_is_not_seen() -> None:
    assert uses("def f(): import torch\ndef g(): torch.cuda.synchronize()") == []


@pytest.mark.parametrize(
    "source", ["a = a", "a = b\nb = a", "a = b.c\nb = a.c", "a.b = a.b.c", "a.b = c\nc = a.b"]
)
def test_an_alias_of_itself_means_nothing(source: str) -> None:
    assert uses(f"{source}\na.cuda.synchronize()\na.b.cuda.synchronize()") == []


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ntorch.cuda.synchronize()",
        "import torch.cuda\ntorch.cuda.synchronize()",
        "import torch as t\nt.cuda.synchronize()",
        "import torch.cuda as c\nc.synchronize()",
        "from torch import cuda\ncuda.synchronize()",
        "from torch import *\ncuda.synchronize()",
        "from torch.cuda import *\nsynchronize()",
        "import torch\nt = torch\nt.cuda.synchronize()",
        "import torch\na = torch\nb = a.cuda\nc = b\nc.synchronize()",
        "import torch\na, b = torch.cuda, 1\na.synchronize()",
        "import torch\nx.c = torch.cuda\nx.c.synchronize()",
        "import torch\n(torch . cuda).synchronize()",
        "try:\n import torch\nexcept ImportError:\n import fake as torch\ntorch.cuda.synchronize()",
        "__import__('torch').cuda.synchronize()",
        "__import__('torch.cuda').cuda.synchronize()",
        "import importlib\nc = importlib.import_module('torch.cuda')\nc.synchronize()",
        "def f():\n import torch\n def g(): torch.cuda.synchronize()",
        "def f():\n global torch\n import torch\ndef g(): torch.cuda.synchronize()",
        "import torch\ndef f(torch):\n def g():\n  global torch\n  torch.cuda.synchronize()",
        "import torch\nclass A:\n torch = fake\n def f(self): torch.cuda.synchronize()",
        "import torch\ndef f(torch=torch.cuda.synchronize()): pass",
        "import torch\n[torch for torch in torch.cuda.synchronize()]",
        "import torch\nx = lambda: torch.cuda.synchronize()",
        "import torch\nx = f'{torch.cuda.synchronize()}'",
    ],
)
def test_the_call_has_its_canonical_name(source: str) -> None:
    assert uses(source) == [SYNC]


@pytest.mark.parametrize(
    "method",
    ["def __init__(self): self.c = torch.cuda", "c = torch.cuda"],
)
def test_an_attribute_of_self_is_an_alias(method: str) -> None:
    assert uses(f"import torch\nclass A:\n {method}\n def f(self): self.c.synchronize()") == [SYNC]


def test_an_attribute_of_another_class_is_not() -> None:
    source = """
        import torch
        class A:
            def __init__(self): self.c = torch.cuda
        class B:
            def f(self): self.c.synchronize()
    """
    assert uses(source) == []


def test_a_builtin_does_not_come_from_a_star_import() -> None:
    assert uses("from torch.cuda.memory import *\nprint()") == []
    assert uses("from torch.cuda.memory import *\nstats()") == ["torch.cuda.memory.stats"]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("torch.amp.autocast('cuda')", "torch.autocast"),
        ("with torch.amp.autocast('cuda'): pass", "torch.autocast"),
        ("torch.cuda.memory.empty_cache()", "torch.cuda.empty_cache"),
        ("torch.cuda.memory.anything()", "torch.cuda.memory.anything"),
    ],
)
def test_other_public_names_stand_for_the_canonical_one(source: str, name: str) -> None:
    assert uses(f"import torch\n{source}") == [name]


def test_an_import_of_a_known_name_is_a_use_too() -> None:
    assert uses("from torch.cuda import synchronize as s") == [SYNC]


@pytest.mark.parametrize(
    ("source", "via"),
    [
        ("torch.compile", "reference"),
        ("f(torch.compile)", "reference"),
        ("@torch.compile\ndef f(): pass", "decorator"),
        ("@torch.compile()\ndef f(): pass", "decorator"),
        ("with torch.autocast('cuda'): pass", "with"),
        ("try: pass\nexcept torch.cuda.memory.Error: pass", "except"),
        ("try: pass\nexcept (E, torch.cuda.memory.Error): pass", "except"),
        ("torch.backends.cudnn.benchmark = True", "assignment"),
        ("x = torch.backends.cudnn.benchmark", "reference"),
        ("x.y = torch.backends.cudnn.benchmark", "reference"),
    ],
)
def test_how_a_name_is_used(source: str, via: str) -> None:
    assert [fact.via for fact in facts_in(f"import torch\n{source}", ApiUse)] == [via]

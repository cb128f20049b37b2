"""The proof that a device variable is bound: safe fixes rely on it, so it must never be wrong."""

from __future__ import annotations

import pytest
from reading import proof

D = "device = torch.device('cuda')"
HEAD = "import torch\n"


@pytest.mark.parametrize(
    "source",
    [
        "HERE\nD",
        "if a: D\nHERE",
        "if a: D\nelse: HERE",
        "if a: pass\nelse: D\nHERE",
        "for a in b: D\nHERE",
        "for a in b:\n HERE\n D",
        "while a: D\nHERE",
        "try: D\nexcept E: pass\nHERE",
        "try: D\nexcept E: HERE",
        "try: D\nfinally: HERE",
        "match a:\n case 1: D\nHERE",
        "if a and (device := f()): pass\nHERE",
        "device: torch.device\nHERE",
        "def f(): D\nHERE",
        "class A: D\nHERE",
        "lambda device: 1\nHERE",
        "[1 for device in a]\nHERE",
        "f = lambda: HERE\nD",
        "device = HERE",
    ],
)
def test_it_is_not_bound_yet_or_not_always(source: str) -> None:
    assert proof(HEAD + source.replace("HERE", "x.cuda()").replace("D", D)) == ""


@pytest.mark.parametrize(
    "source",
    [
        "def f(): HERE\nD",
        "def f(): HERE\nf()\nD",
        "if a: D\ndef f(): HERE",
        "D\ndef f():\n HERE\n device = 1",
        "D\ndef f():\n for device in a: HERE",
        "D\ndef f(device=None): HERE",
        "D\ndef f(device=None):\n def g(): HERE",
        "D\ndef f():\n def g(): HERE\n g()\n device = 1",
        "def f():\n D\n def g(): HERE",
        "def f():\n global device\n D\ndef g(): HERE",
        "def f():\n device = 1\n def g():\n  nonlocal device\n  D\ndef h(): HERE",
        "def f():\n def g():\n  nonlocal device\n  D\n HERE\n device = x",
        "D\nlambda device: HERE",
        "D\n[HERE for device in a]",
        "D\n{HERE: b for a, device in c}",
        "class A:\n D\n def f(self): HERE",
        "class A:\n D\n HERE",
        "D\nclass A:\n HERE",
        "D\ndef f(a=HERE): pass",
        "def f(device, a=HERE): pass",
        "def device(): pass\nHERE",
        "class device: pass\nHERE",
        "from a import device\nHERE",
        "import device\nHERE",
    ],
)
def test_it_is_another_scopes(source: str) -> None:
    assert proof(HEAD + source.replace("HERE", "x.cuda()").replace("D", D)) == ""


@pytest.mark.parametrize(
    "value",
    [
        "None", "'cpu'", "torch.device('cpu')", "'mps'", "0", "1", "False", "[]", "{}", "()", "1.5",
        "'/dev/video0'",
        "lambda: 1", "[d for d in e]", "a == b", "not a", "{'a': 'cuda'}",
    ],
)  # fmt: skip
def test_it_holds_no_accelerator(value: str) -> None:
    assert proof(f"{HEAD}device = {value}\nx.cuda()") == ""
    assert proof(f"{HEAD}{D}\nif a: device = {value}\nx.cuda()") == ""
    assert proof(f"{HEAD}def f(device={value}): x.cuda()") == ""
    assert proof(f"{HEAD}other = {value}\ndevice = other\nx.cuda()") == ""


@pytest.mark.parametrize(
    "params", ["device: int", "device: bool", "*device", "**device", "device=None", "device: str = None"]
)
def test_a_parameter_that_is_no_device(params: str) -> None:
    assert proof(f"{HEAD}def f({params}): x.cuda()") == ""


@pytest.mark.parametrize(
    "source",
    [
        "D\nHERE",
        "D\nif a: HERE",
        "if a:\n D\n HERE",
        "if a:\n D\n for b in c:\n  with d: HERE",
        "for a in b:\n D\n HERE",
        "with a: D\nHERE",
        "try: pass\nfinally: D\nHERE",
        "try:\n D\n HERE\nfinally: pass",
        "device: torch.device = torch.device('cuda')\nHERE",
        "device, a = torch.device('cuda'), 1\nHERE",
        "device = 'cuda'\nHERE",
        "device = torch.device(0)\nHERE",
        "device = args.device\nHERE",
        "device = other = get()\nHERE",
        "from a import other\ndevice = other\nHERE",
        "def f(device): HERE",
        "def f(device='cuda'): HERE",
        "def f(*, device: torch.device): HERE",
        "def f():\n D\n HERE",
        "D\ndef f(): HERE",
        "D\ndef f():\n def g(): HERE",
        "D\nclass A:\n def f(self): HERE",
        "D\n[HERE for a in b]",
        "D\nf = lambda: HERE",
        "D\nf = lambda a=HERE: 1",
        "D\n@f(HERE)\ndef g(): pass",
        "D\ndef f():\n global device\n HERE",
    ],
)
def test_it_is_bound(source: str) -> None:
    assert proof(HEAD + source.replace("HERE", "x.cuda()").replace("D", D)) == "device"


@pytest.mark.parametrize("name", ["dev", "DEVICE", "torch_device"])
def test_other_names_of_it(name: str) -> None:
    assert proof(f"{HEAD}{name} = torch.device('cuda')\nx.cuda()") == name


@pytest.mark.parametrize("name", ["devices", "my_device", "Device", "device_id", "input_dev"])
def test_names_that_say_something_else(name: str) -> None:
    assert proof(f"{HEAD}{name} = torch.device('cuda')\nx.cuda()") == ""


def in_class(*methods: str, bases: str = "") -> str:
    body = "\n".join(f" {method}" for method in methods)
    return proof(f"{HEAD}class A{bases}:\n{body}".replace("HERE", "x.cuda()"))


SETS = "def __init__(self): self.device = get()"
USES = "def f(self): HERE"


@pytest.mark.parametrize(
    "methods",
    [
        (USES,),
        ("def set(self): self.device = get()", USES),
        ("def __init__(self):\n  if a: self.device = get()", USES),
        ("def __init__(self):\n  for a in b: self.device = get()", USES),
        ("def __init__(self):\n  def set(): self.device = get()", USES),
        ("def __init__(self):\n  if a: return\n  self.device = get()", USES),
        ("def __init__(self): other.device = get()", USES),
        ("def __init__(self): self.device = None", USES),
        ("def __init__(self): self.device = 'cpu'", USES),
        ("def __init__(self, device=None): self.device = device", USES),
        (SETS, "def close(self): self.device = None", USES),
        (SETS, "def f(): HERE"),
        (SETS, "def f(this): HERE"),
        (SETS, "@classmethod\n def f(cls): HERE"),
        (SETS, "def f(self):\n  def g(): HERE"),
        (SETS, "def f(self, a=HERE): pass"),
        (SETS, "def f(self): [HERE for self in a]"),
        ("def __init__(self):\n  HERE\n  self.device = get()",),
        ("def __init__(self):\n  self.f()\n  self.device = get()", USES),
        ("def __init__(self):\n  run(self.f)\n  self.device = get()", USES),
        ("def __init__(self): self.device = self.f()", USES),
    ],
)
def test_self_device_may_not_be_there(methods: tuple[str, ...]) -> None:
    assert in_class(*methods) == ""


def test_a_base_class_may_call_the_method_first() -> None:
    init = "def __init__(self):\n  super().__init__()\n  self.device = get()"
    assert in_class(init, USES, bases="(Trainer)") == ""
    assert in_class(init, USES, bases="(torch.nn.Module)") == "self.device"


def test_another_classes_device_is_not_mine() -> None:
    source = f"{HEAD}class A:\n {SETS}\nclass B:\n def f(self): x.cuda()"
    assert proof(source) == ""


@pytest.mark.parametrize(
    "methods",
    [
        (SETS, USES),
        (USES, SETS),
        ("def __init__(self, device): self.device = device", USES),
        ("def __init__(self, device='cuda'): self.device = torch.device(device)", USES),
        ("def __init__(self):\n  self.device = get()\n  self.f()", USES),
        ("def __init__(self):\n  self.a = other()\n  self.device = get()", USES),
        (SETS, "def f(self):\n  if a: HERE"),
    ],
)
def test_self_device_is_there(methods: tuple[str, ...]) -> None:
    assert in_class(*methods) == "self.device"


def test_the_nearest_device_is_meant() -> None:
    assert in_class(SETS, "def f(self, device): HERE") == "device"

"""Functions that only code for CUDA calls, and functions that only answer with something true there."""

from __future__ import annotations

import pytest
from reading import INTEREST, guards, identity

from xlamig.facts import ApiUse
from xlamig.flow import ProjectIndex, facts_of, summary_of
from xlamig.flow.model.callers import NO_CALLERS
from xlamig.syntax import module_from_text

HERE = "torch.cuda.synchronize()"
PLUGIN = f"""
import torch
def name_of_gpu():
    {HERE}
def get_plugin(name):
    return load(name, name_of_gpu())
"""
OP = """
import torch
from lib.plugins import get_plugin
_plugin = None
def _init():
    global _plugin
    if _plugin is None:
        _plugin = get_plugin("op")
    return True
def op(x, impl="cuda"):
    BODY
    return x + 1
"""


def guards_around(filename: str, files: dict[str, str]) -> list[str]:
    """Return the kinds of the guards of the call in a file of a project."""
    trees = {name: module_from_text(text) for name, text in files.items()}
    interfaces = {}
    for name, text in files.items():
        module, package = identity(name)
        interfaces[module] = summary_of(trees[name], text, module, package).interface
    index, (module, package) = ProjectIndex(interfaces), identity(filename)
    needed, callers = index.needed_by(interfaces[module]), index.callers.get(module, NO_CALLERS)
    text = files[filename]
    found = facts_of(trees[filename], text, module, package, INTEREST, needed, callers=callers).facts
    uses = [fact for fact in found if isinstance(fact, ApiUse) and fact.name == "torch.cuda.synchronize"]
    return [" ".join(guard.kind for guard in use.guards) for use in uses]


def guards_of(**texts: str) -> list[str]:
    """Return those in the plugins."""
    files = {f"lib/{name}.py": text for name, text in {"plugins": PLUGIN, **texts}.items()}
    return guards_around("lib/plugins.py", files)


GUARDED = [
    "if impl == 'cuda' and x.device.type == 'cuda' and _init(): return _plugin.run(x)",
    "return _plugin.run(x) if x.is_cuda and _init() else x",
    "if x.device.type != 'cuda': return x\n    _init()",
    "if x.is_cuda:\n        for y in x:\n            with z: _init()",
    "for y in x:\n        if not y.is_cuda: continue\n        _init()",
    "if x.is_cuda: return (lambda: _init())()",
    "if torch.cuda.is_available() and x.is_cuda: _init()",
    "on_cuda = x.is_cuda\n    if on_cuda: _init()",
]
NOT_GUARDED = [
    "if _init() and x.is_cuda: return x",
    "if x.is_cuda or _init(): return x",
    "if not x.is_cuda: _init()",
    "if x.is_cuda and _init(): return x\n    _init()",
    "if x.is_cuda: _init()\n    register(_init)",
    "if x.is_cuda: return x\n    _init()",
    "if x.device.type != 'cuda': raise ValueError\n    _init()",
    "if impl == 'fast' and _init(): return x",
    "if torch.cuda.is_available() and _init(): return x",
    "use = torch.cuda.is_available()\n    if use: _init()",
    "if torch.cuda.device_count() > 0: _init()",
]


@pytest.mark.parametrize("body", NOT_GUARDED)
def test_a_function_that_other_code_calls_too_may_run(body: str) -> None:
    assert guards_of(op=OP.replace("BODY", body)) == [""]


@pytest.mark.parametrize("body", GUARDED)
def test_functions_that_only_code_for_cuda_reaches(body: str) -> None:
    assert guards_of(op=OP.replace("BODY", body)) == ["cuda"]


@pytest.mark.parametrize(
    "other",
    [
        "from lib.plugins import get_plugin\nget_plugin('x')",
        "import torch\nfrom lib.plugins import get_plugin\ndef f(cuda): return map(get_plugin, cuda)",
        OP.replace("BODY", "_init()"),
    ],
)
def test_a_caller_in_another_file_counts(other: str) -> None:
    op = OP.replace("BODY", GUARDED[0])
    assert guards_of(op=op, other=f"import torch\n{other}") == [""]
    assert guards_of(op=op, other="import torch\nfrom lib.plugins import get_plugin") == ["cuda"]
    assert guards_of(op=op, other=OP.replace("BODY", GUARDED[1])) == ["cuda"]


OWN = """
import torch
def run(x):
    BODY
    return x
def make(x, n):
    class Op(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            if n > 1: HERE
            return make(x, n - 1).apply(x)
    return Op
def plain(x):
    if x.is_cuda: return make(x, 1)
    return x
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [("if x.is_cuda: return make(x, 2).apply(x)", "cuda"), ("return make(x, 2).apply(x)", "")],
)
def test_what_stands_inside_of_such_a_function(body: str, expected: str) -> None:
    text = OWN.replace("BODY", body).replace("HERE", HERE)
    assert guards_around("own.py", {"own.py": text}) == [expected]


ANSWER = "def usable(x, n=1):\n {body}\ndef f(x):\n if usable(x): " + HERE


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if x.device.type != 'cuda': return False\n return True", "cuda"),
        ("if not n: return False\n if x.device.type != 'cuda': return False\n return True", "cuda"),
        ("if not x.is_cuda: return\n return n > 1", "cuda"),
        ("if not torch.cuda.is_available(): return False\n return n > 1", "cuda"),
        ("if n: return False\n return x.is_cuda and n > 1", "cuda"),
        ("if x.is_cuda:\n  if n > 1: return True\n return False", "cuda"),
        ("if x.device.type != 'cuda': return True\n return False", ""),
        ("if n: return False\n return True", ""),
        ("if n: return True\n if not x.is_cuda: return False\n return True", ""),
        ("if not x.is_cuda: return n\n return True", ""),
        ("if not x.is_cuda: raise E\n return True", ""),
        ("return False if usable(x) else n", ""),
    ],
)
def test_a_function_whose_answer_only_cuda_makes_true(body: str, expected: str) -> None:
    assert guards("import torch\n" + ANSWER.format(body=body)) == [expected]

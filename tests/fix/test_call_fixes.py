"""Fixes of calls, from source to source: what takes their place and where they hold back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xlamig import engine
from xlamig.fix.edits import apply_edits
from xlamig.fix.template import fill

Page = Callable[..., Any]

AVAILABLE = "torch.cuda.is_available()"
CUDA_ELSE_XLA = '"xla" if default_device().type == "xla" else "cuda"'
IMPORTS = "import os\nimport torch\nimport torch.distributed as dist\nfrom torch import nn\n"


def fixed(code: str, rule: str, **settings: Any) -> list[str]:
    """The lines that differ after all fixes of the rule, without imports."""
    source = f"{IMPORTS}{code}\n"
    options = engine.Options(
        {"select": [rule], **settings}, isolated=True, jobs=1, cache=False, stdin=("a.py", source.encode())
    )
    outcome = engine.fix([Path("a.py")], options, frozenset({"safe", "unsafe"}), write=False)
    assert outcome.stdin is not None and not outcome.problems
    old = source.splitlines()
    return [s.strip() for s in outcome.stdin.text.splitlines() if s not in old and "import " not in s]


@pytest.mark.parametrize(
    ("rule", "line", "written"),
    [
        ("XLA004", "x = torch.cuda.device_count()", "x = device_count()"),
        ("XLA004", "print(torch.cuda.device_count())", None),
        ("XLA004", f"if {AVAILABLE}: x = torch.cuda.device_count()", None),
        ("XLA004", "print('uses', torch.cuda.get_device_name(rank))",
         "print('uses', (str(default_device()) if default_device().type == \"xla\" "
         "else torch.cuda.get_device_name(rank)))"),
        ("XLA004", "x = 'GPU ' + str(torch.cuda.current_device())",
         "x = 'GPU ' + str((default_device().index if default_device().type == \"xla\" "
         "else torch.cuda.current_device()))"),
        ("XLA004", "x = f'GPU {torch.cuda.current_device()}'",
         "x = f'GPU {(default_device().index if default_device().type == \"xla\" "
         "else torch.cuda.current_device())}'"),
        ("XLA004", 'x = f"GPU {torch.cuda.current_device()}"',
         "x = f\"GPU {(default_device().index if default_device().type == 'xla' "
         "else torch.cuda.current_device())}\""),
        ("XLA004", "x = y.to(torch.cuda.current_device())", None),
        ("XLA004", "x = str(y.to(torch.cuda.current_device()))", None),
        ("XLA004", f"if {AVAILABLE}: print(torch.cuda.get_device_name(0))", None),
        ("XLA005", "torch.cuda.synchronize()", "wait_for_device()"),
        ("XLA005", "torch.cuda.synchronize(args.gpu)", "wait_for_device(args.gpu)"),
        ("XLA005", "torch.cuda.synchronize(torch.cuda.current_device())", None),
        ("XLA502", "nn.TransformerEncoder(layer, 2)(x, src_key_padding_mask=m)",
         "nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)(x, src_key_padding_mask=m)"),
        ("XLA502", "nn.TransformerEncoder(layer, 2)(x)", None),
        ("XLA701", 'dist.init_process_group("nccl", rank=rank, world_size=2)', None),
        ("XLA701", 'dist.init_process_group("nccl", **options)', None),
        ("XLA907", "torch.load(x, map_location=args.device)",
         'torch.load(x, map_location="cpu" if str(args.device).startswith("xla") else args.device)'),
        ("XLA712", "x = torch.device('cuda', rank)", "x = default_device(rank)"),
        ("XLA712", "x = torch.device(f'cuda:{rank}')", "x = default_device(int(rank))"),
        ("XLA712", "x = y.to('cuda:{}'.format(rank))", "x = y.to(default_device(int(rank)))"),
        ("XLA712", "x = y.to('cuda:%d' % rank)", "x = y.to(default_device(rank))"),
        ("XLA712", "x = y.to('cuda:' + os.environ['LOCAL_RANK'])",
         "x = y.to(default_device(int(os.environ['LOCAL_RANK'])))"),
        ("XLA712", "x = y.cuda(rank, True)", "x = y.to(default_device(rank), non_blocking=True)"),
        ("XLA712", "x = y.to(f'cuda:{rank + 1:02d}')", None),
        ("XLA712", "torch.cuda.set_device(rank); f()", None),
        ("XLA801", "f(torch.autocast('cuda', dtype=torch.bfloat16))",
         'f(torch.autocast("xla" if default_device().type == "xla" else \'cuda\', dtype=torch.bfloat16))'),
        ("XLA801", "f(torch.autocast('cuda'))", None),
        ("XLA801", "f(torch.cuda.amp.autocast(True, torch.bfloat16))",
         f"f(torch.autocast({CUDA_ELSE_XLA}, dtype=torch.bfloat16, enabled=True))"),
    ],
)  # fmt: skip
def test_calls(rule: str, line: str, written: str | None) -> None:
    assert fixed(f"def main(x, y, args, rank):\n    {line}", rule) == ([written] if written else [])


def test_a_statement_for_cuda_alone_is_put_under_a_test() -> None:
    assert fixed("def main(rank):\n    torch.cuda.set_device(rank)  # mine", "XLA712") == [
        "if torch.cuda.is_available():",
        "torch.cuda.set_device(rank)  # mine",
    ]


@pytest.mark.parametrize(
    ("chosen", "written"),
    [
        ('torch.device("cuda" if torch.cuda.is_available() else "cpu")', True),
        ('"cuda:0" if torch.cuda.is_available() else "cpu"', True),
        ('torch.device("cpu" if not torch.cuda.is_available() else "cuda")', True),
        ('"cpu" if not (torch.cuda.is_available()) else "cuda"', True),
        ('"cpu" if str(x).startswith("xla") else x', False),
        ('torch.device("cpu")', False),
        ("default_path", False),
    ],
)
def test_a_file_is_loaded_to_the_device_that_a_name_holds(chosen: str, written: bool) -> None:
    load = "torch.load(x, map_location={})"
    place = '"cpu" if str(where).startswith("xla") else where'
    lines = f"def main(x, model):\n    where = {chosen}\n    {load.format('where')}\n    model.to(where)"
    assert fixed(lines, "XLA907") == ([load.format(place)] if written else [])


OPTION = "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--device', choices={})"


@pytest.mark.parametrize(
    ("choices", "written"),
    [
        ("['cuda', 'cpu']", "['cuda', 'cpu', 'xla']"),
        ("('cuda', 'cpu',)", "('cuda', 'cpu', 'xla',)"),
        ("['cuda', 'cpu', 'xla']", None),
        ("DEVICES", None),
    ],
)
def test_an_option_takes_xla(choices: str, written: str | None) -> None:
    assert fixed(OPTION.format(choices), "XLA013") == (
        [OPTION.format(written).splitlines()[-1]] if written else []
    )


@pytest.mark.parametrize(
    ("decorator", "default", "written"),
    [
        ("@dataclass", '"cuda"', "field(default_factory=lambda: default_device().type)"),
        ("@dataclass(frozen=True)", '"cuda:0"', "field(default_factory=lambda: str(default_device(0)))"),
        ("@dataclass", '"cuda:1"', None),
        ("@other", '"cuda"', "default_device().type"),
    ],
)
def test_a_field_of_a_dataclass_chooses_for_each_object(
    decorator: str, default: str, written: str | None
) -> None:
    head = f"from dataclasses import dataclass\n{decorator}\nclass Config:\n    device: str = "
    assert fixed(head + default, "XLA001") == ([f"device: str = {written}"] if written else [])


DEFAULT_TYPE = """
def rays(n):
    return torch.Tensor([1.0]).expand(n), torch.Tensor([2.0]).to("cpu")

def main():
    torch.set_default_tensor_type({given})
    rays(2)
"""


@pytest.mark.parametrize(
    ("given", "dtype"), [("'torch.cuda.FloatTensor'", ""), ("torch.cuda.DoubleTensor", "float64")]
)
def test_a_default_cuda_type_becomes_a_default_device(given: str, dtype: str) -> None:
    written = fixed(DEFAULT_TYPE.format(given=given), "XLA011")
    assert written == [
        'return torch.Tensor([1.0]).expand(n).to(default_device()), torch.Tensor([2.0]).to("cpu")',
        'if default_device().type == "cuda":',
        f"torch.set_default_tensor_type({given})",
        "else:",
        "torch.set_default_device(default_device())",
        *([f"torch.set_default_dtype(torch.{dtype})"] if dtype else []),
    ]


@pytest.mark.parametrize("given", ["torch.FloatTensor", "kind"])
def test_other_default_types_stay(given: str) -> None:
    assert fixed(DEFAULT_TYPE.format(given=given), "XLA011") == []


def test_a_device_is_asked_for_its_type_only_if_it_is_one() -> None:
    line = "\n    f(torch.autocast('cuda', dtype=torch.bfloat16))"
    told = '"xla" if {}.type == "xla" else \'cuda\''
    of_device = fixed(f"def main(f):\n    device = torch.device('cuda'){line}", "XLA801")
    assert of_device[-1] == f"f(torch.autocast({told.format('device')}, dtype=torch.bfloat16))"
    of_text = fixed(f"def main(f, device):{line}", "XLA801")
    assert of_text[-1] == f"f(torch.autocast({told.format('default_device()')}, dtype=torch.bfloat16))"


@pytest.mark.parametrize(
    ("head", "style", "written"),
    [
        ("import torch_xla", "portable", "torch_xla.runtime.world_size()"),
        ("try:\n    import torch_xla\nexcept ImportError:\n    pass", "portable", None),
        ("", "portable", None),
        ("", "native", "torch_xla.runtime.world_size()"),
    ],
)
def test_portable_code_names_torch_xla_only_where_it_is_there(
    page: Page, head: str, style: str, written: str | None
) -> None:
    p = page(f"{head}\nimport torch\nx = torch.ones(1)\n", style=style)
    fact = p.call("torch.ones(1)", "torch.ones")
    filled = fill("{import torch_xla.runtime}.world_size()", p.context, fact, fact.span)
    assert (filled and filled.text) == written


def test_imports_at_one_place_are_one_edit(page: Page) -> None:
    p = page("import torch\nx = torch.ones(1)\n")
    fact = p.call("torch.ones(1)", "torch.ones")
    filled = fill("{{{import os}, {import math}, {torch}, {a}}}", p.context, fact, fact.span, {"a": "1"})
    assert filled is not None and filled.text == "{os, math, torch, 1}"
    assert apply_edits(p.text, filled.edits) == "import torch\nimport os\nimport math\nx = torch.ones(1)\n"


@pytest.mark.parametrize(
    ("code", "written"),
    [
        (f"if {AVAILABLE}:\n        return 1, torch.device('cuda')\n    return 0, torch.device('cpu')",
         ["return 0, default_device()"]),
        (f"if {AVAILABLE}:\n        d, n = 'cuda', 2\n    else:\n        d, n = 'cpu', 1\n    return d",
         ["d, n = default_device().type, 1"]),
        ("if torch.cuda.is_available():\n        return 'cuda', 1\n    return 1, 'cpu'", []),
        ("a = 'gpu' if torch.cuda.is_available() else 'cpu'\n    return a == 'gpu'",
         ["a = 'gpu' if torch.cuda.is_available() or default_device().type == \"xla\" else 'cpu'"]),
        ("a = 'gpu' if torch.cuda.is_available() else 'cpu'\n    return Trainer(a)", []),
    ],
)  # fmt: skip
def test_selections(code: str, written: list[str]) -> None:
    assert fixed(f"def main():\n    {code}", "XLA003") == written

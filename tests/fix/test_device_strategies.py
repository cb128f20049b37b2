from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from xlamig.facts import Guard
from xlamig.fix import helper

Page = Callable[..., object]
IMPORT = "from xla_compat import default_device\n"
TERNARY = '"cuda" if torch.cuda.is_available() else "cpu"'


# ------------------------------------------------------------------------------ held back


@pytest.mark.parametrize(
    "fields",
    [
        {"index": "rank", "device": "cuda:*"},
        {"index": "expression", "device": "cuda:*"},
        {"index": "constant", "device": "cuda:1"},
        {"result": "unknown", "position": "setting"},
        {"via": "accelerator"},
        {"guards": (Guard("cuda", "torch.cuda.is_available()", (0, 0)),)},
        {"guards": (Guard("other-device", "x", (0, 0)),)},
    ],
)
def test_literal_that_says_more_than_the_default_device(page: Page, fields: dict[str, object]) -> None:
    p = page('import torch\nx = x.to("cuda")\n')
    assert p.draft("device-literal", p.device('"cuda"', **fields)) is None


@pytest.mark.parametrize(
    "text",
    [
        'import torch\ndef f(d=torch.device("cuda")): ...\n',
        'import torch\n@g(torch.device("cuda"))\ndef f(): ...\n',
        'import torch\ndef default_device(): ...\nx = torch.device("cuda")\n',
        'import torch\nfrom other import default_device\nx = torch.device("cuda")\n',
        'import torch\nprint(f"{torch.device("cuda")}")\n'.replace('"cuda"', "'cuda'"),
        'import torch\nd = torch.device("cuda", rank)\n',
        'import torch\nd = torch.device(\n    # the first\n    "cuda"\n)\n',
    ],
)
def test_places_where_the_helper_is_not_called(page: Page, text: str) -> None:
    p = page(text)
    literal = "'cuda'" if "'cuda'" in text else '"cuda"'
    assert p.draft("device-literal", p.device(literal, position="torch.device")) is None


@pytest.mark.parametrize("style", ["portable", "native"])
@pytest.mark.parametrize("target", ["torch_xla", "torch_tpu"])
def test_a_library_decides_nothing_when_imported(page: Page, style: str, target: str) -> None:
    p = page(
        'import torch\nDEV = torch.device("cuda")\n', "pkg/a.py", Path("pkg"), style=style, target=target
    )
    assert p.draft("device-literal", p.device('torch.device("cuda")')) is None


@pytest.mark.parametrize(
    "text",
    [
        'def f(x, device=None):\n    x.to("cuda")\n',
        'def f(x, device="cpu"):\n    x.to("cuda")\n',
        'def f(x, device):\n    x.to(device or "cuda")\n',
        'def f(x, device):\n    if device is None:\n        x.to("cuda")\n',
        'def f(x, device):\n    device = torch.device("cuda")\n',
        'device = torch.device("cpu")\ndef f(x):\n    x.to("cuda")\n',
        'def f(x, device):\n    x.to("cuda")\nf(1, "cpu")\n',
        'def f(x, device):\n    x.to("cuda")\nf(1, device=torch.device("cpu"))\n',
        'class A:\n    def f(self, device, x):\n        x.to("cuda")\nA().f("cpu", 1)\n',
    ],
)
def test_a_variable_that_may_not_hold_the_device(page: Page, text: str) -> None:
    p = page("import torch\n" + text)
    draft = p.draft("device-literal", p.device('"cuda"', proofs={"device-in-scope": "device"}))
    assert draft is not None
    assert draft.edits[-1].content == "default_device()"


@pytest.mark.parametrize(
    "fields",
    [
        {"form": "if-else"},
        {"form": "move", "via": "move"},
        {"fallback": "none"},
        {"fallback": "other"},
        {"result": "unknown"},
        {"parts": {}},
        {"device": "cuda:1", "index": "constant"},
    ],
)
def test_selection_that_is_not_rewritten(page: Page, fields: dict[str, object]) -> None:
    p = page(f"import torch\nd = {TERNARY}\n")
    assert p.draft("device-selection", p.selection(TERNARY, **{"result": "device", **fields})) is None


def test_a_string_stays_a_string(page: Page) -> None:
    p = page(f'import torch\nparser.add_argument("--device", default={TERNARY})\n')
    fixed = p.fixed("device-selection", p.selection(TERNARY, result="string"))
    assert fixed and fixed.endswith("default=default_device().type)\n")
    p = page('import torch\ndef f():\n    dev = "cuda:0"\n')
    fixed = p.fixed(
        "device-literal", p.device('"cuda:0"', device="cuda:0", index="constant", result="string")
    )
    assert fixed and fixed.endswith("    dev = str(default_device(0))\n")


def test_a_second_condition_is_kept(page: Page) -> None:
    text = '"cuda" if torch.cuda.is_available() and args.cuda else "cpu"'
    p = page(f"import torch\nd = torch.device({text})\n")
    rest = p.text.index("args.cuda")
    parts = {"availability": (0, 0), "rest": (rest, rest + len("args.cuda"))}
    fixed = p.fixed("device-selection", p.selection(text, result="device", parts=parts))
    assert fixed and fixed.endswith('d = default_device() if args.cuda else torch.device("cpu")\n')


@pytest.mark.parametrize("call", ["x.cuda(rank)", "x.cuda(1)", "x.cuda(*a)", "x.cuda(False)", "x.cuda(y=1)"])
def test_cuda_call_with_a_chosen_device_stays(page: Page, call: str) -> None:
    p = page(f"import torch\n{call}\n")
    assert p.draft("cuda-method", p.call(call, "Tensor.cuda")) is None


# ------------------------------------------------------------------------------ written


def test_literal_becomes_the_variable_in_scope(page: Page) -> None:
    p = page('def f(x, device):\n    return x.to("cuda", non_blocking=True)\n')
    fact = p.device('"cuda"', proofs={"device-in-scope": "device"})
    assert p.fixed("device-literal", fact) == p.text.replace('"cuda"', "device")


@pytest.mark.parametrize(
    "calls",
    ["f(1, 'cuda')", "f(1, device)", "f(*all)", "f('cpu', 'cuda')", "g(1, 'cpu')", "f(1, other='cpu')"],
)
def test_calls_that_pass_the_device(page: Page, calls: str) -> None:
    p = page(f'import torch\ndef f(x, device):\n    x.to("cuda")\n{calls}\n')
    draft = p.draft("device-literal", p.device('"cuda"', proofs={"device-in-scope": "device"}))
    assert draft is not None and draft.edits[-1].content == "device"


def test_a_constructor_that_gets_the_cpu(page: Page) -> None:
    text = (
        "import torch\nclass A:\n    def __init__(self, device):\n        self.device = device\n"
        '    def f(self, x):\n        x.to("cuda")\nA(DEVICE)\n'
    )
    for given, written in (('"cpu"', "default_device()"), ('"gpu"', "self.device")):
        p = page(text.replace("DEVICE", given))
        draft = p.draft("device-literal", p.device('"cuda"', proofs={"device-in-scope": "self.device"}))
        assert draft is not None and draft.edits[-1].content == written


def test_a_device_elsewhere_in_the_file_does_not_matter(page: Page) -> None:
    text = 'def f(x, device):\n    return x.to("cuda")\ndevice = torch.device("cpu")\nf(x, device)\n'
    p = page(text)
    fact = p.device('"cuda"', proofs={"device-in-scope": "device"})
    assert p.fixed("device-literal", fact) == text.replace('"cuda"', "device")


def test_an_attribute_that_is_the_cpu(page: Page) -> None:
    init = '    def __init__(self):\n        self.device = "cpu"\n'
    p = page(f'class A:\n{init}    def f(self, x):\n        x.to("cuda")\n')
    draft = p.draft("device-literal", p.device('"cuda"', proofs={"device-in-scope": "self.device"}))
    assert draft is not None
    assert draft.edits[-1].content == "default_device()"


@pytest.mark.parametrize(("device", "index"), [("cuda", ""), ("cuda:0", "0")])
def test_literal_becomes_the_helper(page: Page, device: str, index: str) -> None:
    p = page(f'import torch\ndef f(x):\n    return x.to("{device}")  # gpu\n')
    fact = p.device(f'"{device}"', device=device, index="constant" if ":" in device else "")
    assert p.fixed("device-literal", fact) == (
        f"import torch\n{IMPORT}def f(x):\n    return x.to(default_device({index}))  # gpu\n"
    )
    (create,) = p.draft("device-literal", fact).creates
    assert (create.filename, create.content) == ("xla_compat.py", helper.TEXT)


def test_existing_helper_is_not_created_again(page: Page, tmp_path: Path) -> None:
    (tmp_path / "xla_compat.py").write_text(helper.TEXT)
    p = page('import torch\nx.to("cuda")\n')
    assert p.draft("device-literal", p.device('"cuda"')).creates == ()


def test_helper_of_a_package_lies_in_its_top_folder(page: Page) -> None:
    p = page('import torch\ndef f(x):\n    x.to("cuda")\n', "src/pkg/sub/a.py", Path("src/pkg"), helper="dev")
    draft = p.draft("device-literal", p.device('"cuda"'))
    assert "from pkg.dev import default_device" in draft.edits[0].content
    assert draft.creates[0].filename == "src/pkg/dev.py"


def test_an_absolute_package_folder_gives_a_relative_helper(page: Page, tmp_path: Path) -> None:
    p = page('def f(x):\n    x.to("cuda")\n', "pkg/a.py", tmp_path / "pkg")
    assert p.draft("device-literal", p.device('"cuda"')).creates[0].filename == "pkg/xla_compat.py"


def test_torch_device_call_goes_with_its_literal(page: Page) -> None:
    p = page('import torch\nd = torch.device("cuda")\n')
    for piece in ('"cuda"', 'torch.device("cuda")'):
        fixed = p.fixed("device-literal", p.device(piece, position="torch.device"))
        assert fixed == f"import torch\n{IMPORT}d = default_device()\n"


def test_native_style_names_xla(page: Page) -> None:
    p = page('import torch\nx.to("cuda")\n', style="native")
    fixed = p.fixed("device-literal", p.device('"cuda"'))
    assert fixed == "import torch\nimport torch_xla\nx.to(torch_xla.device())\n"


def test_torch_tpu_asks_the_accelerator(page: Page) -> None:
    p = page('import torch as t\nx.to("cuda")\n', target="torch_tpu")
    fixed = p.fixed("device-literal", p.device('"cuda"'))
    assert fixed == 'import torch as t\nx.to(t.device(t.accelerator.current_accelerator() or "cpu"))\n'


def test_selection_inside_torch_device(page: Page) -> None:
    p = page(f"import torch\nd = torch.device({TERNARY})\n")
    fixed = p.fixed("device-selection", p.selection(TERNARY, result="string"))
    assert fixed == f"import torch\n{IMPORT}d = default_device()\n"


def test_selection_over_lines(page: Page) -> None:
    text = '(\n    "cuda"\n    if torch.cuda.is_available()\n    else "cpu"\n)'
    p = page(f"import torch\nd = {text}\n")
    fixed = p.fixed("device-selection", p.selection(text[2:-2].strip(), result="device"))
    assert fixed == f"import torch\n{IMPORT}d = (\n    default_device()\n)\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.cuda()", "x.to(device)"),
        ("x.cuda(0)", "x.to(device)"),
        ("x.cuda(device=None)", "x.to(device=device)"),
        ("x.cuda( )", "x.to(device )"),
        ("x.cuda(non_blocking=True)", "x.to(device, non_blocking=True)"),
        ("x.cuda(None, True)", "x.to(device, non_blocking=True)"),
        ("(a +\n b).cuda(memory_format=m)", "(a +\n b).to(device, memory_format=m)"),
        ("net(x)\\\n  .cuda()", "net(x)\\\n  .to(device)"),
    ],
)
def test_cuda_becomes_to(page: Page, before: str, after: str) -> None:
    p = page(f"def f(device):\n    y = ({before})  # .cuda()\n")
    fact = p.call(before, "Tensor.cuda", proofs={"device-in-scope": "device"})
    assert p.fixed("cuda-method", fact) == f"def f(device):\n    y = ({after})  # .cuda()\n"


def test_a_program_inside_a_package_decides_when_it_starts(page: Page) -> None:
    text = 'import argparse\nimport torch\n{}\nDEV = torch.device("cuda")\n'
    for line, decides in (
        ("args = argparse.ArgumentParser().parse_args()", True),
        ("def args():\n    return argparse.ArgumentParser().parse_args()", False),
    ):
        p = page(text.format(line), "pkg/a.py", Path("pkg"))
        drafted = p.draft("device-literal", p.device('"cuda"', position="torch.device"))
        assert (drafted is not None) is decides

"""CUDA or CPU: the ways to ask, and what is not one."""

from __future__ import annotations

import pytest
from reading import devices, facts_in

from xlamig.facts import DeviceChoice

CUDA = "torch.cuda.is_available()"
MPS = "torch.backends.mps.is_available()"


def choices(source: str) -> list[DeviceChoice]:
    text = f"import torch\n{source}".replace("CUDA", CUDA).replace("MPS", MPS)
    return facts_in(text, DeviceChoice)


def selections(source: str) -> list[str]:
    return [f"{c.form} {c.device} {c.fallback} {c.result}" for c in choices(source) if c.via == "selection"]


@pytest.mark.parametrize(
    "source",
    [
        "x = 1 if CUDA else 2",
        "x = CUDA",
        "print(CUDA)",
        "device = 'cuda' if x else 'cpu'",
        "device = 'cuda' if x.is_cuda else 'cpu'",
        "device = 'cuda' if CUDA else 'mps'",
        "device = 'mps' if MPS else 'cpu'",
        "device = 'xla' if use_xla else 'cuda' if x else 'cpu'",
        "device = 'cuda' if CUDA else 'xla' if tpu else 'cpu'",
        "device = 'cuda' if CUDA else xm.xla_device()",
        "n = torch.cuda.device_count() if CUDA else 0",
        "x = CUDA and 'cuda'",
        "x = y and 'cuda' or 'cpu'",
        "x = CUDA and 'cuda' or 'mps'",
        "if CUDA: print('cuda')\nelse: print('cpu')",
        "if CUDA: a = 'cuda'\nelse: b = 'cpu'",
        "if CUDA: device = 'cuda'\nelif use_xla: device = x\nelse: device = 'cpu'",
        "if CUDA: device = 'cuda'",
        "b = 'cpu'\nif CUDA: device = 'cuda'",
        "def f():\n if CUDA: return 'cuda'\n x = 'cpu'",
        "def f():\n if x: return 'cuda'\n return 'cpu'",
        "if use_xla: device = 'xla'\nelif CUDA: device = 'cuda'\nelse: device = 'cpu'",
        "device = 'cpu'\nif CUDA: device = 'cuda'\nif args.tpu: device = xm.xla_device()",
        "def f():\n try: return torch_xla.device()\n except E: pass\n if CUDA: return 'cuda'\n return 'cpu'",
        "def f(d):\n if d == 'auto':\n  if CUDA: return 'cuda'\n return torch.device(d)",
        "device = 'cpu'\nif x: device = pick()\nif CUDA: device = 'cuda'",
        "device = 'cpu'\nif args.gpu:\n device = 'cuda'\nif CUDA: print(1)",
        "torch.load(p, map_location='cuda' if CUDA else 'cpu')",
        "torch.load(p, map_location=torch.device('cuda' if CUDA else 'cpu'))",
        "def f():\n loc = 'cuda:{}'.format(n) if CUDA else 'cpu'\n torch.load(p, map_location=loc)",
        "def f():\n if CUDA: loc = 'cuda'\n else: loc = 'cpu'\n torch.load(p, map_location=loc)",
    ],
)
def test_no_selection(source: str) -> None:
    assert selections(source) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("device = 'cuda' if CUDA else 'cpu'", "ternary cuda cpu string"),
        ("device = 'cpu' if not CUDA else 'cuda'", "ternary cuda cpu string"),
        ("device = 'cuda:1' if CUDA else 'cpu'", "ternary cuda:1 cpu string"),
        ("device = 'cuda' if CUDA and output else 'cpu'", "ternary cuda cpu string"),
        ("device = f'cuda:{i}' if CUDA else 'cpu'", "ternary cuda:* cpu string"),
        ("device = 'cuda' if torch.cuda.device_count() > 0 else 'cpu'", "ternary cuda cpu string"),
        ("device = 'cuda' if torch.cuda.device_count() == 1 else 'cpu'", "ternary cuda cpu string"),
        ("device = torch.device('cuda' if CUDA else 'cpu')", "ternary cuda cpu device"),
        ("device = torch.device('cuda') if CUDA else torch.device('cpu')", "ternary cuda cpu device"),
        ("device = torch.device(0 if CUDA else 'cpu')", "ternary cuda:0 cpu device"),
        ("device = 'cuda' if CUDA else 'mps' if MPS else 'cpu'", "chain cuda cpu string"),
        ("device = 'mps' if MPS else 'cuda' if CUDA else 'cpu'", "chain cuda cpu string"),
        ("device = device or ('cuda' if CUDA else 'cpu')", "ternary cuda cpu string"),
        ("device = a if a else ('cuda' if CUDA else 'cpu')", "ternary cuda cpu string"),
        ("device = ('cuda' if CUDA else 'cpu') if a is None else a", "ternary cuda cpu string"),
        ("def f(device='cuda' if CUDA else 'cpu'): pass", "ternary cuda cpu string"),
        ("def f(): return 'cuda' if CUDA else 'cpu'", "ternary cuda cpu string"),
        ("x.to('cuda' if CUDA else 'cpu')", "ternary cuda cpu string"),
        ("torch.zeros(1, device='cuda' if CUDA else 'cpu')", "ternary cuda cpu string"),
        ("p.add_argument('--device', default='cuda' if CUDA else 'cpu')", "ternary cuda cpu string"),
        ("use = CUDA\ndevice = 'cuda' if use else 'cpu'", "ternary cuda cpu string"),
        ("use = CUDA\ndevice = use and 'cuda' or 'cpu'", "and cuda cpu string"),
        ("device = CUDA and 'cuda' or 'cpu'", "and cuda cpu string"),
        ("if CUDA: device = 'cuda'\nelse: device = 'cpu'", "if-else cuda cpu string"),
        ("if not CUDA: device = 'cpu'\nelse: device = 'cuda'", "if-else cuda cpu string"),
        ("if CUDA and args.output: device = 'cuda'\nelse: device = 'cpu'", "if-else cuda cpu string"),
        (
            "if CUDA: device = torch.device('cuda')\nelse: device = torch.device('cpu')",
            "if-else cuda cpu device",
        ),
        ("device = 'cpu'\nif CUDA: device = 'cuda'", "if-else cuda cpu string"),
        ("if CUDA: d = 'cuda'\nelif MPS: d = 'mps'\nelse: d = 'cpu'", "if-else cuda cpu string"),
        ("if MPS: d = 'mps'\nelif CUDA: d = 'cuda'\nelse: d = 'cpu'", "if-else cuda cpu string"),
        ("def f():\n if CUDA: return 'cuda'\n return 'cpu'", "if-else cuda cpu string"),
        ("def f():\n if not CUDA: return 'cpu'\n return 'cuda'", "if-else cuda cpu string"),
        ("def f():\n if CUDA: return 'cuda'\n else: return 'cpu'", "if-else cuda cpu string"),
        ("def f():\n if CUDA: return 'cuda'\n if MPS: return x\n return 'cpu'", "if-else cuda cpu string"),
        ("def f():\n if not CUDA: return 'cpu'\n n = x()\n return f'cuda:{n}'", "if-else cuda:* cpu string"),
        ("d = 'cpu'\nprint(1)\nif CUDA and not args.cpu:\n d = 'cuda'", "if-else cuda cpu string"),
        ("d = 'cpu'\nif x:\n if CUDA: d = 'cuda'", "if-else cuda cpu string"),
        ("d = None\nif CUDA: d = 'cuda'\nif d is None: d = 'cpu'", "if-else cuda cpu string"),
        ("for i in x:\n if CUDA: d = 'cuda'\n else: d = 'cpu'", "if-else cuda cpu string"),
    ],
)
def test_a_selection_is_told_once(source: str, found: str) -> None:
    assert selections(source) == [found]
    assert len(choices(source)) == 1  # and its literals not again


KINDS = "class Kind({base}):\n GPU = 'cuda'\n HOST = 'cpu'\n SIZE = 'l'\n"


@pytest.mark.parametrize(
    ("base", "result"), [("str, Enum", "unknown"), ("StrEnum", "unknown"), ("", "string")]
)
@pytest.mark.parametrize(
    ("source", "form"),
    [
        ("device = Kind.HOST\nif CUDA: device = Kind.GPU", "if-else"),
        ("device = Kind.GPU if CUDA else Kind.HOST", "ternary"),
        ("def f():\n if CUDA: return Kind.GPU\n return Kind.HOST", "if-else"),
    ],
)
def test_devices_named_in_a_class(base: str, result: str, source: str, form: str) -> None:
    assert selections(KINDS.format(base=base) + source) == [f"{form} cuda cpu {result}"]


@pytest.mark.parametrize(
    "source",
    [
        "device = Kind.SIZE if CUDA else Kind.HOST",
        "device = Kind.HOST\nif CUDA: size = Kind.GPU",
        "device = Other.GPU if CUDA else Other.HOST",
        "Kind = load()\ndevice = Kind.GPU if CUDA else Kind.HOST",
    ],
)
def test_other_names_in_a_class_are_no_devices(source: str) -> None:
    assert selections(KINDS.format(base="Enum") + source) == []


def test_an_arm_for_xla_leaves_its_mark() -> None:
    """Rules take the guard as the program's own care for TPUs."""
    found = choices("device = 'xla' if use_xla else 'cuda' if CUDA else 'cpu'")
    assert [g.kind for c in found if c.via == "selection" for g in c.guards] == ["no-xla"]


@pytest.mark.parametrize(
    "source",
    [
        "if x: model.cuda()",
        "if x.is_cuda: y.cuda()",
        "if args.cuda: model.cuda()",
        "if CUDA: print(1)",
        "if CUDA: model.cpu()",
        "if CUDA: model.to(dtype)",
        "if CUDA: model.cuda()\nelse: model.cpu()",
        "if not CUDA: model.cuda()",
        "if CUDA or use_xla: model.cuda()",
        "if CUDA: model.cuda()\nelse: model = quantise(model)",
        "if CUDA: y = f(x.cuda())\nelse: y = g(x)",
        "if CUDA: y = f(x)\nelse: y = f(x)",
        "if CUDA: y = fused(x).cuda()\nelse: y = plain(x)",
        "if CUDA: x = f(x.cuda(), 4)\nelse: x = f(x, 2)",
        "if x: y = f(y.cuda())\nelse: y = f(y)",
        "if CUDA:\n x = x.cuda()\n g()\nelse: x = x",
        "y = f(x.cuda()) if x else f(x)",
        "y = x.cuda() if CUDA else z",
        "y = torch.ones(3).cuda() if CUDA else torch.zeros(3)",
        "y = make(3).cuda() if CUDA else make(2)",
        "y = x.cuda() if not CUDA else x",
        "t = torch.cuda.FloatTensor if CUDA else torch.DoubleTensor",
        "if CUDA: t = torch.cuda.FloatTensor\nelse: t = torch.DoubleTensor",
        "t = torch.LongTensor\nif CUDA: t = torch.cuda.FloatTensor",
        "if CUDA: t = torch.cuda.FloatTensor\nt = torch.FloatTensor",
        "if CUDA: t = 'torch.FloatTensor'\nelse: t = 'torch.FloatTensor'",
        "if CUDA: torch.set_default_device('cpu')",
        "if CUDA: x.cuda()\nelse: torch.set_default_tensor_type(T)",
        "if CUDA: f(model)",
        "def f(x):\n x = g(x)\n return h(x)\nif CUDA: y = f(y)",
        "def f(x):\n for i in x: i.cuda()\nif CUDA: f(y)",
        "def f(x): return x.cuda()\ny = f(y)",
    ],
)
def test_no_move(source: str) -> None:
    assert [c for c in choices(source) if c.via == "move"] == []


@pytest.mark.parametrize(
    ("source", "moved"),
    [
        ("if CUDA: model.cuda()", "model.cuda()"),
        ("if CUDA: model = model.cuda()", "model.cuda()"),
        ("if CUDA: model = model.half().to('cuda').train()", "model.half().to('cuda')"),
        ("if CUDA: x, y = x.cuda(), y.cuda()", "x.cuda()"),
        ("if CUDA:\n print(1)\n x.cuda()", "x.cuda()"),
        ("use = CUDA\nif use: x.cuda()", "x.cuda()"),
        ("if CUDA: model.cuda()\nelse: print('slow')", "model.cuda()"),
        ("if not CUDA: print('slow')\nelif x: model.cuda(0)\nelse: model.cuda()", "model.cuda(0)"),
        ("if not CUDA: pass\nelse: model.cuda()", "model.cuda()"),
        ("def f(x): return x.cuda()\nif CUDA: model = f(model)", "x.cuda()"),
    ],
)
def test_a_move_without_another_arm(source: str, moved: str) -> None:
    text = f"import torch\n{source}".replace("CUDA", CUDA)
    (move,) = [c for c in choices(source) if c.via == "move"]
    assert (move.form, move.fallback, move.result) == ("move", "cpu", "move")
    assert text[slice(*move.span)].startswith("if ")
    assert [text[slice(*why.span)] for why in move.related if why.span] == [moved]


@pytest.mark.parametrize(
    ("block", "form"),
    [
        ("torch.set_default_device('cuda')", "default"),
        ("torch.set_default_tensor_type('torch.cuda.FloatTensor')", "default"),
        ("torch.set_default_dtype(torch.half)\n model.cuda()", "move"),
        ("set_default_device('cuda').cuda()", "move"),
        (
            "torch.set_default_tensor_type('torch.cuda.FloatTensor')\nelse: torch.set_default_tensor_type(T)",
            "default",
        ),
        ("if use: torch.set_default_tensor_type('torch.cuda.FloatTensor')\n if not use: print(1)", "default"),
    ],
)
def test_tells_a_default_device_from_a_move(block: str, form: str) -> None:
    (move,) = [c for c in choices(f"if CUDA:\n {block}") if c.via == "move"]
    assert (move.form, move.fallback) == (form, "cpu")


@pytest.mark.parametrize(
    "source",
    [
        "y = x.cuda() if CUDA else x",
        "y = x if not CUDA else x.cuda()",
        "y = torch.ones(3, dtype=d).cuda() if CUDA else torch.ones(3)",
    ],
)
def test_a_move_in_an_expression(source: str) -> None:
    assert [(c.form, c.fallback) for c in choices(source) if c.via == "move"] == [("move", "cpu")]


@pytest.mark.parametrize(
    "source",
    [
        "t = torch.cuda.FloatTensor if CUDA else torch.FloatTensor",
        "t = 'torch.FloatTensor' if not CUDA else 'torch.cuda.FloatTensor'",
        "if CUDA: t = torch.cuda.FloatTensor\nelse: t = torch.FloatTensor",
        "t = torch.LongTensor\nif CUDA: t = torch.cuda.LongTensor",
        "t = torch.FloatTensor\nif not CUDA: pass\nelse: t = torch.cuda.FloatTensor",
    ],
)
def test_a_type_of_tensors(source: str) -> None:
    assert [(c.form, c.fallback) for c in choices(source) if c.via == "move"] == [("type", "cpu")]


@pytest.mark.parametrize(
    ("source", "moved"),
    [
        ("if CUDA: h = f(Variable(x).cuda())\nelse: h = f(Variable(x))", "Variable(x).cuda()"),
        ("if not CUDA: h = f(g(x))\nelse: h = f(g(x.cuda()))", "x.cuda()"),
        ("if use and CUDA: x, y = V(x.cuda()), V(y.cuda())\nelse: x, y = V(x), V(y)", "x.cuda()"),
        (
            "if CUDA: e = torch.cuda.FloatTensor(n).normal_()\nelse: e = torch.FloatTensor(n).normal_()",
            "torch.cuda.FloatTensor(n)",
        ),
        (
            "if CUDA:\n cudnn.benchmark = True\n m.cuda()\n x = f(x).cuda(0)\nelse:\n print(1)\n x = f(x)",
            "m.cuda()",
        ),
        ("h = f(x.cuda()) if CUDA else f(x)", "x.cuda()"),
        (
            "if CUDA:\n m = f().cuda()\n if torch.cuda.device_count() > 1: m = g(m)\nelse: m = f()",
            "f().cuda()",
        ),
    ],
)
def test_branches_that_differ_by_a_move(source: str, moved: str) -> None:
    text = f"import torch\n{source}".replace("CUDA", CUDA)
    (move,) = [c for c in choices(source) if c.via == "move"]
    assert (move.form, move.fallback) == ("mirrored", "cpu")
    assert [text[slice(*why.span)] for why in move.related if why.span] == [moved]


@pytest.mark.parametrize(
    "source",
    [
        "if CUDA:\n m = f().cuda()\n if wide: m = g(m)\nelse: m = f()",
        "if CUDA:\n m = f().cuda()\n if torch.cuda.device_count(): m = g(m)\n else: m = h(m)\nelse: m = f()",
        "if CUDA:\n m = f().cuda()\n if torch.cuda.device_count() > 1: m = g(m)\nelse: m = h()",
    ],
)
def test_branches_that_differ_by_more(source: str) -> None:
    assert [c.form for c in choices(source) if c.via == "move" and c.form == "mirrored"] == []


def test_a_selection_underlines_the_choice() -> None:
    ternary = f"torch.device('cuda' if {CUDA} else 'cpu')"
    source = f"import torch\nx = {ternary}\nif {CUDA}: d = 'cuda'\nelse: d = 'cpu'\n"
    spans = [source[slice(*c.span)] for c in facts_in(source, DeviceChoice)]
    assert spans == [ternary, f"if {CUDA}"]


def test_the_other_literals_of_an_arm_are_told() -> None:
    source = f"import torch\nif {CUDA}:\n d = 'cuda'\n x.to('cuda:1')\nelse: d = 'cpu'"
    assert devices(source) == ["to cuda:1"]


@pytest.mark.parametrize(
    "call", ["torch.accelerator.current_accelerator()", "torch.get_device_module('cuda')"]
)
def test_torchs_own_query_is_an_accelerator_choice(call: str) -> None:
    assert [c.via for c in choices(call)] == ["accelerator"]


@pytest.mark.parametrize(
    "source",
    [
        "device = ['cpu', 'cuda'][CUDA]",
        "device = {True: 'cuda', False: 'cpu'}[CUDA]",
        "devices = ['cpu', 'cuda']\ndevice = devices[CUDA]",
    ],
)
def test_a_table_by_availability_selects(source: str) -> None:
    assert selections(source) == ["lookup cuda cpu string"]


@pytest.mark.parametrize(
    "source", ["n = [1, 2][CUDA]", "device = ['mps', 'cuda'][CUDA]", "device = ['cpu', 'cuda'][x]"]
)
def test_other_tables_do_not_select(source: str) -> None:
    assert selections(source) == []


def test_a_default_that_is_demoted_without_cuda_is_a_selection() -> None:
    source = "def f(a):\n    if a.device == 'cuda' and not CUDA:\n        a.device = 'cpu'"
    assert selections(source) == ["if-else cuda cpu string"]


@pytest.mark.parametrize(("first", "selects"), [("return torch_xla.device()", 0), ("pass", 1)])
def test_a_function_that_returned_an_xla_device_before(first: str, selects: int) -> None:
    source = f"""
def pick(tpu):
    if tpu:
        {first}
    return torch.device("cuda" if CUDA else "cpu")
"""
    assert len(selections(source)) == selects


@pytest.mark.parametrize(
    "after", ["torch.load(p, map_location=loc)\n x.to(loc)", "return loc", "load(p, loc)", "pass"]
)
def test_a_device_that_goes_elsewhere_is_selected(after: str) -> None:
    assert selections(f"def f():\n loc = 'cuda' if CUDA else 'cpu'\n {after}")
    assert selections(f"def f():\n if CUDA: loc = 'cuda'\n else: loc = 'cpu'\n {after}")


@pytest.mark.parametrize("value", ["loc", "torch.device(loc)", "torch.device(f(loc))"])
def test_a_location_that_is_made_of_itself_ends(value: str) -> None:
    assert selections(f"def f():\n loc = {value}\n torch.load(p, map_location=loc)") == []

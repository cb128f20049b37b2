"""The known values of arguments."""

from __future__ import annotations

import math

import pytest
from reading import argument, facts_in

from xlamig.facts import ApiUse, Scalar


def known(expression: str, before: str = "") -> tuple[str, Scalar]:
    value = argument(f"import torch, math\n{before}\ntorch.load(f, map_location={expression})")
    assert value is not None
    return value.kind, value.value


@pytest.mark.parametrize(
    "expression",
    [
        "x",
        "x.y",
        "f()",
        "x or 'cuda'",
        "'cuda' if torch.cuda.is_available() else 'cpu'",
        "lambda s, l: s",
        "{'cuda:0': 'cpu'}",
        "{'a': cuda_name}",
        "lambda s, l: cuda_name",
        "cuda_name.format(x)",
        "float(x)",
        "float('-inf')",
        "not x",
        "1 + 2",
        "1j",
        "b'cuda'",
        "...",
        "['a' for a in x]",
        "list(x)",
        "torch.device(x)",
        "torch.device(*x)",
        "os.environ.get('D', 'cuda')",
        "x.format('cuda')",
        "x % 'cuda'",
    ],
)
def test_no_value_is_made_up(expression: str) -> None:
    assert known(expression) == ("expression", expression)


@pytest.mark.parametrize(
    "before",
    [
        "d = 'cuda'\nd = 'cpu'",
        "d = 'cuda'\nif x: d = 'cpu'",
        "d = 'cuda'\nd += ':0'",
        "d = 'cuda'\nfor d in x: pass",
        "d = 'cuda'\nwith x as d: pass",
        "d = 'cuda'\nx = (d := y)",
        "d = 'cuda'\ndef f():\n global d\n d = 'cpu'",
        "d = 'cuda'\ndef d(): pass",
        "d = 'cuda'\nfrom x import d",
        "d, e = x",
        "d, *e = 'cuda', 1, 2",
        "*d, e = 'cuda', 1",
        "d: str",
        "d = torch.float16\nd = torch.bfloat16",
        "if x: d = torch.float16\nelse: d = torch.bfloat16",
        "try: d = torch.float16\nexcept E: d = None",
        "d = d",
        "d = e\ne = d",
        "d = not d",
        "d = True\np.add_argument('--d', default=True)\nd = args.d",
        "d = ['a']\nd = ['b']",
        "d = ['a']\nd += ['b']",
        "d = ['a']\nif x: d.append('b')",
        "d = ['a']\nd[0] = 'b'",
        "d = {'a'}\nd.add('b')",
    ],
)
def test_a_variable_that_is_set_otherwise_is_unknown(before: str) -> None:
    assert known("d", before)[0] == "expression"


@pytest.mark.parametrize(
    "source",
    [
        "d = 'cuda'\ndef f(d): torch.load(x, d)",
        "def f(d='cuda'):\n if x: d = 'cpu'\n torch.load(x, d)",
        "d = 'cuda'\n[torch.load(x, d) for d in y]",
        "d = 'cuda'\nf = lambda d: torch.load(x, d)",
        "l = 'cuda'\ntorch.load(x, lambda s, l: l)",
        "class A:\n d = 'cuda'\n def f(self): torch.load(x, d)",
        "class A:\n def __init__(self): self.d = 'cuda'\n def g(self): self.d = 'cpu'\n"
        " def f(self): torch.load(x, self.d)",
        "def f(d=True): torch.load(x, d)",
        "@dataclass\nclass C:\n d: bool = True\ntorch.load(x, cfg.d)",
        "class A:\n def __init__(self): self.d = True\n def f(self): torch.load(x, self.d)",
        "p.add_argument('--d', default='cuda')\nq.add_argument('--d', default='cpu')\ntorch.load(x, args.d)",
        "class C:\n d: str = 'cuda'\ntorch.load(x, cfg.d)",  # no dataclass
        "p.add_argument('--local_rank', default=0)\ntorch.load(x, args.local_rank)",
        "if x: cfg.d = 'cuda'\ntorch.load(x, cfg.d)",
    ],
)
def test_another_value_may_be_meant(source: str) -> None:
    value = argument(f"import torch\n{source}")
    assert value is not None
    assert value.kind == "expression"


@pytest.mark.parametrize(
    ("expression", "kind", "value"),
    [
        ("'cuda'", "constant", "cuda"),
        ("'cu' 'da'", "constant", "cuda"),
        ("('cuda')", "constant", "cuda"),
        ("True", "constant", True),
        ("not True", "constant", False),
        ("None", "constant", None),
        ("-1", "constant", -1),
        ("float('inf')", "constant", math.inf),
        ("math.inf", "constant", math.inf),
        ("torch.inf", "constant", math.inf),
        ("f'cuda'", "constant", "cuda"),
        ("f'cuda:{0}'", "constant", "cuda:0"),
        ("f'cuda:{rank}'", "pattern", "cuda:*"),
        ("f'{a}:{b}'", "pattern", "*:*"),
        ("'cuda:' + str(i)", "pattern", "cuda:*"),
        ("'cuda:%d' % i", "pattern", "cuda:*"),
        ("r'cuda:%d' % i", "pattern", "cuda:*"),
        ("'cuda:{}'.format(i)", "pattern", "cuda:*"),
        ("'cuda:{0}'.format(i)", "pattern", "cuda:*"),
        ("torch.device('cuda')", "device", "cuda"),
        ("torch.device('cuda', 1)", "device", "cuda:1"),
        ("torch.device('cuda', rank)", "device", "cuda:*"),
        ("torch.device(type='cuda', index=1)", "device", "cuda:1"),
        ("torch.device(f'cuda:{rank}')", "device", "cuda:*"),
        ("lambda s, l: s.cuda()", "device", "cuda"),
        ("lambda s, l: s.cuda(1)", "device", "cuda:*"),
        ("lambda s, l: 'cuda:0'", "device", "cuda:0"),
        ("{'cuda:0': 'cuda:1'}", "device", "cuda:1"),
        ("torch.float16", "api", "torch.float16"),
        ("device.type == 'cuda'", "cuda-test", "device.type == 'cuda'"),
        ("torch.cuda.is_available()", "cuda-test", "torch.cuda.is_available()"),
    ],
)
def test_what_is_written(expression: str, kind: str, value: Scalar) -> None:
    assert known(expression) == (kind, value)


@pytest.mark.parametrize(
    "before",
    [
        "d = 'cuda'",
        "d: str = 'cuda'",
        "d, e = 'cuda', 1",
        "d = e = 'cuda'",
        "d = e\ne = 'cuda'",
        "d = 'cuda'\nif x: d = 'cuda'",
        "def f():\n global d\n d = 'cuda'",
    ],
)
def test_a_variable_is_followed(before: str) -> None:
    assert known("d", before) == ("constant", "cuda")


@pytest.mark.parametrize(
    "source",
    [
        "def f(d='cuda'): torch.load(x, d)",
        "B = 'cpu'\ndef g():\n B = 'cuda'\n def f(d=B): torch.load(x, d)",
        "class A:\n B = 'cuda'\n def f(self, d=B): torch.load(x, d)",
        "p.add_argument('--d', default='cuda')\ntorch.load(x, args.d)",
        "p.add_argument('-x', '--d', default='cuda')\ntorch.load(x, args.d)",
        "p.add_argument('--d', '--place', default='cuda')\ntorch.load(x, args.d)",
        "p.add_argument('--other', dest='d', default='cuda')\ntorch.load(x, args.d)",
        "@dataclass\nclass C:\n d: str = 'cuda'\ntorch.load(x, cfg.d)",
        "@dataclasses.dataclass(frozen=True)\nclass C:\n d: str = 'cuda'\ntorch.load(x, cfg.d)",
        "class A:\n def __init__(self): self.d = 'cuda'\n def f(self): torch.load(x, self.d)",
    ],
)
def test_a_default_is_a_value_that_is_not_sure(source: str) -> None:
    (use,) = facts_in(f"import torch\n{source}", ApiUse)
    argument = use.argument("map_location")
    assert argument is not None
    assert (argument.value.kind, argument.value.value) == ("constant", "cuda")
    assert "unless it is set otherwise" in argument.reasons[0].message


def test_a_default_is_shown_where_it_is_written() -> None:
    source = "import torch\ndef f(d='cuda'): torch.load(x, d)"
    (use,) = facts_in(source, ApiUse)
    (_, why) = use.args[1].reasons
    assert why.span is not None
    assert source[slice(*why.span)] == "'cuda'"


@pytest.mark.parametrize(
    ("expression", "items"),
    [
        ("[]", []),
        ("['a', 1]", [("constant", "a"), ("constant", 1)]),
        ("('a',)", [("constant", "a")]),
        ("{'a'}", [("constant", "a")]),
        ("[torch.float16, x]", [("api", "torch.float16"), ("expression", "x")]),
        ("[*x, 'a']", [("expression", "*x"), ("constant", "a")]),
        ("[['a']]", [("sequence", "['a']")]),
        ("[torch.device('cuda')]", [("device", "cuda")]),
        ("[f'cuda:{i}']", [("pattern", "cuda:*")]),
        ("[not x.is_cuda]", [("expression", "not x.is_cuda")]),
        ("d", [("constant", "b")]),
        ("[d]", [("expression", "d")]),  # what it holds is not written here
    ],
)
def test_a_sequence_has_elements(expression: str, items: list[tuple[str, Scalar]]) -> None:
    value = argument(f"import torch\nd = ['b']\nif d[0] == x: pass\ntorch.load(f, {expression})")
    assert value is not None
    assert (value.kind, [(item.kind, item.value) for item in value.items]) == ("sequence", items)


def test_a_sequence_in_a_name_is_shown() -> None:
    source = "import torch\nd = ['a']\ntorch.load(f, d)"
    (use,) = facts_in(source, ApiUse)
    assert [why.message for why in use.args[1].reasons] == ["`d` is `['a']`"]


def test_a_long_sequence_is_not_read() -> None:
    assert known(str(["a"] * 65))[0] == "expression"


def test_a_long_chain_of_names_is_followed_or_given_up() -> None:
    chain = "a0 = 'cuda'\n" + "\n".join(f"a{i} = a{i - 1}" for i in range(1, 60))
    assert known("a2", chain) == ("constant", "cuda")
    assert known("a59", chain) in (("constant", "cuda"), ("expression", "a59"))  # by what was asked before


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("Sampler(data)", "Sampler(data)"),
        ("Sampler(data) if many else None", "Sampler(data)"),
        ("data[0]", "make(x)"),
    ],
)
def test_a_function_that_makes_an_object_is_known_by_it(returned: str, text: str) -> None:
    source = f"def make(data):\n    made = {returned}\n    return made\ntorch.load(x, make(x))"
    (use,) = facts_in(f"import torch\n{source}", ApiUse)
    argument = use.argument("map_location")
    assert argument is not None
    assert argument.value.value == text


def test_a_dictionary_of_devices_keeps_those_that_it_leads_from() -> None:
    value = argument("import torch\ntorch.load(f, map_location={'cuda:0': 'cuda:1', x: 'cpu'})")
    assert value is not None
    assert (value.value, [item.value for item in value.items]) == ("cuda:1", ["cuda:0", "x"])


ASKS = "torch.cuda.is_available()"


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        (f"if {ASKS}:\n d = True\nelse:\n d = False", "cuda-test"),
        (f"d = False\nif {ASKS}:\n d = True", "cuda-test"),
        (f"d = False\nif {ASKS}:\n d = False", "constant"),
        (f"d = False\nif {ASKS} or x:\n d = True", "expression"),
        (f"d = False\nif {ASKS}:\n if x:\n  d = True", "expression"),
        (f"d = False\nif {ASKS}:\n pass\nelif x:\n d = True", "expression"),
        (f"if {ASKS}:\n d = True\nif x:\n d = False", "expression"),
        (f"d = False\nif {ASKS}:\n d = True\nd = x", "expression"),
        (f"if {ASKS}:\n d = 1\nelse:\n d = 0", "expression"),
    ],
)
def test_a_flag_that_branches_set_is_their_test(before: str, kind: str) -> None:
    assert known("d", before)[0] == kind

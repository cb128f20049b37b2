"""Device literals, and where they stand."""

from __future__ import annotations

import pytest
from reading import devices, facts_in

from xlamig.facts import DeviceChoice


@pytest.mark.parametrize(
    "source",
    [
        "torch.load(f, map_location='cuda')",  # the signature of the call has a rule of its own
        "torch.autocast('cuda')",
        "torch.device('cpu')",
        "torch.device(name)",
        "torch.device(index=0)",
        "torch.zeros(1, device=device)",
        "torch.zeros(1, device='cpu')",
        "torch.zeros(1, layout='cuda')",
        "x.to(0)",
        "x.to(torch.device)",
        "torch.zeros(1).to(True)",
        "torch.zeros(1).to(1.5)",
        "def f(device): pass",
        "def f(devices='cuda'): pass",
        "def f(device='cuda'): pass",
        "device = x['cuda']",
        "device = get('cuda')",
        "device = ['cuda']",
        "devices = 'cuda'",
        "mode = 'cuda'",
        "where = 'cuda'\ndevice = where",  # said where the text stands, once
        "x.to('xla_device')",
        "device = 'tpu-v4'",
        "mode = 'xla'",
        "Model.from_pretrained(path, device_map='auto')",
        "Model.from_pretrained(path, device_map='cpu')",
    ],
)
def test_no_device_is_written(source: str) -> None:
    assert devices(f"import torch\n{source}") == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x.to('cuda')", "to cuda"),
        ("x.to(device='cuda')", "to cuda"),
        ("x.to('cuda:1', torch.float16)", "to cuda:1"),
        ("x.to(f'cuda:{i}')", "to cuda:*"),
        ("x.to(d or 'cuda')", "to cuda"),
        ("x.to('cuda' if y else 'cpu')", "to cuda"),
        ("torch.zeros(1).to(0)", "to cuda:0"),
        ("torch.nn.Linear(1, 1).to(1)", "to cuda:1"),
        ("torch.zeros(1, device='cuda')", "factory cuda"),
        ("torch.zeros(1, device=0)", "factory cuda:0"),
        ("f(device='cuda')", "device-argument cuda"),
        ("Model.from_pretrained(path, device_map='cuda')", "device-map cuda"),
        ("torch.device('cuda')", "torch.device cuda"),
        ("torch.device('cuda', 1)", "torch.device cuda:1"),
        ("torch.device('cuda', i)", "torch.device cuda:*"),
        ("torch.device('cuda:%d' % i)", "torch.device cuda:*"),
        ("torch.device('cuda:{}'.format(i))", "torch.device cuda:*"),
        ("torch.device('cuda:' + str(i))", "torch.device cuda:*"),
        ("torch.device(type='cuda')", "torch.device cuda"),
        ("x.to(torch.device('cuda'))", "torch.device cuda"),
        ("device = torch.device('cuda')", "torch.device cuda"),
        ("device = 'cuda'", "setting cuda"),
        ("self.device = 'cuda'", "setting cuda"),
        ("device: str = 'cuda'", "setting cuda"),
        ("a = device = 'cuda'", "setting cuda"),
        ("DEVICE = 'cuda:0'", "setting cuda:0"),
        ("class A:\n device = 'cuda'", "setting cuda"),
        ("def f(device='cuda'): g(device)", "default cuda"),
        ("def f(*, dev_name='cuda'): g(dev_name)", "default cuda"),
        ("f = lambda device='cuda': 1", "default cuda"),
        ("p.add_argument('--device', default='cuda')", "option cuda"),
        ("p.add_argument('-d', dest='device', default='cuda')", "option cuda"),
        ("x.to('xla')", "to xla"),
        ("torch.device('xla:0')", "torch.device xla:0"),
        ("torch.device('xla', 0)", "torch.device xla:0"),
        ("torch.zeros(1, device=f'xla:{i}')", "factory xla:*"),
        ("device = 'tpu'", "setting tpu"),
        ("def f(device='tpu'): g(device)", "default tpu"),
        ("@click.option('--device', default='cuda')\ndef f(): pass", "option cuda"),
    ],
)
def test_where_a_device_stands(source: str, found: str) -> None:
    assert devices(f"import torch\n{source}") == [found]


@pytest.mark.parametrize(
    ("index", "kind"),
    [
        ("", ""),
        (", 0", "constant"),
        (", rank", "rank"),
        (", args.gpu", "rank"),
        (", local_rank", "rank"),
        (", i", "expression"),
    ],
)
def test_what_the_index_is(index: str, kind: str) -> None:
    (choice,) = facts_in(f"import torch\ntorch.device('cuda'{index})", DeviceChoice)
    assert choice.index == kind


def indexed(source: str) -> list[str]:
    choices = facts_in(f"import torch, os\nimport torch.distributed as dist\n{source}", DeviceChoice)
    return [f"{c.position} {c.device} {c.index}" for c in choices if c.via == "index"]


@pytest.mark.parametrize(
    "source",
    [
        "x.to(device)",
        "x.to(0)",
        "x.to(f'cuda:{rank}')",
        "x.to(dtype=rank)",
        "x.to(*rank)",
        "x.to(ranks)",
        "x.to(rank_of(x))",
        "x.to(model.ranked)",
        "rank = torch.device('cuda')\nx.to(rank)",
        "rank = 'cuda'\nx.to(rank)",
        "d = rank if a else 'cpu'\nx.to(d)",
        "d = rank\nd = 'cpu'\nx.to(d)",
        "d = os.environ['LOCAL_RANK']\nx.to(d)",  # text
        "x.to(int(os.environ['LOCAL_SIZE']))",
        "x.to(dist.get_rank(group))",
        "'{}'.to(rank)",
        "class A:\n def to(self, r): pass\nA().to(rank)",
        "import numba\nnumba.cuda(rank)",
        "x.cuda()",
        "x.cuda(0)",
        "f(device=rank)",
        "torch.manual_seed(seed + rank)",
        "torch.device('cuda', rank)",  # a literal, with a rank for its index
        "torch.cuda.set_device()",
        "torch.cuda.device(rank)",
        "to(rank)",
        "r = s\ns = r\nx.to(r)",
        "x.to(devices[0])",
        "x.to(gpu_ids)",
        "x.to(gpu_ids[:1])",
        "x.to(gpu_ids['first'])",
        "x.to(ids[0])",
        "x.to(word_ids[0])",
    ],
)
def test_no_rank_is_a_device(source: str) -> None:
    assert indexed(source) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x.to(rank)", "to cuda:* rank"),
        ("x.to(args.local_rank)", "to cuda:* rank"),
        ("x.to(self.gpu_id, non_blocking=True)", "to cuda:* rank"),
        ("x.to(device=gpu)", "to cuda:* rank"),
        ("x.to(opt.gpu_ids[0])", "to cuda:* rank"),
        ("x.cuda(gpus[0])", "cuda cuda:* rank"),
        ("x.cuda(self.device_ids[-1], non_blocking=True)", "cuda cuda:* rank"),
        ("def f(rank): x.to(rank)", "to cuda:* rank"),
        ("rank = 0\nx.to(rank)", "to cuda:* rank"),
        ("d = rank % torch.cuda.device_count()\nx.to(d)", "to cuda:* rank"),
        ("d = int(os.environ['LOCAL_RANK'])\nx.to(d)", "to cuda:* rank"),
        ("x.to(int(os.environ.get('LOCAL_RANK', 0)))", "to cuda:* rank"),
        ("x.to(dist.get_rank())", "to cuda:* rank"),
        ("x.cuda(local_rank)", "cuda cuda:* rank"),
        ("x.cuda(device=args.gpu)", "cuda cuda:* rank"),
        ("torch.device(rank)", "torch.device cuda:* rank"),
        ("torch.zeros(1, device=rank)", "factory cuda:* rank"),
        ("torch.cuda.set_device(rank)", "set_device cuda:* rank"),
        ("torch.cuda.set_device(1)", "set_device cuda:1 constant"),
        ("torch.cuda.set_device(device)", "set_device cuda:* expression"),
        ("from torch import cuda\ncuda.set_device(device=args.gpu)", "set_device cuda:* rank"),
    ],
)
def test_a_rank_is_a_device(source: str, found: str) -> None:
    assert indexed(source) == [found]


def test_on_an_unknown_receiver_a_rank_is_a_likely_device() -> None:
    for source, sure in (("x.to(rank)", "likely"), ("torch.ones(1).to(rank)", "certain")):
        (choice,) = facts_in(f"import torch\n{source}", DeviceChoice)
        assert (choice.confidence, choice.spelled) == (sure, "rank")


def test_an_integer_on_an_unknown_receiver_may_be_anything_else() -> None:
    assert devices("import torch\ndef f(x): x.to(0)\nfor x in y: x.to(0)\nA().to(0)") == []


def test_the_arms_of_a_choice_have_its_guards() -> None:
    found = facts_in("import torch\nx.to('cuda' if y.is_cuda else 'cpu')", DeviceChoice)
    (choice,) = [choice for choice in found if choice.via == "literal"]
    assert [g.kind for g in choice.guards] == ["cuda"]


def test_an_argument_of_an_unknown_function_is_likely_only() -> None:
    (choice,) = facts_in("f(device='cuda')", DeviceChoice)
    assert choice.confidence == "likely"


PARSER = "import torch\np.add_argument('--device', default='cuda')\nargs = p.parse_args()\n"
ASKED = "device = 'cuda:0' if torch.cuda.is_available() and args.device == 'cuda' else 'cpu'\n"


@pytest.mark.parametrize(
    ("uses", "reported"),
    [
        (ASKED, False),
        (ASKED * 2, False),
        ("device = default_device(0) if args.device == 'cuda' else torch.device('cpu')\n", False),
        ("device = find_device(0) if args.device == 'cuda' else torch.device('cpu')\n", True),
        (f"if args.device != 'cpu' and torch.cuda.is_available():\n    {ASKED}", False),
        (f"{ASKED}model.to(args.device)\n", True),
        (f"{ASKED}if args.device == 'cuda':\n    model.cuda()\n", True),
        ("if torch.cuda.is_available() and start(args.device):\n    pass\n", True),
        ("if torch.cuda.is_available() or args.device == 'cuda':\n    pass\n", True),
        ("main(args)\n", True),
    ],
)
def test_a_default_that_is_only_compared_beside_is_available_reaches_no_tensor(
    uses: str, reported: bool
) -> None:
    assert ("option cuda" in devices(PARSER + uses)) is reported

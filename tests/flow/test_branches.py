"""Branches on the kind of a device: work for CUDA, and what happens elsewhere."""

from __future__ import annotations

import pytest
from reading import facts_in

from xlamig.facts import DeviceChoice


def branches(source: str) -> list[str]:
    choices = facts_in(f"import torch\n{source}", DeviceChoice)
    return [f"{c.position} {c.form} {c.device} {c.fallback}" for c in choices if c.via == "test"]


@pytest.mark.parametrize(
    "source",
    [
        "x = y.is_cuda",
        "if x.is_cuda: pass",
        "if i >= 0 and opt.device.type == 'cuda': opt.device = torch.device(f'cuda:{i}')",
        "if device.type == 'cuda':\n torch.cuda.set_device(rank)\n device = torch.device('cuda', rank)",
        "if 'cuda' in str(device): device = f'cuda:{rank}'",
        "if str(args.device).startswith('cuda'): args.device = f'cuda:{rank}'",
        "d = torch.device('cuda', rank) if d.type == 'cuda' else d",
        "if x.is_cuda: torch.cuda.synchronize()",
        "if device.type == 'cuda': m = torch.nn.DataParallel(m)",
        "if device.type == 'cuda': m = torch.nn.DataParallel(m)\nelse: s = {k[7:]: v for k, v in s.items()}",
        "if x.is_cuda:\n torch.cuda.synchronize()\n print(torch.cuda.max_memory_allocated() / 2**20)",
        "if x.is_cuda: d.setdefault('a', []).append(torch.cuda.max_memory_allocated() / 2**20)",
        "if x.is_cuda: logger.info('on %s', str(x.device))",
        "if d.type == 'cuda':\n for i in range(torch.cuda.device_count()):\n"
        "  p = torch.cuda.get_device_properties(i)\n  logger.info('{}: {}'.format(p.name, p.total_memory))\n"
        "else: logger.warning('on {}'.format(d))",
        "if x.is_cuda: x = x.pin_memory()",
        "if x.is_cuda: w = w.cuda(x.get_device())\nw = w.type_as(x)",
        "if device.type == 'cuda': m = m.cuda()\nelse: m = m.to(device)",
        "def put(m):\n m = m.to(device)\n return m\nif device.type == 'cuda': m = m.cuda()\nelse: m = put(m)",
        "def put(m): return m.to(device)\nif device.type == 'cuda': m = m.cuda()\nelse: m = put(m)",
        "def put(m, x): return m.to(device), x\nif x.is_cuda: m = m.cuda()\nelse: m, x = put(m, x)",
        "def put(m): return m.cuda()\nif device.type == 'cuda': m = put(m)\nelse: m = m.to(device)",
        "if x.is_cuda: pin_memory = True",
        "if x.is_cuda: x = x.contiguous()",
        "if x.device.type == 'cuda': mask = AttentionMaskConverter._unmask_unattended(mask, low)",
        "if str(node['value']).startswith('cuda'): patch(node)",
        "if read(path)[0].startswith('cuda'): f(x)",
        "if x.is_cuda: torch.cuda.manual_seed_all(0)",
        "if x.is_cuda: torch.backends.cudnn.benchmark = True",
        "def wait(): torch.cuda.synchronize()\nif x.is_cuda: wait()",
        "def pin(x): return x.pin_memory()\nif x.is_cuda: x = pin(x)",
        "if x.is_cuda: raise ValueError(f(x))",
        "if x.is_cuda:\n y = f(x)\n raise E",
        "def g():\n if x.is_cuda: return True\n return False",
        "def g():\n if x.is_cuda: return x\n return y",
        "if x.is_cuda: pass\nelse: f(x)",
        "if not x.is_cuda: f(x)",
        "if not x.is_cuda: x = x.cuda()",
        "if x.is_cuda: f(x)\nelif x.device.type == 'xla': g(x)\nelse: raise E",
        "if x.is_cuda or x.device.type == 'xla': f(x)\nelse: raise E",
        "if x.is_cuda: f(x)\nelse: xm.mark_step()",
        "if x.is_cuda: f(x)\nelse: g(x).to_xla()",
        "if x.is_cuda: f(x)\nelse: g(f'{x}:xla')",
        "if x.is_cuda: f(x)\nelse: g(use_tpu=True)",
        "if x.is_cuda: f(x)\nelse:\n from project.xla import g",
        "if x.is_cuda: f(x)\nelse:\n import torch_xla",
        "if torch.cuda.is_available(): f(x)",
        "if torch.cuda.is_available() and x.is_cuda: f(x)",
        "if x.is_cuda or y: f(x)",
        "if x.is_mps: f(x)",
        "if x == 'cuda': f(x)",
        "if device == 'cuda': device = pick(device)",  # the selection of another is reported
        "if device.type != 'cpu': f(x)",  # for any accelerator
        "if device.type == 'cpu': f(x)\nelse: g(x)",
        "if mode == 'cpu': f(x)\nelse: x.cuda()",
        "y = 1 if x.is_cuda else 2",
        "i = torch.device(d).index if x.is_cuda else None",
        "y = dict(fused=True) if x.is_cuda else dict()",
        "assert not x.is_cuda",
        "assert device.type != 'cpu', 'cuda'",
        "while x.is_cuda: f(x)",
    ],
)
def test_no_branch(source: str) -> None:
    assert branches(source) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("if x.is_cuda: f(x)", "if is-cuda cuda none"),
        ("if d.type == 'cuda': e = torch.device('cuda', i)", "if type cuda none"),
        ("if d.type == 'cuda':\n d = torch.device('cuda', i)\n f(x)", "if type cuda none"),
        ("if d.type == 'cuda': d = torch.device('cuda', i)\nelse: raise E", "if type cuda raise"),
        (
            "if d.type == 'cuda': d = torch.device('cuda', i)\nelse: d = torch.device('cpu')",
            "if type cuda cpu",
        ),
        ("d = torch.device('cuda', i) if d.type == 'cuda' else None", "ternary type cuda none"),
        ("if x.is_cuda: # not on XLA\n f(x) # TPU: to do", "if is-cuda cuda none"),
        ("if x.is_cuda: f(x)\nelse: pass", "if is-cuda cuda none"),
        ("if x.is_cuda: v, w = v.cuda(), w.cuda()\nw = w.type_as(x)", "if is-cuda cuda none"),
        ("if x.is_cuda: f(x)\nelse: print('no GPU')", "if is-cuda cuda none"),
        ("if x.is_cuda: y = f(x)\nelse: y = None", "if is-cuda cuda none"),
        ("if x.is_cuda: f(x)\nelse: raise E", "if is-cuda cuda raise"),
        ("def load(x): return f(x)\nif x.is_cuda: load(x)", "if is-cuda cuda none"),
        ("def load(): f('cuda')\nif d.type != 'cpu': load()\nelse: f('cpu')", "if type cpu cpu"),
        ("if x.device.type != 'cuda': raise E\nf(x)", "if type cuda raise"),
        ("if x.device.type == 'cuda': pass\nelse: raise E\nf(x)", "if type cuda raise"),
        ("if x.is_cuda: f(x)\nelse:\n g(x)\n raise E", "if is-cuda cuda raise"),
        ("if x.is_cuda: f(x)\nelse: f(x.cpu())", "if is-cuda cuda cpu"),
        ("if x.is_cuda: f(x)\nelse: f_cpu(x)", "if is-cuda cuda cpu"),
        ("if x.is_cuda: y = f(x)\nelse: y = g(x)", "if is-cuda cuda other"),
        (
            "def put(m): return m.to(device) * 2\nif m.is_cuda: m = m.cuda()\nelse: m = put(m)",
            "if is-cuda cuda other",
        ),
        (
            "def put(m):\n m = f(m)\n return m\nif m.is_cuda: m = m.cuda()\nelse: m = put(m)",
            "if is-cuda cuda other",
        ),
        (
            "def same(m): return m\nif m.is_cuda: m = m.cuda()\nelse: m = same(m)",
            "if is-cuda cuda none",
        ),
        ("if x.is_cuda: f(x)\nelif x.is_mps: g(x)\nelse: raise E", "if is-cuda cuda raise"),
        ("if x.is_cuda and y: f(x)", "if is-cuda cuda none"),
        ("on = x.is_cuda\nif on: f(x)", "if is-cuda cuda none"),
        ("if x.is_cuda: dtype = torch.float16", "if is-cuda cuda none"),
        ("if x.is_cuda: d = torch.device('cuda')", "if is-cuda cuda none"),
        ("if x.is_cuda: self.device: str = 'cuda'", "if is-cuda cuda none"),
        ("if x.is_cuda:\n with f(): pass", "if is-cuda cuda none"),
        ("if x.is_cuda:\n try: f(x)\n except E: pass", "if is-cuda cuda none"),
        ("if x.is_cuda: s = torch.cuda.amp.GradScaler()", "if is-cuda cuda none"),
        ("def g():\n if x.is_cuda: return f(x)\n raise E", "if is-cuda cuda raise"),
        ("def g():\n if x.is_cuda:\n  if y: return f(x)\n return h(x)", "if is-cuda cuda other"),
        ("def g():\n if x.is_cuda:\n  with f(): return 1\n return h(x)", "if is-cuda cuda other"),
        ("def g():\n if x.is_cuda: return f(x)\n return h(x)", "if is-cuda cuda other"),
        ("def g():\n if not x.is_cuda: raise E\n return f(x)", "if is-cuda cuda raise"),
        ("def g():\n if not x.is_cuda or y: raise E\n return f(x)", "if is-cuda cuda raise"),
        ("def g():\n if not x.is_cuda: return\n f(x)", "if is-cuda cuda none"),
        ("if device.type == 'cuda': f(x)", "if type cuda none"),
        ("if device_type == 'cuda': f(x)", "if type cuda none"),
        ("def g():\n if device.type != 'cuda': return None\n f(x)", "if type cuda none"),
        ("if 'cuda' in str(device): f(x)", "if text cuda none"),
        ("if str(device).startswith('cuda'): f(x)", "if text cuda none"),
        ("if where.startswith('cuda'): f(x)", "if text cuda none"),
        ("if str(options['device']).startswith('cuda'): f(x)", "if text cuda none"),
        ("if p.device.type != 'cpu': x.cuda()", "if type cpu none"),
        ("if device.type == 'cpu': f(x)\nelse: nccl(x)", "if type cpu other"),
        ("if device == 'cpu': f_cpu(x)\nelse: f_cuda(x)", "if text cpu cpu"),
        ("t = 'cuda' if 'cuda' in device else 'cpu'", "ternary text cuda cpu"),
        ("t = 'cpu' if 'cuda' not in x else 'cuda' if 'cuda' in device else 'cpu'", "ternary text cuda cpu"),
        ("y = f(x) if x.is_cuda else None", "ternary is-cuda cuda none"),
        ("y = f(x) if x.is_cuda else g(x)", "ternary is-cuda cuda other"),
        ("y = torch.float16 if x.is_cuda else torch.float32", "ternary is-cuda cuda other"),
        ("if x.is_cuda: d.setdefault('a', []).append(f(x))", "if is-cuda cuda none"),
        ("if x.is_cuda: d.append(f(torch.cuda.max_memory_allocated()))", "if is-cuda cuda none"),
        ("assert x.is_cuda, 'on CUDA only'", "assert is-cuda cuda raise"),
        ("assert x.is_cuda and y.is_cuda", "assert is-cuda cuda raise"),
        ("assert device.type == 'cuda'", "assert type cuda raise"),
    ],
)
def test_a_branch(source: str, found: str) -> None:
    assert branches(source) == [found]


def test_a_branch_underlines_its_test() -> None:
    source = "import torch\nif x.is_cuda: f(x)\ny = f(x) if x.is_cuda else 1\nassert x.is_cuda\n"
    choices = facts_in(source, DeviceChoice)
    assert [source[slice(*c.span)] for c in choices] == [
        "if x.is_cuda",
        "f(x) if x.is_cuda else 1",
        "x.is_cuda",
    ]
    assert {source[slice(*c.parts["test"])] for c in choices} == {"x.is_cuda"}


def test_texts_are_a_string() -> None:
    (choice,) = facts_in("t = 'cuda' if 'cuda' in device else 'cpu'", DeviceChoice)
    assert (choice.result, choice.spelled) == ("string", "'cuda' in device")


@pytest.mark.parametrize(
    ("body", "result", "owner"),
    [
        ("if x.is_cuda: y = y.cuda() * 2", "unknown", "x"),
        ("if x.is_cuda:\n y = y.cuda()\n f(y)", "unknown", "x"),
        ("if x.is_cuda: y = y.to(torch.float16)", "unknown", "x"),
        ("if x.is_cuda: y = y.cuda()", "move", "x"),
        ("if x.device.type == 'cuda': y, z = y.to(x.device), z.to('cuda')", "move", "x"),
        ("if args.device == 'cuda': model.cuda()", "move", ""),
    ],
)
def test_a_branch_that_only_moves_says_so(body: str, result: str, owner: str) -> None:
    (choice,) = (c for c in facts_in(f"import torch\n{body}", DeviceChoice) if c.via == "test")
    assert (choice.result, choice.proofs.get("owner", "")) == (result, owner)


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("n = sizes[device]", ["lookup set cuda raise"]),
        ("if other in sizes: n = sizes[device]", ["lookup set cuda raise"]),
        ("if device in sizes: n = sizes[device]", []),
        ("n = sizes[device] if device in sizes else 1", []),
    ],
)
def test_a_look_up_that_is_asked_for_stops_no_program(use: str, expected: list[str]) -> None:
    assert branches(f"sizes = {{'cuda': 32, 'cpu': 8}}\ndef f(device, other):\n {use}") == expected


@pytest.mark.parametrize(
    "work",
    [
        "m = torch.nn.parallel.DistributedDataParallel(m)",
        "m = torch.nn.DataParallel(m.half())",
        "m = torch.nn.DataParallel(m); f(m)",
    ],
)
def test_more_than_replicating_is_work(work: str) -> None:
    assert branches(f"if device.type == 'cuda':\n {work}") == ["if type cuda none"]

"""Conditions around a place."""

from __future__ import annotations

import pytest
from reading import facts_in, guards

from xlamig.facts import ApiUse, HostRead

HERE = "torch.cuda.synchronize()"
CUDA = "torch.cuda.is_available()"


def under(test: str, before: str = "") -> list[str]:
    return guards(f"import torch\n{before}\nif {test}:\n {HERE}")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (f"def f(device_ids):\n if not device_ids or len(device_ids) == 1: return\n {HERE}", "cuda"),
        (f"if self.device_ids:\n {HERE}", "cuda"),
        (f"def f(device_ids):\n if device_ids: return\n {HERE}", ""),
        (f"device_ids = [0, 1]\nif device_ids:\n {HERE}", ""),
        (f"if device_ids():\n {HERE}", ""),
        (f"if args.device_id:\n {HERE}", ""),
    ],
)
def test_a_list_of_cuda_devices_is_empty_without_cuda(source: str, expected: str) -> None:
    assert guards(f"import torch\n{source}") == [expected]


NET = """class Net(torch.nn.Module):
 def where(self{more}):
  {body}
 def forward(self, x):
  if self.where({given}):
   torch.cuda.synchronize()
"""


@pytest.mark.parametrize(
    ("body", "more", "given", "expected"),
    [
        ("return next(self.parameters()).is_cpu", "", "", ""),
        ("return next(self.parameters()).is_cuda or self.force", "", "", ""),
        ("return device == 'cuda'", ", device", "self.device", ""),
        ("self.n += 1; return next(self.parameters()).is_cuda", "", "", ""),
        ("return next(self.parameters()).is_cuda", "", "", "cuda"),
        ("'Whether it is.'; return torch.cuda.is_available() and self.n > 1", "", "", "cuda"),
    ],
)
def test_a_method_that_says_whether_cuda_is_in_use(body: str, more: str, given: str, expected: str) -> None:
    assert guards("import torch\n" + NET.format(body=body, more=more, given=given)) == [expected]


@pytest.mark.parametrize(
    "test",
    [
        f"not {CUDA}",
        f"a or {CUDA}",
        f"not (a and {CUDA})",
        "device.type != 'cuda'",
        "'cuda' not in str(device)",
        "not x.is_cuda",
        "x == 'cuda'",
        "not isinstance(x, torch.cuda.FloatTensor)",
        "isinstance(x, torch.FloatTensor)",
        "isinstance(x, (torch.FloatTensor, torch.cuda.FloatTensor))",
        "isinstance(x, torch.cuda.Stream)",
        "isinstance(x, ())",
        "device in ('cuda', 'cpu')",
        "torch.cuda.device_count() == 0",
        "torch.cuda.device_count() != 2",
        "torch.cuda.device_count() < 2",
        "device.type == 'cpu'",
        "device.type != 'mps'",
        "not torch.backends.mps.is_available()",
        "args.output",
        "relations",
        "not is_flash_available()",
        "find_spec('apex') is None",
        "torch.distributed.is_available()",
        "is_torch_available()",
        "not hasattr(x, 'y')",
        "hasattr(x, 'item')",
        "hasattr(x, 'shape')",
        "hasattr(torch, 'compile')",
        "not hasattr(torch, 'tpu')",
        "not TYPE_CHECKING",
        "x.dtype != torch.float16",
        "x.dtype == torch.bfloat16",
        "x.dtype in (torch.float16, torch.bfloat16)",
        "args.precision == torch.float16",
        "None",
        "True",
        "1",
        "a",
        "a.available",
    ],
)
def test_the_place_is_not_guarded(test: str) -> None:
    assert under(test) == [""]


@pytest.mark.parametrize(
    ("before", "test"),
    [
        (f"a = {CUDA}\na = True", "a"),
        (f"for a in b: pass\na = {CUDA}", "a"),
        (f"a = {CUDA}\ndef f():\n global a\n a = True", "a"),
        ("a = False\na |= f()", "a"),
        ("a = False\nfor a in b: pass", "a"),
        ("a = False\nwhile (a := f()): pass", "a"),
        ("a = False\nwith f() as a: pass", "a"),
        ("a = False\ntry: pass\nexcept E as a: pass", "a"),
        ("a = False\ndef f():\n global a\n a = True", "a"),
        ("p.add_argument('--a', default=False)", "args.a"),
        ("args.a = False", "args.a"),  # set elsewhere, through another name of the same object
        ("a = None", "a"),
    ],
)
def test_a_variable_that_may_be_otherwise_is_no_guard(before: str, test: str) -> None:
    assert under(test, before) == [""]


@pytest.mark.parametrize(
    "source",
    [
        "def f(a=False):\n if a: HERE",
        "class A:\n a = False\n def f(self):\n  if self.a: HERE",
        "def f():\n a = False\n def g():\n  nonlocal a\n  a = True\n g()\n if a: HERE",
        "a = False\n[HERE for a in b if a]",
        "def f():\n if not CUDA: raise E\n HERE",
        "def f():\n if x and not CUDA: return\n HERE",
        "def f():\n if not CUDA: pass\n HERE",
        "def f():\n if CUDA: pass\n else: raise E\n HERE",
        "def f():\n if CUDA: return\n else: pass\n HERE",
        "def f():\n if not CUDA: return\nHERE",
        "def f():\n while x:\n  if not CUDA: return\n HERE",
        "assert CUDA\nHERE",
        "while CUDA: pass\nelse: HERE",
        "CUDA or HERE",
        "x = a if CUDA else HERE",
        "try:\n HERE\nexcept ImportError: pass",
        "try:\n import apex\nexcept ValueError: HERE",
        "try:\n import apex\nexcept ImportError: HERE",
        "try: import apex\nexcept ImportError: apex = None\nif apex is None: HERE",
        "if CUDA: pass\nHERE",
    ],
)
def test_nothing_guards_here(source: str) -> None:
    assert guards(f"import torch\n{source.replace('CUDA', CUDA).replace('HERE', HERE)}") == [""]


@pytest.mark.parametrize(
    ("test", "kind"),
    [
        (CUDA, "cuda"),
        (f"a and {CUDA}", "cuda"),
        (f"not (a or not {CUDA})", "cuda"),
        (f"not not {CUDA}", "cuda"),
        (f"(a := {CUDA})", "cuda"),
        ("x.is_cuda", "cuda"),
        ("isinstance(x, torch.cuda.FloatTensor)", "cuda"),
        ("isinstance(x.data, (torch.cuda.FloatTensor, torch.cuda.HalfTensor))", "cuda"),
        ("device.type == 'cuda'", "cuda"),
        ("device == torch.device('cuda')", "cuda"),
        ("not x.device != torch.device('cuda:0')", "cuda"),
        ("not device.type != 'cuda'", "cuda"),
        ("str(device).startswith('cuda')", "cuda"),
        ("'cuda' in str(device)", "cuda"),
        ("torch.cuda.device_count() > 1", "cuda"),
        ("device.type == 'mps'", "other-device"),
        ("torch.backends.mps.is_available()", "other-device"),
        ("use_xla", "xla"),
        ("not use_xla", "no-xla"),
        ("device.type == 'xla'", "xla"),
        ("kind == DistributedType.XLA", "xla"),
        ("kind != DistributedType.XLA", "no-xla"),
        ("device.type != 'xla'", "no-xla"),
        ("xm is None", "no-xla"),
        ("is_flash_available()", "package"),
        ("HAS_APEX", "package"),
        ("importlib.util.find_spec('apex') is not None", "package"),
        ("hasattr(x, 'y')", "hasattr"),
        ("hasattr(torch, 'rfft')", "never"),
        ("hasattr(torch, 'tpu')", "no-xla"),
        ("False", "never"),
        ("0", "never"),
        ("not True", "never"),
        ("a and False", "never"),
        ("TYPE_CHECKING", "type-checking"),
        ("typing.TYPE_CHECKING", "type-checking"),
    ],
)
def test_a_test_guards_its_body(test: str, kind: str) -> None:
    assert under(test) == [kind]


@pytest.mark.parametrize(
    ("before", "test", "kind"),
    [
        (f"use = {CUDA}", "use", "cuda"),
        (f"use = {CUDA}\ngo = use", "go", "cuda"),
        (f"use = a and {CUDA}", "use", "cuda"),
        (f"no = not {CUDA}", "not no", "cuda"),
        (f"args.cuda = not args.no and {CUDA}", "args.cuda", "cuda"),
        ("DEBUG = False", "DEBUG", "never"),
        ("try: import apex\nexcept ImportError: apex = None", "apex", "package"),
        ("try: import apex\nexcept ImportError: apex = None", "apex is not None", "package"),
    ],
)
def test_a_variable_guards_like_its_value(before: str, test: str, kind: str) -> None:
    assert under(test, before) == [kind]


@pytest.mark.parametrize(
    "source",
    [
        "if not CUDA: pass\nelse: HERE",
        "if not CUDA: pass\nelif a: HERE",
        "def f():\n if not CUDA: return\n HERE",
        "def f():\n if a or not CUDA: return\n HERE",
        "def f():\n if not CUDA: return\n else: a = 1\n HERE",
        "def f():\n if CUDA: a = 1\n else: return\n HERE",
        "for a in b:\n if not CUDA: continue\n HERE",
        "CUDA and HERE",
        "not CUDA or HERE",
        "x = HERE if CUDA else a",
        "x = a if not CUDA else HERE",
        "while CUDA: HERE",
        "if CUDA:\n def f(): HERE",
        "if CUDA:\n class A:\n  def f(self): HERE",
        "if CUDA:\n for a in b:\n  with a: HERE",
        "if CUDA: f(lambda: HERE)",
        "if CUDA:\n try: HERE\n finally: pass",
        "class A:\n def __init__(self): self.c = CUDA\n def f(self):\n  if self.c: HERE",
    ],
)
def test_forms_that_guard(source: str) -> None:
    assert guards(f"import torch\n{source.replace('CUDA', CUDA).replace('HERE', HERE)}") == ["cuda"]


@pytest.mark.parametrize(
    ("more", "kind"),
    [("", "never"), (" def off(self): self.flash = False", ""), ("net.flash = False", "")],
)
def test_an_attribute_says_what_torch_has_unless_it_is_set_elsewhere(more: str, kind: str) -> None:
    source = f"""import torch
class A(torch.nn.Module):
 def __init__(self):
  self.flash = hasattr(torch.nn.functional, "scaled_dot_product_attention")
 def forward(self, x):
  if not self.flash: {HERE}
{more}
"""
    assert guards(source) == [kind]


def test_an_optional_import_guards_what_needs_it() -> None:
    source = f"import torch\ntry:\n import apex\n {HERE}\nexcept ImportError: pass\nelse: {HERE}"
    assert guards(source) == ["optional-import", "optional-import"]


def test_guards_add_up_from_the_outside_in() -> None:
    source = f"import torch\nif {CUDA}:\n if HAS_APEX:\n  if a and x.is_cuda: {HERE}"
    (use,) = facts_in(source, ApiUse)
    assert [g.text for g in use.guards] == [CUDA, "HAS_APEX", "x.is_cuda"]


@pytest.mark.parametrize(
    ("test", "text"), [(CUDA, CUDA), ("not use_xla", "not use_xla"), ("a and HAS_APEX", "HAS_APEX")]
)
def test_a_guard_says_what_holds_and_where_it_stands(test: str, text: str) -> None:
    source = f"import torch\nif {test}: {HERE}"
    (use,) = facts_in(source, ApiUse)
    (guard,) = use.guards
    assert guard.text == text
    assert source[slice(*guard.span)] == text.removeprefix("not ")


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ("if is_torch_version('>=', '2.3'): HERE", []),
        ("if not is_torch_version('>=', '2.3'): HERE", ["never"]),
        ("if version.parse(torch.__version__) < version.parse('2.0'): HERE", ["never"]),
        ("if version.parse(torch.__version__) >= version.parse('2.0'): HERE", []),
        ("if version.parse(torchvision.__version__) < version.parse('0.7'): HERE", ["never"]),
        ("if float(torchvision.__version__[:3]) < 0.7: HERE", []),  # 0.24 is 0.2 there
        ("if torchtext.__version__ < '0.7': HERE", []),
        ("if torch.__version__.startswith('1.'): HERE", ["never"]),
        ("if torch.__version__.startswith('2'): HERE", []),
        ("if int(torch.__version__.split('.')[0]) < 2: HERE", ["never"]),
        ("if int(torch.__version__.split('.')[1]) < 12: HERE", []),
        ("if torch.__version__[0] == '1': HERE", ["never"]),
        ("if TORCH_VERSION[:2] >= (1, 8): HERE", []),
        ("if x.type() == 'torch.HalfTensor': HERE", []),
        ("if x.type() != 'torch.cuda.HalfTensor': HERE", []),
        ("if x.type() == 'torch.cuda.HalfTensor': HERE", ["cuda"]),
        ("if TORCH_VERSION < (1, 8): HERE", ["never"]),
        ("if TORCH_MAJOR == 1 and TORCH_MINOR < 8: HERE", ["never"]),
        ("if TORCH_MAJOR >= 2: HERE", []),
        ("if TORCH_MAJOR >= 2: pass\nelse: HERE", ["never"]),
        ("if TORCH_MINOR < 8: HERE", []),
        ("if torch.__version__ < '2.12': HERE", []),
        ("if torch.__version__ >= '2.12': HERE", ["version"]),  # a later release has it
        ("OLD = torch.__version__ < '2'\nif OLD: HERE", ["never"]),
        ("def old(): return torch.__version__ < '2'\nif old(): HERE", ["never"]),
        ("OLD = torch.__version__ < '2'\nif a: OLD = True\nif OLD: HERE", []),
        ("V = version.parse(torch.__version__.split('+')[0])\nif V < version.parse('1.6'): HERE", ["never"]),
        ("V = version.parse(torch.__version__)\nif V >= version.parse('1.6'): HERE", []),
        ("V = torch.__version__\nif a: V = b\nif V < '1.6': HERE", []),
        ("if parse(torch.__version__.split('+')[0]) >= parse('2.1'): HERE", []),
        ("if parse(torch.__version__.split('+')[0]) < parse('2.1'): HERE", ["never"]),
        ("if hasattr(torch, 'compile'): HERE", []),
        ("if hasattr(torch, 'compile'): pass\nelse: HERE", ["never"]),
        ("if not hasattr(torch.nn.functional, 'scaled_dot_product_attention') and a: HERE", ["never"]),
        ("if hasattr(torch, 'compile') and a: pass\nelse: HERE", []),
        ("if hasattr(torch, 'rfft'): HERE", ["never"]),
        ("if hasattr(torch, 'npu'): pass\nelse: HERE", []),
        ("if hasattr(torch.Tensor, 'nansum'): pass\nelse: HERE", ["never"]),
        ("if hasattr(x, 'compile'): pass\nelse: HERE", []),
        ("def f():\n if hasattr(torch, 'compile'): return\n HERE", ["never"]),
        ("if check(torch.__version__ < '2'): HERE", ["version"]),
        ("if kind == DistributedType.MULTI_GPU: HERE", ["cuda"]),
        ("if kind != DistributedType.MULTI_GPU: HERE", []),
        ("if is_torch_xla_available(check_is_gpu=True): HERE", ["cuda"]),
        ("if not is_torch_xla_available(check_is_gpu=True): HERE", []),
        ("try: f()\nexcept AttributeError: HERE", ["version"]),
        ("try: f()\nexcept ValueError: HERE", []),
        ("def f():\n import tensorrt\n HERE", ["package"]),
        ("def f():\n import numpy\n HERE", []),
        ("i = 0 if device.type == 'cuda' else None\nif i is not None: HERE", ["cuda"]),
        ("i = 0 if a else None\nif i is not None: HERE", []),
        ("i = b if i is not None else None\nif i is not None: HERE", []),
    ],
)
def test_what_a_tpu_host_does_not_reach(source: str, kinds: list[str]) -> None:
    assert guards(f"import torch\n{source.replace('HERE', HERE)}") == [" ".join(kinds)]


@pytest.mark.parametrize(
    ("test", "text"),
    [
        ('d.type != "cuda"', 'd.type == "cuda"'),
        ("(d.type) != 'cuda'", "not (d.type) != 'cuda'"),
        (f"not {CUDA}", CUDA),
    ],
)
def test_the_guard_of_an_else_is_the_opposite_test(test: str, text: str) -> None:
    (fact,) = facts_in(f"import torch\nif {test}: pass\nelse: {HERE}", ApiUse)
    assert [guard.text for guard in fact.guards] == [text]


OBJECT = """import torch
class Encoder(Base):
    def __init__(self, on):
        self.saving = FIRST
    def forward(self, x):
        if self.saving and self.training:
            torch.cuda.synchronize()
    MORE
"""


@pytest.mark.parametrize(
    ("first", "more", "found"),
    [
        ("False", "pass", ["unset"]),
        ("None", "pass", ["unset"]),
        ("on", "pass", [""]),
        ("True", "pass", [""]),
        ("False", "def enable(self): self.saving = True", [""]),
        ("False", "def enable(self, part): part.saving = True", [""]),
        ("False", "supports_saving = True", [""]),
        ("False", "def enable(self): self.saving_enable()", [""]),
        ("False", "def enable(self): setattr(self, 'saving', True)", [""]),
        ("False", "def enable(self): return Encoder(saving=True)", [""]),
    ],
)
def test_a_flag_that_nothing_sets(first: str, more: str, found: list[str]) -> None:
    assert guards(OBJECT.replace("FIRST", first).replace("MORE", more)) == found


def test_generators_of_gpus_are_asked_for() -> None:
    assert under("len(torch.cuda.default_generators) > 0") == ["cuda"]
    assert under("len(generators) > 0") == [""]


@pytest.mark.parametrize(
    ("before", "found"),
    [
        ("n = torch.cuda.device_count()", "cuda"),
        ("n = torch.cuda.device_count()\nn = args.gpus", ""),
        ("n = args.gpus", ""),
        ("for n in gpus: pass", ""),
    ],
)
def test_a_name_for_the_number_of_gpus(before: str, found: str) -> None:
    assert under("n > 0", before) == [found]


@pytest.mark.parametrize(
    "test",
    [
        "x.dtype == torch.float16",
        "not x.dtype != torch.half",
        "weight.dtype is torch.half and a",
        "torch.get_autocast_gpu_dtype() == torch.float16",
    ],
)
def test_float16_is_not_what_a_port_computes_in(test: str) -> None:
    assert under(test) == ["half"]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("if (x > 1).any() and x.dtype == torch.float16: y = 1", ""),
        ("if x.dtype == torch.float16 or (x > 1).any(): y = 1", ""),
        ("if x.dtype == torch.float16 and (x > 1).any(): y = 1", "half"),
        ("if not x.is_cuda or (x > 1).any(): y = 1", "cuda"),
        ("y = 1 if x.is_cuda and bool((x > 1).any()) else 2", "cuda"),
        ("y = 1 if not x.is_cuda else float(x.sum())", "cuda"),
        ("y = float(x.sum()) if not x.is_cuda else 1", ""),
        ("while x.is_cuda and (x > 1).any(): y = 1", "cuda"),
    ],
)
def test_what_held_before_guards_a_read_inside_of_a_test(statement: str, expected: str) -> None:
    source = f"import torch\ndef f(x: torch.Tensor):\n x = x.cuda()\n {statement}"
    (found,) = facts_in(source, HostRead)
    assert " ".join(dict.fromkeys(guard.kind for guard in found.guards)) == expected


@pytest.mark.parametrize(
    ("test", "frequency"), [("self.other", "step"), ("not hasattr(self, 'kept')", "interval")]
)
def test_an_api_that_only_the_first_call_uses(test: str, frequency: str) -> None:
    text = f"if {test}:\n   {HERE}\n   self.kept = x"
    text = f"import torch\nclass Net(torch.nn.Module):\n def forward(self, x):\n  {text}\n  return x\n"
    (use,) = [fact for fact in facts_in(text, ApiUse) if fact.name == "torch.cuda.synchronize"]
    assert use.frequency == frequency

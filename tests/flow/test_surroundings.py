"""Process group backends, packages and environment variables."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reading import INTEREST, facts_in, guards

from xlamig.facts import ApiUse, Environment, Launch, Package, Value

HEAD = "import torch, os\nimport torch.distributed as dist\n"


def launches(source: str) -> list[str]:
    return [f"{fact.via} {fact.backend}" for fact in facts_in(HEAD + source, Launch)]


@pytest.mark.parametrize(
    "source",
    [
        "backend = 'gloo'",
        "backend = 'mpi_nccl'",
        "backends = 'nccl'",
        "frontend = 'nccl'",
        "backend = f('nccl')",
        "backend = {'nccl': 1}",
        "def f(backend='gloo'): pass",
        "def f(name='nccl'): pass",
        "p.add_argument('--backend', default='gloo')",
        "p.add_argument('--backend', choices=['nccl'])",
        "p.add_argument('--name', default='nccl')",
        "b = 'nccl' if fast else 'gloo'",
        "b = 'nccl' if torch.cuda.is_available() else 'xla'",
        "b = 'nccl' if torch.cuda.is_available() else default",
        "b = 'mpi' if torch.cuda.is_available() else 'gloo'",
        "b = {'cuda': 'nccl', 'xla': 'xla'}.get(kind, 'gloo')",
        "b = {'cuda': 'nccl', 'cpu': 'gloo'}[kind]",
        "b = {'a': 'nccl'}.get(kind, 'gloo')",
        "dist.init_process_group('nccl')",  # a use of the API, with its argument
        "dist.init_process_group(backend='nccl')",
    ],
)
def test_no_backend_is_named(source: str) -> None:
    assert launches(source) == []


@pytest.mark.parametrize(
    "source",
    [
        "p.add_argument('--backend', default='nccl')\ndist.init_process_group(args.backend)",
        "p.add_argument('--x-backend', default='nccl')\ndist.init_process_group(backend=args.x_backend)",
        "def f(backend='nccl'): dist.init_process_group(backend)",
        "@dataclass\nclass C:\n backend: str = 'nccl'\ndist.init_process_group(cfg.backend)",
        "backend = 'nccl'\ndist.init_process_group(backend)",
    ],
)
def test_a_default_that_a_call_uses_is_told_there(source: str) -> None:
    assert launches(source) == []
    (use,) = facts_in(HEAD + source, ApiUse)
    argument = use.argument("backend")
    assert argument is not None
    assert argument.value.value == "nccl"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("p.add_argument('--backend', default='nccl')", "option nccl"),
        ("p.add_argument('--dist-backend', default='nccl')", "option nccl"),
        ("p.add_argument('-b', dest='dist_backend', default='nccl')", "option nccl"),
        ("@click.option('--backend', default='nccl')\ndef f(): pass", "option nccl"),
        ("def f(backend='nccl'): pass", "default nccl"),
        ("def f(*, dist_backend='cpu:gloo,cuda:nccl'): pass", "default cpu:gloo,cuda:nccl"),
        ("backend = 'nccl'", "setting nccl"),
        ("BACKEND = 'nccl'", "setting nccl"),
        ("cfg.backend = 'nccl'", "setting nccl"),
        ("f(backend='nccl')", "setting nccl"),
        ("@dataclass\nclass C:\n backend: str = 'nccl'", "setting nccl"),
        ("b = 'nccl' if torch.cuda.is_available() else 'gloo'", "choice gloo"),
        ("b = 'gloo' if not use_cuda else 'nccl'", "choice gloo"),
        ("f('gloo' if gpus is None else 'nccl')", "choice gloo"),
        ("b = 'gloo' if os.name == 'nt' else 'nccl'", "choice nccl"),
        ("b = 'nccl' if dist.is_nccl_available() else 'gloo'", "choice nccl"),
        ("b = {'cuda': 'nccl', 'npu': 'hccl'}.get(kind, 'gloo')", "choice gloo"),
        ("B = {'cuda': 'nccl'}\ndef f(kind): return B.get(kind.type, 'gloo')", "choice gloo"),
    ],
)
def test_a_backend_is_named(source: str, found: str) -> None:
    assert launches(source) == [found]


@pytest.mark.parametrize(
    "source",
    [
        "import flash_attn2",
        "import flash",
        "import my.flash_attn",
        "from . import flash_attn",
        "from .flash_attn import x",
        "import apex",
        "from apex import optimizers",
        "flash_attn = 1",
    ],
)
def test_no_package(source: str) -> None:
    assert facts_in(source, Package) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import flash_attn", "flash_attn flash_attn"),
        ("import flash_attn.ops as f", "flash_attn flash_attn.ops"),
        ("from flash_attn import *", "flash_attn flash_attn"),
        ("from flash_attn.ops import a, b", "flash_attn flash_attn.ops.a"),
        ("from apex import optimizers, amp", "apex.amp apex.amp"),
        ("import apex.amp.handle", "apex.amp apex.amp.handle"),
        ("def f():\n import flash_attn", "flash_attn flash_attn"),
    ],
)
def test_a_package_is_told_once_a_statement(source: str, found: str) -> None:
    assert [f"{fact.package} {fact.name}" for fact in facts_in(source, Package)] == [found]


def test_the_longest_package_is_meant() -> None:
    interest = replace(INTEREST, packages=frozenset({"apex", "apex.amp"}))
    (fact,) = facts_in("from apex import amp", Package, interest=interest)
    assert fact.package == "apex.amp"


def test_an_optional_package_is_guarded() -> None:
    source = "try: import flash_attn\nexcept ImportError: pass"
    (fact,) = facts_in(source, Package)
    assert [g.kind for g in fact.guards] == ["optional-import"]
    assert guards(source) == []


@pytest.mark.parametrize(
    "source",
    [
        "os.environ.get('XLA_USE_BF16')",
        "os.getenv('XLA_USE_BF16')",
        "x = os.environ['XLA_USE_BF16']",
        "os.environ['OTHER'] = '1'",
        "os.environ[name] = '1'",
        "env['XLA_USE_BF16'] = '1'",
        "os.environ.update({**x, 'OTHER': '1'})",
        "os.environ.update(OTHER='1', **x)",
        "os.environ.update(x)",
        "os.environ.update()",
        "os.environ |= x",
        "os.environ |= {'OTHER': '1'}",
        "os.environ ^= {'XLA_USE_BF16': '1'}",
        "x |= {'XLA_USE_BF16': '1'}",
        "os.environ['NCCL'] = '1'",
        "os.environ['MY_NCCL_DEBUG'] = '1'",
        "os.environ[f'NCCL_{x}'] = '1'",
        "del os.environ",
        "del os.environ['OTHER']",
        "del env['XLA_USE_BF16']",
        "env.pop('XLA_USE_BF16')",
        "f(NCCL_DEBUG='1')",
        "os.environ.setdefault",
        "os.putenv('OTHER', '1')",
    ],
)
def test_nothing_is_written(source: str) -> None:
    assert facts_in(HEAD + source, Environment) == []


@pytest.mark.parametrize(
    "source",
    [
        "os.environ['XLA_USE_BF16'] = '1'",
        "os.environ.setdefault('XLA_USE_BF16', '1')",
        "os.environ.update({'OTHER': '1', 'XLA_USE_BF16': '1'})",
        "os.environ.update(XLA_USE_BF16='1')",
        "os.environ.update(dict(XLA_USE_BF16='1'))",
        "os.environ |= {'XLA_USE_BF16': '1'}",
        "os.putenv('XLA_USE_BF16', '1')",
        "from os import environ\nenviron['XLA_USE_BF16'] = '1'",
        "import os as o\no.environ['XLA_USE_BF16'] = '1'",
    ],
)
def test_a_variable_is_written(source: str) -> None:
    (fact,) = facts_in(HEAD + source, Environment)
    assert (fact.variable, fact.access) == ("XLA_USE_BF16", "write")
    assert fact.value is not None
    assert fact.value.value == "1"


@pytest.mark.parametrize(
    "source",
    [
        "os.environ['NCCL_DEBUG'] = level",
        "NAME = 'NCCL_DEBUG'\nos.environ[NAME] = level",
        "os.environ |= {'NCCL_DEBUG': level}",
    ],
)
def test_a_variable_is_known_by_its_start(source: str) -> None:
    (fact,) = facts_in(HEAD + source, Environment)
    assert (fact.variable, fact.access) == ("NCCL_DEBUG", "write")
    assert fact.value == Value("expression", "level")


def test_each_variable_of_an_update_is_told() -> None:
    source = f"{HEAD}os.environ.update({{'NCCL_A': '1', 'x': '2'}}, NCCL_B='3')"
    found = facts_in(source, Environment)
    assert [(f.variable, source[slice(*f.span)]) for f in found] == [
        ("NCCL_A", "'NCCL_A'"),
        ("NCCL_B", "NCCL_B='3'"),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "del os.environ['NCCL_DEBUG']",
        "del x, os.environ['NCCL_DEBUG']",
        "os.environ.pop('NCCL_DEBUG', None)",
        "os.unsetenv('NCCL_DEBUG')",
    ],
)
def test_a_variable_is_deleted(source: str) -> None:
    (fact,) = facts_in(HEAD + source, Environment)
    assert (fact.variable, fact.access, fact.value) == ("NCCL_DEBUG", "delete", None)

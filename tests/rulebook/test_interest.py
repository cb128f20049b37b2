from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_books import MATCH, VERDICT, book, page

from xlamig.facts import Interest
from xlamig.rulebook import RulebookError
from xlamig.rulebook.triggers import compile_check, trigger_words


def interest(folder: Path, match: str, **tables: str) -> Interest:
    return book(
        folder, page(match + VERDICT), tables={k.replace("_", "/") + ".toml": t for k, t in tables.items()}
    ).interest


def test_names_prefixes_and_methods(tmp_path: Path) -> None:
    names = '["torch.f", "torch.cuda.*", "torch.*.g", "Tensor.cuda", "unknown.half", "Module.cuda"]'
    found = interest(tmp_path, f'[[match]]\nfact = "api-use"\nname = {names}\n')
    assert found.names == {"torch.f", "Tensor.cuda", "unknown.half", "Module.cuda"}
    assert found.prefixes == ("torch.", "torch.cuda.")
    assert found.methods == {"cuda", "half"}
    assert found.kinds == {"api-use"}
    assert not found.wants("torchvision.f")


def test_what_is_only_excluded_is_not_looked_for(tmp_path: Path) -> None:
    found = interest(tmp_path, MATCH + 'unless = { name = "torch.g" }\n')
    assert found.names == {"torch.f"}


@pytest.mark.parametrize(
    ("asks", "followed"),
    [
        ("", False),
        ('unless = { proofs = "on-host" }\n', False),
        ('unless = { proofs = "no-gradient" }\n', True),
        ('unless = [{ context = "worker" }, { proofs = ["on-host", "to-host"] }]\n', True),
    ],
)
def test_results_are_followed_where_a_rule_asks_what_becomes_of_them(
    tmp_path: Path, asks: str, followed: bool
) -> None:
    found = interest(tmp_path, f'[[match]]\nfact = "api-use"\nname = ["torch.f", "torch.g.*"]\n{asks}')
    assert [name for name in ("torch.f", "torch.g.x", "torch.h") if found.follows(name)] == (
        ["torch.f", "torch.g.x"] if followed else []
    )


def test_a_table_gives_names_signatures_and_aliases(tmp_path: Path) -> None:
    table = '[row."torch.f"]\nsignature = ["a", "b"]\nalias = ["torch.x.f"]\n[row."Tensor.g"]\n'
    found = interest(tmp_path, '[[match]]\nfact = "api-use"\ntable = "t"\n', api_t=table)
    assert found.names == {"torch.f", "Tensor.g"}
    assert found.methods == {"g"}
    assert found.signatures == {"torch.f": ("a", "b")}
    assert found.aliases == {"torch.x.f": "torch.f"}


def test_an_empty_signature_is_one(tmp_path: Path) -> None:
    assert interest(tmp_path, MATCH, api_t='[row."torch.f"]\nsignature = []\n').signatures == {"torch.f": ()}


def test_an_alias_stands_for_one_name(tmp_path: Path) -> None:
    table = '[row."torch.f"]\nalias = ["torch.x"]\n[row."torch.g"]\nalias = ["torch.x"]\n'
    with pytest.raises(RulebookError, match=r"torch\.x"):
        interest(tmp_path, MATCH, api_t=table)


def test_keywords_packages_and_variables(tmp_path: Path) -> None:
    matches = [
        '[[match]]\nfact = "api-use"\nkeyword = ["k"]\n',
        '[[match]]\nfact = "package"\npackage = "apex"\n',
        '[[match]]\nfact = "package"\nname = "flash_attn.f"\n',
        '[[match]]\nfact = "package"\ntable = "t"\n',
        '[[match]]\nfact = "environment"\nvariable = ["X", "NCCL_*", "A*_B"]\n',
    ]
    found = interest(tmp_path, "".join(matches), packages_t='[row."xformers.ops"]\n')
    assert found.keywords == {"k"}
    assert found.packages == {"apex", "flash_attn", "xformers.ops"}
    assert found.variables == {"X"}
    assert found.variable_prefixes == ("A", "NCCL_")
    assert found.wants_variable("NCCL_DEBUG")
    assert not found.wants_variable("MY_NCCL_DEBUG")
    assert not found.names


@pytest.mark.parametrize("keys", [{"status": "preview"}, {"status": "stable", "verdict": "torch_tpu"}])
def test_a_rule_that_is_off_looks_for_nothing(tmp_path: Path, keys: dict[str, str]) -> None:
    verdict = VERDICT.replace("torch_xla", keys.get("verdict", "torch_xla"))
    rules = book(tmp_path, page(MATCH + verdict, status=keys["status"]))
    assert (rules.interest.names, rules.active) == (frozenset(), frozenset())


WANTED = Interest(
    kinds=frozenset({"api-use", "package", "environment", "device-choice", "launch"}),
    names=frozenset({"torch.cuda.synchronize", "Tensor.half", "unknown.half", "PIL.Image"}),
    prefixes=("torch_xla.core.",),
    methods=frozenset({"half"}),
    keywords=frozenset({"attn_implementation"}),
    packages=frozenset({"flash_attn", "xformers.ops", "ray.train"}),
    variables=frozenset({"CUDA_VISIBLE_DEVICES"}),
    variable_prefixes=("UCX_",),
    aliases={"torchx.sync": "torch.cuda.synchronize"},
)


def test_trigger_words() -> None:
    words = trigger_words(WANTED)
    assert words >= {
        "torch",
        "torch_xla",
        "torchx",
        ".half",
        "attn_implementation",
        "PIL",
    }
    assert words >= {"CUDA_VISIBLE_DEVICES", "cuda", "nccl", "xlamig", "XLA"}
    assert not words & {"Tensor", "unknown", ".cuda"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "import numpy as np\nx = np.zeros(3)\n",
        "output = self.total\n",
        "half = 1\nself.halve()\n",
        "# to be done\n",
        "array = my_xformers_2\n",
    ],
)
def test_a_file_that_gives_nothing_is_left_unread(text: str) -> None:
    assert not compile_check(WANTED)(text)


gaps = st.sampled_from(["", " ", "\n    ", "  # note\n  ", "\\\n"])
facts = st.one_of(
    st.sampled_from(
        [
            "import torch as t\nt.cuda.synchronize()",
            "from torch import *",
            "import PIL.Image",
            "import torch_xla.core.xla_model as xm",
            "from torchx import sync",
            "build(attn_implementation='eager')",
            "from flash_attn import f",
            "flash-attn==2.5",
            "from xformers import ops",
            "import ray.train",
            "os.environ['CUDA_VISIBLE_DEVICES'] = '0'",
            "os.environ.update(UCX_TLS='tcp')",
            "d = 'cuda:0'",
            "x.to(0)",
            "run(device=0)",
            "add_option('--dist-backend', default='gloo')",
            "init('nccl')",
            "x = 1  # noqa: XLA001",
            "x = 1  # xlamig: ignore[cuda-method]",
        ]
    ),
    gaps.map(lambda gap: f"y = (x.{gap}half())"),
)


@given(st.text(), facts, st.text())
def test_no_text_that_gives_a_fact_is_passed_over(before: str, fact: str, after: str) -> None:
    assert compile_check(WANTED)(before + "\n" + fact + "\n" + after)


@given(
    st.text(alphabet="abcdefhijkmqsuvwy \n#.", max_size=60),
    st.sampled_from(sorted(trigger_words(WANTED))),
    st.text(),
)
def test_a_trigger_word_anywhere_is_enough(before: str, word: str, after: str) -> None:
    assert compile_check(WANTED)(before + word + "(" + after)


def test_of_an_unknown_kind_of_fact_every_file_matters() -> None:
    assert compile_check(Interest(kinds=frozenset({"host-read"})))("x = 1")

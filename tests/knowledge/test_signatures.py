from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from xlamig.facts import Interest
from xlamig.knowledge import signatures
from xlamig.knowledge.signatures import KINDS, parameters, returns, signature

ROOT = Path(__file__).parents[2]
PATH = ROOT / "src" / "xlamig" / "knowledge" / "data" / "signatures.json"
LINES: dict[str, str] = json.loads(PATH.read_text("utf-8"))["signatures"]


def test_provenance() -> None:
    about = signatures.provenance()
    assert about["versions"] == {"torch": "2.9.0", "torch_xla": "2.9.0"}
    assert about["command"].endswith("tools/signatures.py")
    assert {"date", "method", "seconds"} <= about.keys()


def test_names_are_canonical_and_sorted() -> None:
    assert list(LINES) == sorted(LINES)
    assert {name.partition(".")[0] for name in LINES} == {"torch", "torch_xla", "Tensor", "Module"}
    assert not [name for name in LINES if not all(part.isidentifier() for part in name.split("."))]


def test_every_line_says_parameters_and_kinds() -> None:
    for name, line in LINES.items():
        known = signature(name)
        assert known is not None
        named = (*known.positional, *known.keywords)
        assert all(word.isidentifier() for word in named), name
        assert len(set(named)) == len(named), name
        written = line.partition("->")[2].strip()
        assert known.returns == frozenset(written.split("|") if written else ()) <= set(KINDS), name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torch.median", ("input", "dim", "keepdim")),
        ("Tensor.median", ("dim", "keepdim")),  # without self
        ("torch.linalg.svd", ("A", "full_matrices")),  # from a schema: there is no stub
        ("torch.fft.fft", ("input", "n", "dim", "norm")),
        ("torch.unique", ("input", "sorted", "return_inverse", "return_counts", "dim")),  # from a docstring
        ("torch.nn.Linear", ("in_features", "out_features", "bias", "device", "dtype")),
        ("torch.nn.LSTM", ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout",
                           "bidirectional", "proj_size", "device", "dtype")),
        ("torch.optim.SGD", ("params", "lr", "momentum", "dampening", "weight_decay", "nesterov")),
        ("torch.cuda.synchronize", ("device",)),
        ("torch.distributed.all_reduce", ("tensor", "op", "group", "async_op")),
        ("torch_xla.core.xla_model.optimizer_step",
         ("optimizer", "barrier", "optimizer_args", "groups", "pin_layout")),
        ("Tensor.item", ()),
    ],
)  # fmt: skip
def test_parameters(name: str, expected: tuple[str, ...]) -> None:
    assert parameters(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("torch.zeros", ()),  # zeros(3, 4) and zeros((3, 4))
        ("Tensor.to", ()),  # a dtype, a device or another tensor
        ("torch.std_mean", ("input",)),  # then `unbiased` or `dim`
        ("torch.einsum", ("equation",)),
    ],
)
def test_only_what_overloads_agree_on_has_a_position(name: str, expected: tuple[str, ...]) -> None:
    known = signature(name)
    assert known is not None
    assert known.open
    assert known.positional == expected


def test_deprecated_overloads_do_not_count() -> None:
    known = signature("torch.addmm")
    assert known is not None
    assert known.positional[:3] == ("input", "mat1", "mat2")
    assert {"beta", "alpha"} <= set(known.keywords)


def test_functions_that_torch_xla_replaces_are_read_before() -> None:
    names = parameters("torch.distributed.new_group")
    assert names is not None
    assert "use_local_synchronization" in names


@pytest.mark.parametrize(
    "name", ["torch.no_such_name", "np.median", "unknown", "unknown.frobnicate", "", "median"]
)
def test_a_name_that_is_not_known_has_no_signature(name: str) -> None:
    assert signature(name) is None
    assert parameters(name) is None
    assert returns(name) == frozenset()


def test_an_unknown_receiver_has_what_tensors_and_modules_agree_on() -> None:
    assert parameters("unknown.cuda") == ("device",)
    assert parameters("unknown.to") == ()
    assert parameters("unknown.median") == ("dim", "keepdim")  # modules have none
    assert returns("unknown.cuda") == {"tensor", "module"}


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("torch.median", {"tensor", "tensors"}),
        ("Tensor.item", {"number"}),
        ("Tensor.is_contiguous", {"bool"}),
        ("torch.device", {"device"}),
        ("Module.half", {"module"}),
        ("torch.nn.Mish", {"module"}),
        ("torch.split", {"tensors"}),
        ("torch.cuda.synchronize", {"none"}),
        ("Tensor.backward", set()),  # nothing says
    ],
)
def test_returns(name: str, kinds: set[str]) -> None:
    assert returns(name) == kinds


def test_the_rule_book_has_the_last_word() -> None:
    interest = Interest(signatures={"torch.median": ("x",), "torch.sum": ()})
    assert interest.parameters("torch.median") == ("x",)
    assert interest.parameters("torch.sum") == ()
    assert interest.parameters("torch.mean") == ("input", "dim", "keepdim")
    assert interest.parameters("my.own") == ()


def test_signatures_in_tables_agree_with_torch() -> None:
    wrong = []
    for file in sorted((ROOT / "rules" / "api").glob("*.toml")):
        for name, row in tomllib.loads(file.read_text("utf-8")).get("row", {}).items():
            known = signature(name)
            if known is None or "signature" not in row:
                continue
            agreed = min(len(known.positional), len(row["signature"]))
            rest = set(row["signature"][agreed:]) - set(known.keywords)  # a name too many does no harm
            if (rest and not known.open) or tuple(row["signature"][:agreed]) != known.positional[:agreed]:
                wrong.append((file.name, name, row["signature"], known.positional))
    assert wrong == []


def test_the_table_is_not_read_before_it_is_asked() -> None:
    code = (
        "import xlamig.facts; from xlamig.knowledge import signatures;"
        "print(signatures._document.cache_info().misses)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"

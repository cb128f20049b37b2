"""`xlamig ops`, on small tables."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from xlamig.cli import ops_answer
from xlamig.knowledge.operators import Operators


def made(target: str, rows: dict[str, Any], dispatch: dict[str, str] | None = None) -> Operators:
    about = {
        "target": target,
        "versions": {target: "1.0"},
        "date": "2026-01-02",
        "command": "",
        "method": "",
        "seconds": 1,
    }
    return Operators({"about": about, "operators": rows, "dispatch": dispatch or {}})


XLA = made(
    "torch_xla",
    {
        "Tensor.fold": {"status": "native"},
        "Tensor.median": {"same": "torch.median"},
        "torch.add": {"status": "native"},
        "torch.amax": {
            "status": "conditional",
            "cases": [{"status": "wrong-result", "when": {"dim": {"absent": True}}, "error": "shape (3,)"}],
        },
        "torch.linalg.inv": {"status": "native", "host_read": True},
        "torch.median": {"status": "fallback", "aten": ["aten::median"], "backward": "native"},
        "torch.nn.functional.fold": {"status": "fallback", "aten": ["aten::col2im"]},
        "torch.odd": {"status": "unknown", "note": "no sample call runs on the CPU"},
    },
    {"aten::odd": "fallback"},
)
TPU = made(
    "torch_tpu",
    {
        "torch.add": {"status": "native", "known": "probe"},
        "torch.median": {"status": "error", "error": "E"},
        "torch.rand": {"status": "native", "known": "registry"},
    },
)


@pytest.fixture(autouse=True)
def tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ops_answer, "operators", {"torch_xla": XLA, "torch_tpu": TPU}.__getitem__)


@pytest.fixture
def alternatives(tmp_path: Path) -> None:
    (tmp_path / "own" / "api").mkdir(parents=True)
    (tmp_path / "own" / "api" / "operators.toml").write_text(
        '[row."torch.median"]\nalias = ["Tensor.median"]\nalternative = "torch.kthvalue(x, k)"\n'
    )
    (tmp_path / "xlamig.toml").write_text('rules = ["own"]\n')


def test_supported_everywhere(invoke: Any) -> None:
    result = invoke("ops", "torch.add")
    assert result.exit_code == 0
    assert "torch_xla 1.0: runs on the device" in result.stdout
    assert "torch_tpu 1.0: runs on the device" in result.stdout


def test_a_fallback_says_what_it_costs(invoke: Any) -> None:
    text = invoke("ops", "median").stdout
    assert "torch_xla 1.0: runs on the CPU" in text and "aten::median" in text
    assert "copies its inputs to the host" in text
    assert "The gradient runs on the device." in text
    assert "torch_tpu 1.0: raises an error" in text


def test_nothing_is_told_instead_where_it_runs(invoke: Any, alternatives: None) -> None:
    (Path("own") / "api" / "operators.toml").write_text('[row."torch.add"]\nalternative = "x"\n')
    assert "Instead" not in invoke("ops", "torch.add").stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [("torch.add", "Traced 2026-01-02"), ("torch.rand", "neither traced nor run"), ("median", "Measured")],
)
def test_how_it_is_known(invoke: Any, name: str, words: str) -> None:
    assert words in invoke("ops", name, "--target", "torch_tpu").stdout


def test_another_operator_of_the_name(invoke: Any) -> None:
    result = invoke("ops", "fold", "--target", "torch_xla")
    assert result.stdout.startswith("torch.nn.functional.fold")
    assert "fold may also be Tensor.fold" in result.stderr
    assert "may also be" not in invoke("ops", "F.fold", "median", "--target", "torch_xla").stderr


def test_a_release_that_was_not_measured(invoke: Any) -> None:
    asked = ("ops", "torch.add", "--target", "torch_xla", "--target-version")
    assert "torch_xla 0.9 was not measured; what follows is about 1.0" in invoke(*asked, "0.9").stderr
    assert invoke(*asked, "1.0.2").stderr == ""


def test_a_release_of_which_target(invoke: Any) -> None:
    assert invoke("ops", "torch.add", "--target-version", "2.7").exit_code == 2


def test_one_target(invoke: Any) -> None:
    text = invoke("ops", "torch.median", "--target", "torch_tpu").stdout
    assert "torch_xla 1.0" not in text and "torch_tpu 1.0" in text


def test_arguments_that_matter(invoke: Any) -> None:
    text = invoke("ops", "torch.amax", "--target", "torch_xla").stdout
    assert "- without `dim`: it gives a wrong result (shape (3,))" in text


def test_a_hidden_read(invoke: Any) -> None:
    assert "reads a value back" in invoke("ops", "linalg.inv", "--target", "torch_xla").stdout


def test_what_to_write_instead(invoke: Any, alternatives: None) -> None:
    assert "Instead: torch.kthvalue(x, k)." in invoke("ops", "x.median").stdout


def test_a_name_that_another_stands_for(invoke: Any) -> None:
    assert "(as torch.median)" in invoke("ops", "Tensor.median", "--target", "torch_xla").stdout


def test_not_run_is_said_and_counts(invoke: Any) -> None:
    result = invoke("ops", "torch.odd", "--target", "torch_xla")
    assert result.exit_code == 1
    assert "not known" in result.stdout and "no sample call runs on the CPU" in result.stdout
    assert "The dispatcher would take a plain call to the CPU" in result.stdout


def test_no_such_operator(invoke: Any) -> None:
    result = invoke("ops", "torch.add", "torch.medain")
    assert result.exit_code == 1
    assert "torch.medain: no such operator is known; did you mean torch.median" in result.stderr
    assert "torch.add" in result.stdout


def test_a_glob_gives_a_table(invoke: Any) -> None:
    lines = invoke("ops", "torch.*", "--target", "torch_xla").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [
        name for name in XLA.names if name.startswith("torch.")
    ]
    assert "fallback (gradient: native)" in lines[4] + lines[5]


def test_a_glob_that_fits_nothing(invoke: Any) -> None:
    assert invoke("ops", "torch.nothing.*").exit_code == 1


def test_json(invoke: Any, alternatives: None) -> None:
    result = invoke("ops", "torch.median", "torch.zzz", "--output-format", "json")
    document = json.loads(result.stdout)
    (operator,) = document["operators"]
    assert operator["name"] == "torch.median"
    told = operator["targets"]["torch_xla"]
    assert (told["status"], told["backward"], told["aten"]) == ("fallback", "native", ["aten::median"])
    assert told["alternative"] == "torch.kthvalue(x, k)"
    assert told["versions"] == {"torch_xla": "1.0"} and told["measured"] == "2026-01-02"
    assert document["not_found"] == [{"name": "torch.zzz", "did_you_mean": []}]


def test_a_name_is_needed(invoke: Any) -> None:
    assert invoke("ops").exit_code == 2


def test_the_command_is_imported_without_its_tables() -> None:
    code = (
        "import sys, xlamig.cli.ops; sys.exit(any('rulebook' in m or 'knowledge' in m for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0

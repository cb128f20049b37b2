"""Requirements whose kernels know no XLA tensors, where nothing imports them."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options

REQUIREMENTS = "torch\ntorch-scatter\ntorch-sparse\ntorch-cluster\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def severities(script: str) -> dict[str, str]:
    """Return the severity of each requirement that is reported."""
    Path("requirements.txt").write_text(REQUIREMENTS)
    Path("train.py").write_text("import torch\n" + script)
    report = engine.check([Path()], Options({"select": ["XLA909"]}, isolated=True, jobs=1, cache=False))
    words = {f.message.split("`")[1]: f.severity for f in report.findings}
    return {name: word for name, word in words.items() if name.startswith("torch-")}


@pytest.mark.parametrize("script", ["", "torch.zeros(3).scatter_(0, i, x)\n"])
def test_unused_ones_are_no_errors(script: str) -> None:
    assert set(severities(script).values()) == {"info"}


@pytest.mark.parametrize(
    ("script", "needed"),
    [
        ("from torch_scatter import scatter_mean\n", {"torch-scatter"}),
        ("import torch_sparse as ts\n", {"torch-sparse"}),
        ("def f(x):\n    from torch_cluster import knn\n    return knn(x, x, 3)\n", {"torch-cluster"}),
        ("from torch_geometric.nn import GCNConv\nconv = GCNConv(3, 3)\n", {"torch-scatter"}),
        (
            "from torch_geometric.nn import knn_graph\nedges = knn_graph(x, 3)\n",
            {"torch-scatter", "torch-cluster"},
        ),
        (
            "import torch_geometric.transforms as T\nt = T.ToSparseTensor()\n",
            {"torch-scatter", "torch-sparse"},
        ),
    ],
)
def test_used_ones_are_errors(script: str, needed: set[str]) -> None:
    found = severities(script)
    assert {name for name, severity in found.items() if severity == "error"} == needed

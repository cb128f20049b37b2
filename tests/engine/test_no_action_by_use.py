"""A finding asks for no change in a project that uses no model, or no loader."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from xlamig import engine
from xlamig.engine import Options

GRAPH = """from torch_geometric.datasets import Planetoid
from torch_geometric.nn import GCNConv
data = Planetoid(".", "Cora")[0].to("xla")
conv = GCNConv(3, 3)
"""

SAMPLES = """import torch
from torch.utils.data import Dataset

class Buffer(Dataset):
    def __init__(self, device):
        self.device = device
    def __getitem__(self, i):
        return torch.zeros(2, device="xla") + i
"""


def no_action(folder: Path, code: str, *texts: str) -> list[bool]:
    """Return for each finding of a rule in these files whether nothing has to change."""
    for i, text in enumerate(texts):
        (folder / f"part{i}.py").write_text(text, encoding="utf-8")
    settings = {"include-no-action": True, "confidence": "possible"}
    report = engine.check([folder], Options(settings, isolated=True, jobs=1, cache=False))
    return [finding.no_action for finding in report.findings if finding.code == code]


@pytest.mark.parametrize(
    ("text", "idle"),
    [
        ("from transformers import AutoTokenizer\nt = AutoTokenizer.from_pretrained('a')\n", True),
        ("from transformers import BertTokenizerFast, CLIPImageProcessor\n", True),
        ("import transformers\nt = transformers.GPT2Tokenizer.from_pretrained('a')\n", True),
        ("from transformers import AutoTokenizer, AutoModel\n", False),
        ("import transformers\nt = transformers.GPT2Tokenizer\nm = transformers.GPT2LMHeadModel\n", False),
        ("from transformers import AutoTokenizer, get_linear_schedule_with_warmup\n", False),
        ("from transformers.models.bert.modeling_bert import BertLayer\n", False),
    ],
)
def test_a_project_that_only_tokenizes_has_nothing_to_change(tmp_path: Path, text: str, idle: bool) -> None:
    assert no_action(tmp_path, "XLA612", "import torch\n" + text) == [idle]


@pytest.mark.parametrize(
    ("text", "idle"),
    [
        ("from part0 import Buffer\nfor i in range(3): print(Buffer('xla')[i])\n", True),
        (
            "from torch.utils.data import DataLoader\nfrom part0 import Buffer\nDataLoader(Buffer('xla'))\n",
            False,
        ),
        ("import torch\nfrom part0 import Buffer\ntorch.utils.data.DataLoader(Buffer('xla'))\n", False),
        ("import pytorch_lightning as pl\nfrom part0 import Buffer\npl.Trainer()\n", False),
    ],
)
def test_a_data_set_without_a_loader_runs_in_no_worker(tmp_path: Path, text: str, idle: bool) -> None:
    assert set(no_action(tmp_path, "XLA903", SAMPLES, text)) == {idle}


@pytest.mark.parametrize(
    ("text", "idle"),
    [
        ("", True),
        ("import torch_geometric.transforms as T\nt = T.NormalizeFeatures()\n", True),
        ("from torch_geometric.loader import NeighborLoader\nl = NeighborLoader(data, [3])\n", False),
        ("from torch_geometric.data import DataLoader\nl = DataLoader([data])\n", False),
        ("from torch_geometric.data import NeighborSampler\ns = NeighborSampler(data, [3])\n", False),
        ("from torch_geometric.utils import dropout_edge\ne = dropout_edge(data.edge_index)\n", False),
    ],
)
def test_training_on_one_graph_compiles_once(tmp_path: Path, text: str, idle: bool) -> None:
    assert no_action(tmp_path, "XLA609", GRAPH + text) == [idle]


def test_a_list_of_graphs_may_hold_different_sizes(tmp_path: Path) -> None:
    text = "from torch_geometric.datasets import TUDataset\nfor g in TUDataset('.', 'A'): print(g)\n"
    assert no_action(tmp_path, "XLA609", text) == [False]


WRAPPED = """import torch
from torch import nn

def load(model, state, wrapped):
    model.eval()
BODY
    return model
train(load(nn.Linear(2, 2), torch.load("a"), True), torch.optim.SGD)
"""


@pytest.mark.parametrize(
    ("body", "idle"),
    [
        ("model = nn.DataParallel(model)\nmodel.load_state_dict(state)\nmodel = model.module", True),
        ("model = nn.DataParallel(model)\nmodel.module.load_state_dict(state)\nmodel = model.module", True),
        ("if wrapped: model = nn.DataParallel(model)\nif wrapped: model = model.module", True),
        (
            "if wrapped:\n  model = nn.DataParallel(model)\n  model = model.module",
            True,
        ),
        ("model = nn.DataParallel(model)\nmodel.load_state_dict(state)", False),
        ("model = nn.DataParallel(model)\nmodel(state)\nmodel = model.module", False),
        ("model = nn.DataParallel(model)\nkeep(model)\nmodel = model.module", False),
        ("model = nn.DataParallel(model)\nif wrapped: model = model.module", False),
        ("if wrapped: model = nn.DataParallel(model)\nelse: model = model.module", False),
        ("model = nn.DataParallel(model)\nother = model.module", False),
        ("keep(nn.DataParallel(model))\nmodel = model.module", False),
    ],
)
def test_a_wrapper_that_only_loads_a_state_stays(tmp_path: Path, body: str, idle: bool) -> None:
    text = WRAPPED.replace("BODY", indent(body, "    "))
    assert no_action(tmp_path, "XLA704", text) == [idle]

"""A dependency is one finding, wherever it is imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine
from xlamig.engine import Options
from xlamig.findings import Finding

GUARDED = "try:\n    import flash_attn\nexcept ImportError:\n    flash_attn = None\n"
FILES = {
    "a.py": "from flash_attn import flash_attn_func\n",
    "b.py": "import flash_attn.bert_padding\n",
    "c.py": GUARDED,
}


def found(root: Path, files: dict[str, str], code: str) -> list[Finding]:
    for name, text in files.items():
        (root / name).write_text(text)
    report = engine.check([Path()], Options({"select": [code]}, isolated=True, jobs=1, cache=False))
    return list(report.findings)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def places(finding: Finding) -> list[str]:
    return [reason.filename for reason in finding.reasons if reason.message.startswith("also here")]


def test_guarded_imports_alone_are_information(root: Path) -> None:
    (finding,) = found(root, {"a.py": GUARDED, "b.py": GUARDED}, "XLA605")
    assert finding.severity == "info" and places(finding) == ["b.py"]


def test_the_most_serious_place_stands_for_the_others(root: Path) -> None:
    (finding,) = found(root, FILES, "XLA605")
    assert (finding.filename, finding.severity) == ("a.py", "error")
    assert places(finding) == ["b.py", "c.py"]


def test_packages_stay_apart(root: Path) -> None:
    files = {"a.py": "import cupy\nimport pycuda\n", "b.py": "import cupyx\n"}
    assert [f.message for f in found(root, files, "XLA604")] == [
        "`cupy` needs an NVIDIA GPU",
        "`pycuda` needs an NVIDIA GPU",
    ]


def test_a_call_is_a_place_of_its_own(root: Path) -> None:
    call = "def f(build):\n    return build(attn_implementation='flash_attention_2')\n"
    assert [f.filename for f in found(root, {"a.py": call, "b.py": call}, "XLA605")] == ["a.py", "b.py"]


def test_another_part_of_the_package_is_replaced_by_something_else(root: Path) -> None:
    files = {"a.py": "from apex.optimizers import FusedAdam\n", "b.py": "from apex import amp\n"}
    (finding,) = found(root, files, "XLA606")
    other = "also here; for this place: Use `torch.autocast"
    assert any(other in reason.message for reason in finding.reasons)


def test_a_comment_at_one_place_leaves_the_others(root: Path) -> None:
    files = {**FILES, "a.py": FILES["a.py"].replace("\n", "  # xlamig: ignore[XLA605] GPU only\n")}
    (finding,) = found(root, files, "XLA605")
    assert finding.filename == "b.py" and places(finding) == ["c.py"]


def test_many_places_are_counted(root: Path) -> None:
    (finding,) = found(root, {f"m{i}.py": FILES["a.py"] for i in range(9)}, "XLA605")
    assert len(places(finding)) == 5
    assert any(reason.message == "and at 3 more places" for reason in finding.reasons)


def test_every_place_gets_a_comment(root: Path) -> None:
    found(root, FILES, "XLA605")
    engine.add_ignores([Path()], Options(isolated=True, cache=False), "GPU only")
    assert found(root, {}, "XLA605") == []


STACK = "from transformers import Trainer\n"
RAGGED = """\
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def collate(batch):
    return pad_sequence(batch)


loader = DataLoader([], collate_fn=collate, drop_last=True)
"""


def stack(root: Path, files: dict[str, str]) -> Finding:
    (finding,) = (f for f in found(root, files, "ALL") if f.code == "XLA612")
    return finding


def test_a_stack_has_nothing_to_say_of_code_that_it_does_not_concern(root: Path) -> None:
    finding = stack(root, {"a.py": STACK, "b.py": "import torch\n"})
    assert finding.severity == "info" and all(reason.filename == "a.py" for reason in finding.reasons)


def test_a_stack_names_the_places_it_concerns(root: Path) -> None:
    finding = stack(root, {"a.py": STACK, "b.py": RAGGED})
    assert [(r.filename, r.message.partition(" ")[0]) for r in finding.reasons if r.filename != "a.py"] == [
        ("b.py", "XLA904")
    ]


PARTS = {
    "from diffusers import AutoencoderKL, DDPMScheduler\n": "at the end of each iteration of your own loop",
    "import diffusers\nvae = diffusers.AutoencoderKL()\n": "at the end of each iteration of your own loop",
    "from diffusers import StableDiffusionPipeline, DDPMScheduler\n": "call a pipeline with",
    "import diffusers\npipe = diffusers.DiffusionPipeline.from_pretrained('x')\n": "call a pipeline with",
    "from transformers import AutoModel, AutoTokenizer\n": "pad inputs to one length or a few",
    "from transformers import CLIPTextModel\n": "pad inputs to one length or a few",
    "from transformers import AutoModelForCausalLM\n": "`generate` recompiles for every length",
    "import transformers\npipe = transformers.pipeline('x')\n": "`generate` recompiles for every length",
    "from transformers import Trainer\n": "Start it with `torch_xla.launch`",
    "from transformers import TrainingArguments\n": "`generate` recompiles for every length",
}


@pytest.mark.parametrize("text", PARTS)
def test_help_fits_the_parts_of_a_library_that_the_program_uses(root: Path, text: str) -> None:
    finding = stack(root, {"a.py": text, "b.py": "import torch\n"})
    assert finding.help is not None and PARTS[text] in finding.help


GROWS = """\
import torch


def decode(model, x):
    kept = torch.zeros(1, 0, 4, device="xla")
    with torch.no_grad():
        for _ in range(100):
            kept = torch.cat([kept, model(x.to("xla"), kept)], 1)
    return kept
"""


@pytest.mark.parametrize(
    ("name", "concerns"), [("AutoModelForCausalLM", True), ("CLIPTextModel", False), ("AutoModel", False)]
)
def test_a_program_without_generate_hears_nothing_of_its_cache(root: Path, name: str, concerns: bool) -> None:
    finding = stack(root, {"a.py": f"from transformers import {name}\n", "b.py": GROWS})
    assert any(reason.message.startswith("XLA302") for reason in finding.reasons) is concerns


def test_one_import_of_two_packages_is_two_findings(root: Path) -> None:
    assert [f.message for f in found(root, {"a.py": "import cupy, pycuda\n"}, "XLA604")] == [
        "`cupy` needs an NVIDIA GPU",
        "`pycuda` needs an NVIDIA GPU",
    ]


def test_what_is_on_xla_already_is_no_finding(root: Path) -> None:
    (root / "a.py").write_text("import jax\nfrom flax import linen\nimport tensorflow as tf\n")
    report = engine.check([Path()], Options(isolated=True, jobs=1, cache=False))
    assert report.findings == () and report.files[0].on_xla == ("JAX", "TensorFlow")


@pytest.mark.parametrize("folder", ["flash_attn", "src/flash_attn"])
def test_a_package_that_the_program_is_itself_is_no_dependency(root: Path, folder: str) -> None:
    (root / folder).mkdir(parents=True)
    (root / folder / "__init__.py").write_text("")
    (root / "requirements.txt").write_text("flash-attn\nxformers\n")
    assert found(root, FILES, "XLA605") == []
    messages = [f.message for f in found(root, FILES, "XLA909")]
    assert messages == ["The requirements hold `xformers`, which does not run on a TPU"]


def test_a_vendored_copy_leaves_the_dependency(root: Path) -> None:
    (root / "third_party/flash_attn").mkdir(parents=True)
    (root / "third_party/flash_attn/__init__.py").write_text("")
    assert len(found(root, FILES, "XLA605")) == 1


def test_a_dependency_is_one_however_it_is_required(root: Path) -> None:
    (root / "requirements.txt").write_text("torch==2.1\n")
    (root / "requirements-dev.txt").write_text("torch==2.2+cu121\n")
    (finding,) = found(root, {}, "XLA909")
    assert any("also here: `torch" in reason.message for reason in finding.reasons)


CHECKPOINT = "from fairscale.nn.checkpoint.checkpoint_activations import checkpoint_wrapper\n"


@pytest.mark.parametrize(
    ("code", "severities"),
    [
        (CHECKPOINT, ["info", "info"]),
        ("from fairscale.nn import checkpoint_wrapper\n", ["info", "info"]),
        (f"{CHECKPOINT}from fairscale.optim import OSS\n", ["error", "error"]),
        ("from fairscale.nn import FullyShardedDataParallel\n", ["error", "error"]),
    ],
)
def test_a_package_is_judged_by_the_names_that_are_imported(
    root: Path, code: str, severities: list[str]
) -> None:
    (root / "requirements.txt").write_text("fairscale\n")
    findings = found(root, {"a.py": code}, "XLA608") + found(root, {"a.py": code}, "XLA909")
    serious = [
        max((f for f in findings if f.code == code), key=lambda f: f.severity == "error").severity
        for code in ("XLA608", "XLA909")
    ]
    assert serious == severities


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("from dgl.data import QM9\n", "info"),
        ("from dgl.data import QM9\nfrom dgl import DGLGraph\n", "info"),
        ("import dgl\n\nprint(dgl.data.QM9())\n", "info"),
        ("from dgl.data import QM9\nfrom dgl.nn import GraphConv\n", "error"),
        ("import dgl\nimport dgl.function as fn\n\nprint(dgl.data.QM9(), fn.sum)\n", "error"),
        ("import dgl\n\nprint(dgl.batch([]))\n", "error"),
        ("print()\n", "error"),
    ],
)
def test_a_library_of_data_sets_alone_runs_on_the_host(root: Path, code: str, severity: str) -> None:
    (root / "requirements.txt").write_text("dgl==0.7.2\n")
    assert [f.severity for f in found(root, {"a.py": code}, "XLA909")] == [severity]


LIGHTNING = "import pytorch_lightning as pl\n\n\nclass Net(pl.LightningModule):\n    pass\n"


@pytest.mark.parametrize(
    ("code", "needs_change"),
    [
        (LIGHTNING, False),
        ("print()\n", False),
        (f"{LIGHTNING}\n\npl.Trainer(max_epochs=3).fit(Net())\n", True),
        (f"{LIGHTNING}\n\ndef run(trainer: 'pl.Trainer'):\n    trainer.fit(Net())\n", False),
        (f"from lightning.pytorch.cli import LightningCLI\n{LIGHTNING}\n\nLightningCLI(Net)\n", True),
        (f"from lightning.fabric import Fabric\n{LIGHTNING}\n\nFabric()\n", True),
    ],
)
def test_lightning_without_a_trainer_needs_no_change(root: Path, code: str, needs_change: bool) -> None:
    (root / "requirements.txt").write_text("pytorch-lightning==1.9\n")
    (root / "a.py").write_text(code)
    select = {"extend-select": ["XLA612", "XLA909"]}
    report = engine.check([Path()], Options(select, isolated=True, jobs=1, cache=False))
    codes = {f.code for f in report.findings if f.code in ("XLA612", "XLA909")}
    assert codes == ({"XLA612", "XLA909"} if needs_change else set())


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("print()\n", "info"),
        ("import pynvml\n\npynvml.nvmlInit()\n", "warning"),
        ("from gpustat import GPUStatCollection\n", "warning"),
    ],
)
def test_a_monitor_that_nothing_imports_is_information(root: Path, code: str, severity: str) -> None:
    (root / "requirements.txt").write_text("gpustat\n")
    assert [f.severity for f in found(root, {"a.py": code}, "XLA909")] == [severity]

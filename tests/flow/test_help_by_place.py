"""Advice of rules other than host reads, where it depends on the place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xlamig import engine
from xlamig.findings import Finding


def found(text: str, **settings: Any) -> list[Finding]:
    options = engine.Options(settings, isolated=True, stdin=("train.py", f"import torch\n{text}".encode()))
    return list(engine.check([Path("train.py")], options).findings)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("if device == torch.device('cpu'): f(x)", ""),
        ("if device == torch.device('cuda'): f(x)", "XLA013"),
        ("y = x.to(torch.device('cuda'))", "XLA001"),
        ("y = torch.device('cuda') if a == b else None", "XLA001"),
    ],
)
def test_a_comparison_with_a_cuda_device_is_a_test(text: str, code: str) -> None:
    assert [f.code for f in found(text, select=["XLA001", "XLA013"])] == ([code] if code else [])


@pytest.mark.parametrize(
    ("text", "code", "help_"),
    [
        ("s = torch.amp.GradScaler('cuda', enabled=fp16)", "XLA803", "`enabled=fp16 and device.type"),
        ("s = torch.amp.GradScaler('cuda')", "XLA803", 'Pass `enabled=device.type == "cuda"`'),
        ("with torch.cuda.amp.autocast(): f(x)", "XLA801", "dtype=torch.bfloat16)`"),
        ("with torch.cuda.amp.autocast(enabled=amp): f(x)", "XLA801", "bfloat16, enabled=amp)`"),
    ],
)
def test_an_argument_that_decides_is_kept(text: str, code: str, help_: str) -> None:
    (finding,) = found(text, select=[code])
    assert help_ in (finding.help or "")


GROWS = """def run(model, loader):
    model.to("xla")
    kept = torch.zeros(0, 4, device="xla")
    with torch.no_grad():
        for x in loader:
            y = model(x.to("xla"))
"""
READS = "            print(y.sum().item())\n"


@pytest.mark.parametrize(
    ("lines", "help_"),
    [
        ("kept = torch.cat([kept, y])\n            y = model(kept)", "Create one tensor of the final size"),
        ("kept = torch.cat([kept, y])\n            y = kept[-1]", "Create one tensor of the final size"),
        ("kept = torch.cat([kept, y])", "Keep the parts in a list, and call `torch.cat` once"),
        ("kept = torch.cat([kept, y])\n            n = kept.shape[0]", "Keep the parts in a list"),
        ("kept = y if kept is None else torch.cat([kept, y])", "Keep the parts in a list"),
    ],
)
def test_what_a_loop_only_collects_belongs_into_a_list(lines: str, help_: str) -> None:
    (finding,) = found(f"{GROWS}            {lines}\n{READS}    return kept\n", select=["XLA302"])
    assert (finding.help or "").startswith(help_)


def test_growth_in_a_loop_without_boundary_asks_for_both() -> None:
    text = """def generate(model, ids, n):
    model.to("xla")
    ids = ids.to("xla")
    for _ in range(n):
        logits = model(ids)
        ids = torch.cat([ids, logits.argmax(-1)], dim=1)
    return ids
"""
    (finding,) = found(text, select=["XLA302"])
    assert "in a loop without step boundary" in finding.message
    assert "end each iteration with `torch_xla.sync()`" in (finding.help or "")


WRAPPED = "model = torch.nn.DataParallel(model)\n"


@pytest.mark.parametrize(
    ("text", "help_"),
    [
        (f"{WRAPPED}loss.backward()\noptimizer.step()\n", "Start one process per device"),
        (f"{WRAPPED}model.eval()\nloss.backward()\noptimizer.step()\n", "Start one process per device"),
        (WRAPPED, "Start one process per device"),
        (f"{WRAPPED}model.eval()\ny = model(x)\n", "Call the module itself"),
        (
            "if d: model = torch.nn.parallel.DistributedDataParallel(model)\n"
            f"else: {WRAPPED}loss.backward()\noptimizer.step()",
            "so that the branch with `DistributedDataParallel` runs",
        ),
        (
            "if d: model = model.float()\n"
            f"else: {WRAPPED}w = torch.nn.parallel.DistributedDataParallel(head)\nloss.backward()",
            "Start one process per device",
        ),
    ],
)
def test_data_parallel_is_for_training_on_one_device(text: str, help_: str) -> None:
    (finding,) = found(text, select=["XLA704"])
    assert help_ in (finding.help or "")


STEP = """def train(model, loader, optimizer):
    model.to("xla")
    for x in loader:
        y = model(x.to("xla"))
        low = y.cumsum(-1) - y
"""
END = "        y.sum().backward()\n        optimizer.step()\n        torch_xla.sync()\n"


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        ("m = y.sum(-1) > 3\n        y[m] = 0", True),
        ("m = low.sum(-1) > 3\n        y[m] = 0", True),
        ("z = y.sum(-1)\n        m = z - low > 3\n        y[m] = 0", True),
        ("m = y > 3\n        y[m] = 0", False),
        ("m = low - y > 3\n        y[m] = 0", False),
    ],
)
def test_a_mask_of_the_tensor_itself_needs_no_more_dimensions(lines: str, rows: bool) -> None:
    (finding,) = found(f"{STEP}        {lines}\n{END}", select=["XLA203"])
    assert ("a dimension more" in (finding.help or "")) is rows


def test_a_formatted_tensor_is_named() -> None:
    findings = found(f"{STEP}        print('%d %f' % (len(loader), y.mean()))\n{END}", select=["XLA104"])
    assert [f.message.split(",")[0] for f in findings] == ["`%` formats the device tensor `y.mean()`"]


@pytest.mark.parametrize(
    ("method", "help_"),
    [("upscale", "Use `mode="), ("interpolate_pos_encoding", "Resize the positions once")],
)
def test_positions_are_resized_outside_the_step(method: str, help_: str) -> None:
    text = f"""class Net(torch.nn.Module):
    def {method}(self, x):
        return torch.nn.functional.interpolate(x, scale_factor=2, mode="bicubic")
    def forward(self, x):
        return self.{method}(x)
"""
    (finding,) = found(text, select=["XLA502"])
    assert (finding.help or "").startswith(help_)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("if rank == 0:\n    dist.gather_object(m, ms)\nelse:\n    dist.gather_object(m)\n", []),
        ("if rank == 0:\n    ms = []\n    dist.broadcast(m, 0)\nelse:\n    dist.broadcast(m, 0)\n", []),
        ("if rank == 0:\n    dist.gather_object(m, ms)\nelse:\n    dist.barrier()\n", ["XLA710"]),
        ("if rank == 0:\n    dist.gather_object(m, ms)\n", ["XLA710"]),
    ],
)
def test_a_collective_of_both_branches_is_on_every_rank(text: str, codes: list[str]) -> None:
    head = "import torch.distributed as dist\nrank = dist.get_rank()\n"
    assert [f.code for f in found(head + text, select=["XLA710"])] == codes


@pytest.mark.parametrize(
    ("arguments", "help_"),
    [
        ("3, stride=1, padding=1, ceil_mode=True", "Drop `ceil_mode`: with stride 1"),
        ("3, 1, 1, True, True", "Drop `ceil_mode`: with stride 1"),
        ("3, stride=(1, 1), ceil_mode=True", "Drop `ceil_mode`: with stride 1"),
        ("3, stride=(2, 1), ceil_mode=True", "Pass `count_include_pad=False`"),
        ("2, ceil_mode=True", "Pass `count_include_pad=False`"),
        ("2, padding=(0, 0), ceil_mode=True", "Pass `count_include_pad=False`"),
        ("3, 2, 1, ceil_mode=True", "Pad the input by `F.pad` first"),
        ("3, 2, (1, 0), ceil_mode=True", "Pad the input by `F.pad` first"),
        ("3, 2, n, ceil_mode=True", "Drop `ceil_mode` where the stride is 1; where the padding is 0"),
        ("3, 1, 1, divisor_override=4", "Drop `ceil_mode` where the stride is 1; where the padding is 0"),
    ],
)
@pytest.mark.parametrize(
    "name", ["nn.AvgPool2d(", "nn.functional.avg_pool2d(x, ", "nn.AvgPool3d(", "nn.functional.avg_pool3d(x, "]
)
def test_how_an_average_keeps_its_gradient_on_the_device(name: str, arguments: str, help_: str) -> None:
    (finding,) = found(f"def f(x, n):\n    return torch.{name}{arguments})\n", select=["XLA502"])
    assert (finding.help or "").startswith(help_)


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        ("m, device_ids=[torch.cuda.current_device()]", ["XLA702"]),
        ("m, [cuda.current_device()], torch.cuda.current_device()", ["XLA702"]),
        ("m, device_ids=list(range(torch.cuda.device_count()))", ["XLA702"]),
        ("m, output_device=torch.cuda.current_device()", ["XLA004"]),
        ("m.to(torch.cuda.current_device()), device_ids=[rank]", ["XLA004", "XLA702"]),
        ("m, device_ids=[torch.cuda.get_device_properties(0).minor]", ["XLA004", "XLA702"]),
    ],
)
@pytest.mark.parametrize("target", ["torch_xla", "torch_tpu"])
def test_one_finding_for_the_devices_of_ddp(arguments: str, codes: list[str], target: str) -> None:
    text = "from torch import cuda\nfrom torch.nn.parallel import DistributedDataParallel\n"
    text += f"def f(m, rank):\n    return DistributedDataParallel({arguments})\n"
    both = ["XLA004", "XLA702"]
    assert sorted({f.code for f in found(text, select=both, target=target)}) == codes


def test_ddp_takes_no_device_for_the_current_gpu() -> None:
    text = "def f(m):\n    return torch.nn.parallel.DistributedDataParallel(m, device_ids={})\n"
    (asked,) = found(text.format("[torch.cuda.current_device()]"), select=["XLA702"])
    assert asked.severity == "error" and (asked.help or "").startswith("Drop `device_ids`")
    (own,) = found(text.format("[util.dev()]"), select=["XLA702"], **{"include-no-action": True})
    assert own.severity == "info" and own.no_action


@pytest.mark.parametrize(
    ("text", "warns"),
    [
        ("y = torch.fft.rfft(x)", True),
        ("from torch.fft import fft2\ny = fft2(x)", True),
        ("y = torch.fft.fftshift(x)", False),
        ("y = numpy.fft.rfft(x)", False),
    ],
)
@pytest.mark.parametrize("mode", ["torch.cuda.amp.autocast()", "torch.autocast('cuda', enabled=amp)"])
def test_bfloat16_is_nothing_for_fourier_transforms(text: str, warns: bool, mode: str) -> None:
    (finding,) = found(f"import numpy\nwith {mode}: f(x)\n{text}\n", select=["XLA801"])
    assert ("float32" in (finding.help or "")) == warns


@pytest.mark.parametrize(
    ("selected", "on_host"),
    [
        ("out.masked_select(mask).sum().item()", False),
        ("out[mask].mean().item()", False),
        ("out[mask].tolist()", True),
        ("out.masked_select(mask).cpu().sum()", True),
    ],
)
def test_a_sum_of_what_a_mask_selects_stays_on_the_device(selected: str, on_host: bool) -> None:
    text = f"""model = torch.nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in loader:
    out = model(batch.cuda())
    mask = out > 0
    count = {selected}
    out.sum().backward()
    optimizer.step()
"""
    (finding,) = found(text, select=["XLA202"])
    assert finding.help is not None
    assert finding.help.startswith("Copy tensor and mask to the host first") is on_host


@pytest.mark.parametrize(
    ("arguments", "per_layer"),
    [
        ("8, 8, bidirectional=True", False),
        ("8, 8, num_layers=1, bidirectional=True", False),
        ("8, 8, 1, bidirectional=True", False),
        ("8, 8, num_layers=2, bidirectional=True", True),
        ("8, 8, 2, True, True, 0.0, True", True),
        ("8, 8, num_layers=depth, bidirectional=True", True),
    ],
)
def test_a_gru_of_several_layers_becomes_a_pair_per_layer(arguments: str, per_layer: bool) -> None:
    (finding,) = found(f"def make(depth=2):\n    return torch.nn.GRU({arguments})\n", select=["XLA306"])
    assert ("for each layer" in (finding.help or "")) is per_layer


@pytest.mark.parametrize(
    ("call", "help_"),
    [
        (
            "torch.gesv(b, a)",
            "Use `torch.linalg.solve(a, b)` instead of `torch.gesv(b, a)`: the matrix comes",
        ),
        ("torch.symeig(a)", "Use `torch.linalg.eigh(x)` instead"),
    ],
)
def test_a_successor_with_other_arguments_says_so(call: str, help_: str) -> None:
    (finding,) = found(f"def f(a, b):\n    return {call}\n", select=["XLA515"])
    assert (finding.help or "").startswith(help_)
    assert (finding.help == help_) is ("symeig" in call)


LOOP = """def train(model, loader, optimizer, names):
    model.to("xla")
    for x, y in loader:
        x, y = x.to("xla"), y.to("xla")
        loss = (model(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
"""


@pytest.mark.parametrize(
    ("after", "keeps"),
    [
        ("", False),
        ("        optimizer.zero_grad()\n", False),
        ("    print(loss.item())\n", False),
        ("        print(loss.item())\n", True),
        ("        names.append(loss.detach().cpu())\n", True),
    ],
)
def test_a_device_loader_keeps_the_boundary_before_reads(after: str, keeps: bool) -> None:
    (finding,) = found(f"import torch_xla\n{LOOP}{after}", select=["XLA905"])
    assert ("keep `torch_xla.sync()` after the update" in (finding.help or "")) is keeps


ENCODER = """from torch.nn.utils.rnn import pack_padded_sequence
class Encoder(torch.nn.Module):
    def __init__(self, both, bidirectional=False):
        super().__init__()
        self.rnn = torch.nn.LSTM(4, 4, batch_first=True, GIVEN)
    def forward(self, x, lengths):
        return self.rnn(pack_padded_sequence(x, lengths))[1]
class Other(torch.nn.Module):
    def __init__(self):
        self.rnn = torch.nn.GRU(4, 4, OTHER)
"""


@pytest.mark.parametrize(
    ("given", "other", "both"),
    [
        ("bidirectional=True", "", True),
        ("bidirectional=both", "", True),
        ("bidirectional=False", "bidirectional=True", False),
        ("num_layers=2", "", False),
        ("num_layers=2", "bidirectional=True", False),
    ],
)
def test_a_bidirectional_module_needs_its_own_pass_backwards(given: str, other: str, both: bool) -> None:
    (finding,) = found(ENCODER.replace("GIVEN", given).replace("OTHER", other), select=["XLA307"])
    assert (finding.help or "").startswith("Run one RNN for each direction") is both


ELEMENTS = """import torch_xla
def top_k(output, target):
    best = output.topk(3, dim=1)[1]
    total, kept = 0, []
    for i in range(3):
        {line}
    return total, kept
def evaluate(model, loader):
    for x, y in loader:
        top_k(model(x.to(torch_xla.device())), y.to(torch_xla.device()))
"""


@pytest.mark.parametrize(
    ("line", "help_"),
    [
        ("total += torch.sum(best[:, i] == target).item()", "Add up tensors on the device"),
        ("kept.append((best[:, i] == target).sum().item())", "Copy `best`, and other device tensors"),
        ("kept.append(best[0, i].item())", "Copy `best` to the host once"),
        ("total += best[0, i].item()", "Copy `best` to the host once"),
    ],
)
def test_a_read_of_elements_says_what_to_copy(line: str, help_: str) -> None:
    (finding,) = found(ELEMENTS.format(line=line), select=["XLA101"])
    assert (finding.help or "").startswith(help_)


ACTORS = """import torch.multiprocessing as mp
from torch import nn, optim
def train(model, data):
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for x in data:
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
if __name__ == "__main__":
    model = nn.Linear(4, 2)
    {line}
    train(model, [torch.ones(2, 4)])
"""


@pytest.mark.parametrize(
    ("line", "severity"), [("model.share_memory()", "info"), ("model.share_memory_count = 1", "warning")]
)
def test_a_model_that_processes_share_stays_on_the_cpu(line: str, severity: str) -> None:
    (finding,) = found(ACTORS.format(line=line), select=["XLA017"])
    assert finding.severity == severity
    assert (finding.help or "").startswith("Leave the processes") == (severity == "info")


@pytest.mark.parametrize(
    ("after", "is_whole"), [("model.eval()", True), ("net.load_state_dict(model)", False)]
)
def test_a_whole_module_needs_weights_only_as_well(after: str, is_whole: bool) -> None:
    (finding,) = found(
        f"with open(name, 'rb') as f:\n    model = torch.load(f)\n{after}\n", select=["XLA907"]
    )
    assert ("`weights_only=False`" in (finding.help or "")) == is_whole

"""Advice follows from what takes a value that the host reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from xlamig import engine
from xlamig.findings import Finding

HEAD = """import math
import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch.nn.utils.rnn import pack_padded_sequence
def train(model, loader, optimizer, kept, table, writer, envs, tokenizer):
    for x, lengths in loader:
        x, lengths = x.to("xla"), lengths.to("xla")
        y = model(x)
        y.sum().backward()
        optimizer.step()
        torch_xla.sync()
        z = model(x)
"""


def found(text: str, **settings: Any) -> list[Finding]:
    options = engine.Options(settings, isolated=True, stdin=("train.py", text.encode()))
    return list(engine.check([Path("train.py")], options).findings)


CASES = {
    "z.max().item()": "Read `z.max()` after `torch_xla.sync()`",
    "print(z.max().item())": "Log every few steps",
    "largest = z.max().item(); print(largest)": "Log every few steps",
    "kept.append(z.cpu())": "before the copy, so that nothing is computed twice",
    "table[0] = z.cpu().numpy()": "before the copy, so that nothing is computed twice",
    "table = z.cpu(); kept.append(table)": "before the copy, so that nothing is computed twice",
    "torch.save(z.cpu(), 'a')": "before the copy, so that nothing is computed twice",
    "envs.step(z.cpu().numpy())": "everything that the host needs in this step at once",
    "tokenizer.batch_decode(z.cpu())": "everything that the host needs in this step at once",
    "y = z if torch.equal(z, x) else x": "choose on the device by `torch.where`",
    "z = z.cpu()": "use the CPU's copy of values",
    "z = z.cpu(); print(z.shape[0], len(z)); z = z + 1": "use the CPU's copy of values",
    "z = z.cpu(); print(z.shape[0], z)": "Log every few steps",
    "if z.max() > 3: raise ValueError": "Drop the check",
    "z = z * min(1, math.sqrt(z.sum()))": "instead of `min(...)`",
    "z = z * max(0.1, 2 * math.log(z.sum()))": "instead of `max(...)`",
    "z = z * math.sqrt(z.sum())": "Use the torch function of the same name, such as",
    "z = z * min(x.shape[0], 3, f(math.sqrt(z.sum())))": "Use the torch function of the same name, such as",
    "if math.sqrt(z.sum()) > 3: z = z / 2": "a test reads a tensor, too",
    "if math.sqrt(z.sum()) > 3: break": "every few steps only",
    "n = int(math.sqrt(z.sum())); y = torch.arange(0, n)": "as a size or position a tensor is read, too",
    "y = torch.roll(z, int(z.argmax()), 0)": "Keep the distance on the device",
    "n = z.argmax().item(); y = z.roll(-n)": "Keep the distance on the device",
    "n = z.argmax().item(); y = np.roll(x, n)": "Read `z.argmax()` after",
    "for i in range(3): y = torch.roll(z, z[i].item(), 0)": "Keep the distance on the device",
    "for i in range(3): y = z[:z[i].item()]": "index_select",
    "if z.max() > 3: print('large')": "Test and log every few steps",
    "if z.max() > 3: z = z / 2": "choose on the device",
    "if z.max() > 3: z = z / 2; print(z.shape)": "choose on the device",
    "if z.max() > 3: break": "ends a few steps later",
    "y = table[z.max().item()]": "If `table` is a tensor, index it",
    "n = z.max().item(); y = table[:n]": "If it is a length, compute it from the CPU's data",
    "assert (z > 0).all()": "Drop the check",
    "n = int(z.max().item()); y = torch.arange(0, n)": "Use the largest size that can occur",
    "y = torch.zeros(3, z.max().item())": "Use the largest size that can occur",
    "y = torch.nn.functional.pad(x, (0, 1), value=z.max().item())": "Read `z.max()` after",
    "n = lengths.max().item(); y = torch.arange(0, n)": "`lengths.max()` is a dimension already",
    "for i in range(z.argmax().item()): z = model(z)": "Run the largest number of iterations",
    "y = table[z.argmax().item()](x)": "Call every module of `table`",
    "y = table[z.argmax().item()]; y = y(x)": "Call every module of `table`",
    "y = pack_padded_sequence(x, z.cpu())": "Run the RNN on the padded batch",
    "y = z.cpu(); y = y.numpy(); y = pack_padded_sequence(x, y)": "Run the RNN on the padded batch",
    "y = z.cpu(); y = [linear_sum_assignment(one) for one in y.split(2)]": "Leave one copy per step",
    "if (z > 3).any(): z = z / 2": "Drop the test",
    "if z.max() > 3: n += 1": "Add the comparison itself",
    "if z.max() > 3: z.sum().backward(); optimizer.step()": "Run the same update in every step",
    "n = z.max().item(); assert n < 3; print(n)": "Log every few steps",
    "n = z.max().item(); m = isinstance(n, dict); kept.append(n)": "Read after `torch_xla.sync()`",
    "n = z.max().item(); m = type(n) is dict and f(n); print(n)": "Read `z.max()` after `torch_xla.sync()`",
    "n = z.max().item(); m = 1 if type(n) is dict else 2; print(n)": "Log every few steps",
    "if x.shape[0]: n = z.max().item()": "Read `z.max()` after `torch_xla.sync()`",
    "n = int(z.max().item()); due = not (n % 100)": "count them in a Python number",
    "n = 'loss %s' % z.max().item()": "Read `z.max()` after",
    "n = int(z.max()) + 1; y = scatter_add(y, x, dim_size=n); table[0] = y": "Use the largest size",
    "n = int(z.max()) + 1; y = scatter_add(y, x, weight=n); table[0] = y": "Read `z.max()` after",
    "n = lengths.max().item(); table[0] = n": "Take `lengths.max()` from the CPU's copy",
    "table = lengths.cpu()": "Take `lengths` from the CPU's copy",
    "if lengths[0] > 3: z = z / 2": "Test the CPU's copy",
    "if lengths[0] > 3: raise ValueError": "Test the CPU's copy",
    "n = max(lengths); table[0] = n": "from the CPU's copy of `lengths`",
    "if (z > 3).any(): kept.append(z); continue": "Split the batch on the CPU",
    "if (z > 3).any(): kept.append(z)": "Drop the test",
    "if z.max() > 3: z = torch.nn.functional.pad(z, (0, 1))": "Use one shape in every step",
    "if (m := z > 3).any(): z = z[m]": "Use one shape in every step",
    "if z.max() > 3: z = z[0]": "choose on the device",
    "n = ['a', 'b'][z.argmax().item()]": "Compute what each choice gives",
    "n = {0: x, 1: y}[z.argmax().item()]": "Compute what each choice gives",
    "n = ['a', 'b'][z.argmax()]": "Compute what each choice gives",
    "loss = criterion(z.cpu(), 3); loss.backward()": "Compute the loss where the model runs",
    "loss, n = criterion(z.cpu()); n += 1; loss.backward()": "Compute the loss where the model runs",
    "table = z.to('cpu'); loss = criterion(table); loss.backward()": "Compute the loss where the model runs",
    "loss = criterion(z.cpu(), 3); table[0] = loss": "Copy after `torch_xla.sync()`",
    "action = to_array(z.cpu())": "everything that the host needs in this step at once",
    "n = z.argmax(1).tolist(); kept.append(names[n[0]])": "copy everything that the host needs together",
    "n = z.argmax().item(); kept.append(names[n])": "read all indices at once by `.tolist()`",
    "n = float(z.max()) + 1; m = round(n); kept.append(m)": "Read after `torch_xla.sync()`, all values",
}


@pytest.mark.parametrize("line", CASES)
def test_help_fits_what_takes_the_value(line: str) -> None:
    text = (
        HEAD + f"        {line}\n"
        if ": " in line
        else HEAD + "".join(f"        {p}\n" for p in line.split("; "))
    )
    helps = [f.help for f in found(text, select=["XLA101", "XLA102", "XLA106", "XLA108"])]
    assert len(helps) == 1 and CASES[line] in helps[0]


@pytest.mark.parametrize(
    ("last", "shown"),
    [("break", "so that the loop ends a few steps later"), ("z = z + 1", "Drop the test")],
)
def test_a_test_whose_other_branch_ends_the_loop_is_needed(last: str, shown: str) -> None:
    text = f"{HEAD}        if (z > 3).any():\n            z = z / 2\n        else:\n            {last}\n"
    (finding,) = found(text, select=["XLA106"])
    assert shown in (finding.help or "")


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("w = z.abs(); y = max(w) + 1", "`w.max()` for the elements of one tensor"),
        ("y = torch.zeros(3, max(lengths))", "Use the padded length"),
        ("n = max(lengths); y = torch.arange(n)", "Use the padded length"),
        ("w = x.abs(); n = min(w); y = torch.arange(n)", "`torch.arange(largest) < w.min()`"),
        ("y = x[:, : max(lengths)]", "Mask instead of slicing"),
    ],
)
def test_help_for_the_largest_element_fits_what_takes_it(line: str, shown: str) -> None:
    text = HEAD + "".join(f"        {part}\n" for part in line.split("; "))
    helps = [f.help for f in found(text, select=["XLA108"]) if f.severity != "info"]
    assert len(helps) == 1 and shown in helps[0]


@pytest.mark.parametrize(
    ("line", "at_once"),
    [
        ("for i in range(3): w = model(z); ok = w[i] > 0; print(ok.item())", False),
        ("for i in range(3): print(w.max().item())", False),
        ("for i in range(3): w[i] = 0; print(w[i].item())", False),
        ("for i in range(3): print(w[i].item())", True),
        ("for part in w: print(part.max().item())", True),
        ("for i, part in enumerate(w): print(part.item())", True),
        ("for i in range(3): n = i if w[i] > 0 else 0", True),
        ("i = 0; while w[i] > 0: i += 1", True),
    ],
)
def test_elements_are_copied_before_the_loop_that_leaves_their_tensor_as_it_is(
    line: str, at_once: bool
) -> None:
    before, _, loop = line.rpartition("; while ")
    lines = [before, f"while {loop}"] if before else [line]
    head, _, body = lines[-1].partition(": ")
    text = (
        HEAD
        + "        w = z.abs()\n"
        + "".join(
            f"        {part}\n" for part in (*lines[:-1], f"{head}:", *(f"    {p}" for p in body.split("; ")))
        )
    )
    reported = [f for f in found(text, select=["XLA101", "XLA104", "XLA106"]) if f.severity != "info"]
    assert reported and any(f.help.startswith("Copy `w` to the host once") for f in reported) is at_once


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        ("def f(kept, z): kept.append(z.cpu())", "in the loop that calls the step"),
        ("def f(kept, z): kept += [z.cpu()]", "in the loop that calls the step"),
        ("def f(kept, z): return z.cpu()", "or return the tensor itself"),
        (
            "def f(kept, z):\n    for i in range(9): kept.append(z.mul(i).cpu())",
            "in the loop that calls the step",
        ),
    ],
)
def test_help_of_a_function_leaves_the_boundary_to_the_loop_that_calls_it(function: str, shown: str) -> None:
    text = f"{function}\n{HEAD}        f(kept, z.abs())\n"
    helps = [f.help for f in found(text, select=["XLA102"]) if f.severity != "info"]
    assert len(helps) == 1 and shown in helps[0]


def test_copies_of_an_evaluation_are_made_after_its_loop() -> None:
    text = """import torch
@torch.no_grad()
def evaluate(model, loader):
    kept = []
    for x in loader:
        kept.append(model(x.to("xla")).cpu())
"""
    (finding,) = (f for f in found(text, select=["XLA102"]) if f.severity != "info")
    assert "copy them after the loop" in finding.help


def test_a_result_of_an_evaluation_is_copied_while_the_next_is_computed() -> None:
    text = """import torch
@torch.no_grad()
def evaluate(model, loader):
    for x in loader:
        show(model(x.to("xla")).cpu())
"""
    (finding,) = (f for f in found(text, select=["XLA102"]) if f.severity != "info")
    assert "copy the result in the next iteration" in finding.help


def test_gradients_are_copied_after_one_boundary() -> None:
    line = "        for p in model.parameters(): table[p] = p.grad.cpu()\n"
    helps = [f.help for f in found(HEAD + line, select=["XLA102", "XLA103"])]
    assert helps and all("before the loop, so that each copy only transfers" in text for text in helps)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("y = (z > 0).nonzero()", "Work with the mask"),
        ("y = (z > 0).nonzero(); print(y.cpu()); z = z[y]", "Work with the mask"),
        ("y = (z > 0).nonzero().cpu()", "Copy the mask to the host first"),
        ("y = (z > 0).nonzero(); print(y.tolist())", "Copy the mask to the host first"),
        ("y = z[z > 0].sum()", "Compute on all elements"),
        ("y = z[z > 0].cpu()", "Copy tensor and mask to the host first"),
        ("y = z[z > 0].to('cpu').numpy()", "Copy tensor and mask to the host first"),
    ],
)
def test_what_only_the_host_needs_is_selected_there(line: str, shown: str) -> None:
    text = HEAD + "        z = z.abs()\n" + "".join(f"        {part}\n" for part in line.split("; "))
    helps = [f.help for f in found(text, select=["XLA201", "XLA202"]) if f.severity != "info"]
    assert shown in helps[0]


def test_sizes_in_the_rows_of_a_tensor_are_read_at_once() -> None:
    text = HEAD + (
        '        w = torch.ones(3, 2, dtype=torch.long).to("xla")\n'
        "        for n, m in w: y = torch.zeros(n)\n"
        "        for i in range(3): y = torch.zeros(w[i, 0])\n"
    )
    helps = [f.help for f in found(text, select=["XLA205"]) if f.severity != "info"]
    assert ["`w.tolist()`" in text for text in helps] == [True, False]


@pytest.mark.parametrize(
    ("line", "jobs"),
    [
        ("n = torch.cuda.device_count(); torch.cuda.set_device(n)", 2),
        ("torch.cuda.set_device(rank % torch.cuda.device_count())", 1),
        ("torch.cuda.set_device(torch.cuda.current_device())", 1),
    ],
)
def test_what_an_edit_deletes_with_a_call_is_its_job(line: str, jobs: int) -> None:
    reported = found(f"import torch\n{line}\n", select=["XLA004", "XLA712"])
    assert len(reported) == 2 and len({f.job for f in reported}) == jobs


def test_rules_that_give_the_same_advice_are_one_job() -> None:
    text = HEAD + "        y = z.cpu()\n        y = pack_padded_sequence(x, y)\n"
    jobs = {f.job for f in found(text, select=["XLA102", "XLA307"])}
    assert len(jobs) == 1


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("x ** step", "Make `step` a tensor"),
        ("step ** x", "Make `step` a tensor"),
        ("torch.triu(x, step)", "Mask by comparison"),
        (
            "torch.nn.functional.layer_norm(x, (2,), eps=1e-5 * step)",
            "write the operation with arithmetic on tensors",
        ),
    ],
)
def test_help_fits_what_a_changing_number_configures(line: str, shown: str) -> None:
    text = HEAD.replace("for x, lengths in loader", "for step, (x, lengths) in enumerate(loader)")
    helps = [f.help for f in found(text.replace("y = model(x)", f"y = model({line})"), select=["XLA304"])]
    assert len(helps) == 1 and shown in helps[0]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("import torch\n@torch.inference_mode()\ndef f(buffer): buffer.zero_()\n", False),
        (
            "import torch\nnet = torch.nn.Linear(2, 2)\n@torch.inference_mode()\ndef f(x): return net(x)\n",
            True,
        ),
    ],
)
def test_inference_mode_matters_where_a_linear_is_used(tmp_path: Path, text: str, shown: bool) -> None:
    (tmp_path / "a.py").write_text(text)
    report = engine.check(
        [tmp_path], engine.Options({"select": ["XLA810"]}, isolated=True, jobs=1, cache=False)
    )
    assert bool(report.findings) is shown


@pytest.mark.parametrize(
    ("ids", "severity"),
    [
        ("[device]", "info"),
        ("[self.device]", "info"),
        ("[util.dev()]", "info"),
        ("[select(rank)]", "info"),
        ("[get_rank()]", "error"),
        ("[rank]", "error"),
    ],
)
def test_device_ids_may_name_the_own_device(ids: str, severity: str) -> None:
    ddp = "torch.nn.parallel.DistributedDataParallel"
    text = "import torch\ndef select(rank):\n    return torch.device(f'cuda:{rank}')\n"
    text += f"def f(self, model, device, rank):\n    return {ddp}(model, device_ids={ids})\n"
    assert [f.severity for f in found(text, select=["XLA702"])] == [severity]


@pytest.mark.parametrize(
    ("given", "ids", "severity"),
    [
        ("rank=0", "[rank]", "error"),
        ("local_rank=0", "[local_rank]", "error"),
        ("first=0", "[first]", "info"),
        ("rank=0", "[0]", "info"),
    ],
)
def test_the_default_of_a_rank_is_not_the_rank(given: str, ids: str, severity: str) -> None:
    ddp = "torch.nn.parallel.DistributedDataParallel"
    text = f"import torch\ndef f(model, {given}):\n    return {ddp}(model, device_ids={ids})\n"
    assert [f.severity for f in found(text, select=["XLA702"])] == [severity]


@pytest.mark.parametrize(
    ("value", "severity"), [("None", None), ("self.max_norm", "info"), ("1.0", "warning")]
)
def test_max_norm_matters_where_it_is_set(value: str, severity: str | None) -> None:
    text = f"""import torch
import torch.nn.functional as F
class A(torch.nn.Module):
    def forward(self, x):
        return F.embedding(x, self.weight, max_norm={value})
"""
    reported = [f.severity for f in found(text, select=["XLA502"])]
    assert reported == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        ("requirements.txt", "error"),
        ("requirements.opt.txt", "info"),
        ("requirements/dev.txt", "info"),
        ("develop/requirements.txt", "info"),
        ("options/requirements.txt", "error"),
    ],
)
def test_what_an_extra_asks_for_is_optional(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, severity: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("flash-attn\n")
    report = engine.check(
        [Path()], engine.Options({"select": ["XLA909"]}, isolated=True, jobs=1, cache=False)
    )
    assert [f.severity for f in report.findings] == [severity]


@pytest.mark.parametrize(
    ("body", "severity"),
    [
        ("loss.backward(); dist.barrier()", "info"),
        ("dist.barrier(); dist.all_reduce(loss)", "info"),
        ("if dist.get_rank() != 0: dist.barrier()", "warning"),
        ("torch.save(loss, 'a'); dist.barrier()", "warning"),
    ],
)
def test_a_barrier_matters_where_a_process_may_have_to_wait(body: str, severity: str) -> None:
    text = f"import torch\nimport torch.distributed as dist\ndef f(loss):\n    {body}\n    loss.cuda()\n"
    assert [f.severity for f in found(text, select=["XLA711"]) if "barrier" in f.message] == [severity]


def test_help_names_the_argument_that_falls_back() -> None:
    text = """import torch
import torch.nn.functional as F
class A(torch.nn.Module):
    def forward(self, x):
        return F.interpolate(x, (8, 8), mode="bilinear", antialias=True)
"""
    (finding,) = found(text, select=["XLA502"])
    assert "antialias=True" in finding.message and "antialias=False" in finding.help


@pytest.mark.parametrize("default", ["'cuda:0'", "torch.device('cuda:0')", "torch.device('cuda', 0)"])
@pytest.mark.parametrize(
    ("calls", "severity"),
    [
        ("f(3, cpu)", "info"),
        ("f(3, device=cpu)", "info"),
        ("{'f': f}[name](3, cpu)", "info"),
        ("f(3, cpu)\nf(4)", "error"),
        ("f(3)", "error"),
    ],
)
def test_a_default_that_no_call_leaves_is_no_error(default: str, calls: str, severity: str) -> None:
    text = f"import torch\ndef f(n, device={default}):\n    return torch.ones(n, device=device)\n"
    text += f"cpu = torch.device('cpu')\n{calls}\n"
    assert [f.severity for f in found(text, select=["XLA001"])] == [severity]


FORWARD = """import torch
from torch import nn
class Loss(nn.Module):
    def forward(self, a, b):
        x = (a.to("xla") - b).abs().mean()
        BODY
        return x
"""


@pytest.mark.parametrize(
    ("body", "adds"),
    [
        ("self.parts['a'] += x.item()", True),
        ("self.total += x.item()", True),
        ("x = x * x.item()", False),
    ],
)
def test_what_a_forward_adds_up_stays_a_tensor(body: str, adds: bool) -> None:
    reads = [one for one in found(FORWARD.replace("BODY", body)) if one.code == "XLA101"]
    assert [one.help.startswith("Add up tensors on the device") for one in reads] == [adds]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (
            "if not np.isnan(z.max().item()): kept.append(z.max().item())",
            "Keep the values as detached tensors",
        ),
        (
            "if math.isfinite(z.sum()): table[0] += float(z.sum()); n += 1",
            "Keep the values as detached tensors",
        ),
        ("if torch.isfinite(z.sum()): kept.append(z)", "If the check skips or scales an update"),
        ("if not math.isnan(z.sum()): y = y + z", "If the check skips or scales an update"),
    ],
)
def test_numbers_that_are_kept_if_they_are_finite(line: str, shown: str) -> None:
    helps = [f.help or "" for f in found(f"{HEAD}        {line}\n", select=["XLA107"])]
    assert len(helps) == 1 and shown in helps[0]

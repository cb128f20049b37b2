"""`xlamig trace` on real torch_xla: what happened, and on which line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from xlamig.fix.helper_text import TEXT

pytestmark = pytest.mark.evidence

PYTHON = os.environ.get("XLAMIG_XLA_PYTHON", sys.executable)
LOOP = """
import os, sys
import torch
import torch_xla
torch.manual_seed(0)
device = torch_xla.device()
model = torch.nn.Linear(4, 4).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
table = torch.ones(20, 4, device=device)
total = 0
for i in range({steps}):
    batch = torch.ones({rows}, 4).to(device)
    loss = model(batch).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    {body}
    torch_xla.sync()
"""


def trace(folder: Path, text: str, *options: str, stdin: str = "") -> tuple[int, dict[str, Any], str]:
    """The exit code, the trace, and what the program and xlamig wrote to stderr."""
    program = folder / "program.py"
    program.write_text(textwrap.dedent(text))
    command = [sys.executable, "-c", "from xlamig.cli import main; main()", "trace", "--python", PYTHON]
    run = subprocess.run(
        [*command, "--output-format", "json", *options, str(program)],
        cwd=folder, input=stdin, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    return run.returncode, json.loads(run.stdout or "null"), run.stderr


def loop(body: str, steps: int = 10, rows: str = "2") -> str:
    return LOOP.format(body=body, steps=steps, rows=rows)


def line_of(text: str, part: str) -> int:
    return next(row for row, line in enumerate(text.splitlines(), 1) if part in line)


def test_a_clean_loop_is_healthy_and_has_no_events(tmp_path: Path) -> None:
    code, found, _ = trace(tmp_path, loop("total += loss.detach()"))
    assert code == 0
    assert found["steps"] == 10
    assert found["steady_state"] == {"compiles": 0, "executions": 1, "device_to_host": 0}
    assert {event["kind"] for event in found["events"]} <= {"step-boundary", "transfer"}


@pytest.mark.parametrize(
    ("body", "kind", "via", "steady"),
    [
        ("total += loss.item()", "host-read", "item", (0, 2, 1)),
        ("print(loss)", "host-read", "print", (0, 2, 1)),
        ("total += 1 if loss > 1 else 0", "host-read", "branch", (0, 2, 1)),
        ("total += loss.detach().cpu()", "host-read", "cpu", (0, 2, 1)),
        ("kept = batch[batch > 2]", "dynamic-shape", "mask-read", (0, 2, 1)),
        ("batch[batch > 9] = 0", "dynamic-shape", "mask-write", (0, 2, 1)),
        ("total = model(batch).median()", "operator", "fallback", (0, 2, 1)),
        ("total = table[i] * 2", "changing-constant", "argument", (1, 1, 0)),
    ],
)
def test_a_harm_is_found_on_its_line(
    tmp_path: Path, body: str, kind: str, via: str, steady: tuple[int, int, int]
) -> None:
    text = loop(body)
    _, found, _ = trace(tmp_path, text)
    assert tuple(found["steady_state"].values()) == steady
    (event,) = [event for event in found["events"] if event["kind"] not in ("step-boundary", "transfer")]
    assert (event["kind"], event["via"]) == (kind, via)
    assert event["location"]["row"] == line_of(text, body)
    assert event["frequency"] == "step"


def test_a_batch_of_another_size_is_named_where_it_enters_the_graph(tmp_path: Path) -> None:
    text = loop("pass", rows="2 if i < 9 else 1")
    _, found, _ = trace(tmp_path, text)
    (event,) = [event for event in found["events"] if event["kind"] == "changing-shape"]
    assert event["location"]["row"] == line_of(text, "batch =")
    assert (event["frequency"], event["rule"]) == ("once", "XLA901")


def test_what_runs_for_the_first_time_later_is_no_changing_path(tmp_path: Path) -> None:
    text = loop("i % 3 or print(loss.detach().exp().item())") + "print(model(batch).sum().item())\n"
    _, found, _ = trace(tmp_path, text)
    kinds = {event["kind"] for event in found["events"]}
    assert kinds == {"host-read", "step-boundary", "transfer"}


def test_a_step_in_parts_is_compared_with_the_same_part_of_other_steps(tmp_path: Path) -> None:
    body = "kept = model(batch).sum(1); kept[kept < 9].sum().backward()"
    text = loop(body, rows="2 + i % 3")
    _, found, _ = trace(tmp_path, text)
    changed = [event for event in found["events"] if event["kind"].startswith("changing")]
    assert {(event["kind"], event["location"]["row"]) for event in changed} == {
        ("changing-shape", line_of(text, "batch ="))
    }


def test_as_many_elements_as_a_mask_holds_are_a_shape_and_numbers_are_none(tmp_path: Path) -> None:
    body = "y = torch.rand(8, 8).to(device); y[y > 0.5] = 0; table = table + y[0, 0] / (i + 3)"
    text = loop(body, steps=12)
    _, found, _ = trace(tmp_path, text)
    changed = {(e["kind"], e["via"]) for e in found["events"] if e["kind"].startswith("changing")}
    assert changed == {("changing-shape", "mask")}


def test_what_falls_back_in_the_backward_pass_is_named_where_its_forward_is(tmp_path: Path) -> None:
    body = "torch.zeros(4, device=device).masked_scatter(table[0] > 0, model(batch)[0]).sum().backward()"
    text = loop(body)
    _, found, _ = trace(tmp_path, text)
    backward = [event for event in found["events"] if event["backward"]]
    assert {event["location"]["row"] for event in backward} == {line_of(text, body)}


def test_the_program_reads_stdin_and_its_exit_code_is_passed_through(tmp_path: Path) -> None:
    code, found, stderr = trace(tmp_path, loop("if i == 4: sys.exit(int(input()))"), stdin="7\n")
    assert (code, found["steps"]) == (7, 4)
    assert "Traceback" not in stderr


def test_an_exception_is_told_with_its_line_and_its_rule(tmp_path: Path) -> None:
    text = loop("loss.cuda()")
    code, found, _ = trace(tmp_path, text)
    assert code == 1
    assert found["exception"]["type"] == "RuntimeError"
    assert found["exception"]["rule"] == "XLA001"
    assert found["exception"]["location"]["row"] == line_of(text, "loss.cuda()")


def test_a_program_that_is_killed_leaves_a_trace(tmp_path: Path) -> None:
    body = "i == 5 and (__import__('time').sleep(1.1), torch_xla.sync(), os.kill(os.getpid(), 9))"
    code, found, stderr = trace(tmp_path, loop(body))
    assert code == 128 + 9
    assert found["steps"] >= 5
    assert "SIGKILL" in stderr


def test_steps_stops_the_program(tmp_path: Path) -> None:
    code, found, _ = trace(tmp_path, loop("pass", steps=100_000), "--steps", "6")
    assert (code, found["steps"]) == (0, 6)


def test_a_program_without_torch_xla_has_nothing_to_tell(tmp_path: Path) -> None:
    code, found, stderr = trace(tmp_path, "print('hello')")
    assert (code, found) == (0, None)
    assert "never imported torch_xla" in stderr


def test_views_of_what_is_created_on_the_device_share_memory(tmp_path: Path) -> None:
    text = """
        import torch, torch_xla
        x = torch.zeros(4, device=torch_xla.device())
        x[1:2].add_(1)
        assert x.tolist() == [0, 1, 0, 0]
    """
    code, _, stderr = trace(tmp_path, text)
    assert code == 0, stderr


@pytest.mark.parametrize(
    "write",
    [
        "torch.eye(3, out=x.new(3, 3))",
        "torch.full((3,), 1.0, out=x.new(3))",
        "torch.ones(3, out=x[1:])",
        "torch.normal(1.0, 0.0, (3,), out=x.new(3))",
        "torch.arange(3, out=x.new(0))",
    ],
)
def test_factories_write_to_out(tmp_path: Path, write: str) -> None:
    text = f"""
        import torch, torch_xla
        x = torch.zeros(4, device=torch_xla.device())
        for i in range(3):
            assert {write}.sum().item() == 3
            torch_xla.sync()
        assert x.sum().item() in (0, 3)
    """
    code, _, stderr = trace(tmp_path, text)
    assert code == 0, stderr


CUDA = """
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cudnn.benchmark = True
    loader = DataLoader(TensorDataset(torch.ones(16, 4)), batch_size=2, pin_memory=True)
    model = torch.nn.Linear(4, 4).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for (batch,) in loader:
        batch = batch.to(device, non_blocking=True)
        with torch.autocast("cuda"):
            loss = model(batch).float().mean()
        assert loss.is_cuda and loss.device.type == "cuda"
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    torch.cuda.synchronize()
"""


def test_a_cuda_program_runs_as_it_is(tmp_path: Path) -> None:
    code, found, stderr = trace(tmp_path, CUDA, "--as-cuda")
    assert code == 0, stderr
    assert found["steps"] == 8
    assert found["steady_state"] == {"compiles": 0, "executions": 1, "device_to_host": 0}
    assert {"GradScaler", "Module.cuda", "autocast"} <= set(found["redirected"])


def test_features_of_one_cuda_device_run_as_they_are(tmp_path: Path) -> None:
    text = """
        import os, torch
        import torch.distributed as dist
        group = "file://" + os.path.abspath("group")
        dist.init_process_group("nccl", init_method=group, rank=0, world_size=1)
        torch.save({"weight": torch.ones(2)}, "state.pt")
        state = torch.load("state.pt", map_location=torch.device("cuda", 0))
        assert state["weight"].is_cuda
        model = torch.nn.SyncBatchNorm.convert_sync_batchnorm(
            torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
        ).cuda()
        plain = torch.nn.DataParallel(torch.nn.Linear(4, 4).cuda())
        model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[0])
        optimizer = torch.optim.AdamW([*model.parameters(), *plain.parameters()], fused=True)
        scaler = torch.cuda.amp.GradScaler()
        generator = torch.Generator(device="cuda").manual_seed(1)
        stream = torch.cuda.Stream()
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        for i in range(4):
            start.record()
            batch = torch.randn(8, 4, device="cuda", generator=generator)
            with torch.cuda.stream(stream), torch.cuda.amp.autocast():
                loss = model(plain(batch + torch.ones(4).pin_memory().cuda(non_blocking=True))).mean()
            stream.synchronize()
            scaler.scale(loss).backward()
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            dist.all_reduce(loss.detach())
            end.record()
        torch.cuda.synchronize()
        assert start.elapsed_time(end) >= 0 and torch.cuda.memory_allocated() >= 0
        dist.destroy_process_group()
    """
    code, found, stderr = trace(tmp_path, text, "--as-cuda")
    assert code == 0, stderr
    assert found["steps"] == 4


def test_a_default_tensor_type_of_cuda_is_a_device(tmp_path: Path) -> None:
    text = """
        import torch
        torch.set_default_tensor_type("torch.cuda.FloatTensor")
        assert torch.zeros(2).is_cuda and torch.rand(2).is_cuda
        torch.set_default_tensor_type(torch.FloatTensor)
        assert not torch.zeros(2).is_cuda
    """
    code, found, stderr = trace(tmp_path, text, "--as-cuda")
    assert code == 0, stderr
    assert found["redirected"]["torch.set_default_tensor_type"] == 2


def verify(folder: Path, text: str, *options: str) -> tuple[int, str]:
    program = folder / "program.py"
    program.write_text(text)
    command = [sys.executable, "-c", "from xlamig.cli import main; main()", "verify", "--python", PYTHON]
    run = subprocess.run(
        [*command, *options, str(program)],
        cwd=folder, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    return run.returncode, run.stdout


def test_a_finished_port_passes(tmp_path: Path) -> None:
    code, output = verify(tmp_path, loop("pass", steps=20), "--reference")
    assert code == 0, output
    assert "FAIL" not in output


def test_an_optimizer_made_before_the_move_does_not_train(tmp_path: Path) -> None:
    text = loop("pass", steps=20).replace("4).to(device)\noptimizer", "4)\noptimizer")
    text = text.replace("table =", "model.to(device)\ntable =")
    code, output = verify(tmp_path, text, "--no-reference")
    assert code == 1
    assert "FAIL  the optimizer holds the model's parameters" in output
    assert "FAIL  the parameters change: 0 of 2 did" in output
    assert "XLA405" in output and f"program.py:{line_of(text, 'optimizer =')}" in output


def test_wrong_labels_on_xla_are_found_with_their_line(tmp_path: Path) -> None:
    text = loop("pass", steps=20, rows="8").replace("torch.ones(8, 4)", "torch.randn(8, 4)")
    text = text.replace(".pow(2).mean()", ".sub(batch.roll(1, 1) if batch.is_xla else batch).pow(2).mean()")
    code, output = verify(tmp_path, text)
    assert code == 1
    assert "FAIL  the losses are the reference's" in output
    assert f"program.py:{line_of(text, 'batch.roll')}" in output


HELPED = """
import torch
from xla_compat import default_device, step_boundary, wait_for_device
device = default_device()
fast, slow = torch.nn.Linear(8, 8).to(device), torch.nn.Linear(8, 8).to(device)
optimizer = torch.optim.SGD(fast.parameters(), 0.1)
for i in range(12):
    loss = fast(torch.randn(4, 8).to(device)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step_boundary()
    with torch.no_grad():
        for a, b in zip(fast.parameters(), slow.parameters()):
            b.mul_(0.9).add_(0.1 * a)
    wait_for_device()
"""


def test_boundaries_of_the_helper_are_those_of_the_lines_that_call_it(tmp_path: Path) -> None:
    (tmp_path / "xla_compat.py").write_text(TEXT)
    code, found, _ = trace(tmp_path, HELPED)
    assert (code, found["steps"]) == (0, 12)
    assert found["boundary"]["location"]["row"] == line_of(HELPED, "step_boundary()")
    assert found["steady_state"] == {"compiles": 0, "executions": 2, "device_to_host": 0}


def test_a_bare_assert_is_told_with_its_line(tmp_path: Path) -> None:
    code, output = verify(tmp_path, "import torch_xla\nassert 1 == 2\n", "--no-reference")
    assert code == 1
    assert "FAIL  the program ends without an error: AssertionError" in output
    assert "program.py:2:1  assert 1 == 2" in output


def test_a_fallback_of_the_cpu_client_alone_is_no_failure(tmp_path: Path) -> None:
    body = "model(torch.nn.functional.interpolate(model(batch)[None, None], scale_factor=2.0)[0, 0, :, :4])"
    text = loop(f"{body}.sum().backward()", steps=20)
    code, found, _ = trace(tmp_path, text)
    assert code == 0
    fallbacks = [event for event in found["events"] if event["kind"] == "operator"]
    assert fallbacks and all(event["client_only"] and not event["rule"] for event in fallbacks)


def test_a_result_that_stays_alive_in_some_steps_is_named(tmp_path: Path) -> None:
    text = loop("x = loss * 2; i == 8 and kept.append(x); del x").replace("total = 0", "kept = []")
    _, found, _ = trace(tmp_path, text)
    (event,) = [event for event in found["events"] if event["kind"] == "recompile"]
    assert (event["via"], event["location"]["row"]) == ("kept", line_of(text, "kept.append"))


def test_a_cuda_program_that_fails_before_xla_is_imported_is_explained(tmp_path: Path) -> None:
    code, found, _ = trace(tmp_path, "import torch\nmodel = torch.nn.Linear(2, 2).cuda()\n")
    assert (code, found["steps"]) == (1, 0)
    assert (found["exception"]["rule"], found["exception"]["location"]["row"]) == ("XLA001", 2)


@pytest.mark.parametrize(
    "loop",
    [
        "for i in range(8):\n    with torch_xla.step():\n        x = x * 2\n",
        "step = torch_xla.compile(lambda x: x * 2)\nfor i in range(8):\n    x = step(x)\n",
    ],
    ids=["step", "compile"],
)
def test_what_syncs_before_and_after_is_one_step(tmp_path: Path, loop: str) -> None:
    start = "import torch, torch_xla\nx = torch.ones(2, device=torch_xla.device())\n"
    _, found, _ = trace(tmp_path, start + loop)
    assert found["steady_state"] == {"compiles": 0, "executions": 1, "device_to_host": 0}


def test_of_several_processes_the_busiest_is_told(tmp_path: Path) -> None:
    text = """
        import torch, torch_xla
        import torch.multiprocessing as mp

        def work(rank):
            x = torch.ones(2, device=torch_xla.device())
            for i in range(4 + 4 * rank):
                x = x * 2
                torch_xla.sync()

        if __name__ == "__main__":
            mp.spawn(work, nprocs=2)
    """
    code, found, stderr = trace(tmp_path, text)
    assert (code, found["processes"], found["steps"]) == (0, 3, 8), stderr
    assert found["steady_state"] == {"compiles": 0, "executions": 1, "device_to_host": 0}

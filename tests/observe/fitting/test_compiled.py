"""The reading of a recorded compilation."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from fit_sample import V5E, compiled, graph
from xlamig.fits import Compiled, Place
from xlamig.observe.fitting import compiling


def test_memory_of_a_step_that_fits() -> None:
    found = compiled("small")
    assert found.fits and found.memory
    assert found.memory.aliased == found.memory.arguments - 67584  # all but the batch and the scalars
    assert found.memory.peak < found.available


def test_flops_are_those_of_the_matrix_products() -> None:
    forward = 2 * 64 * (256 * 512 + 512 * 128)
    backward = forward + 2 * 64 * 512 * 128  # the batch has no gradient
    assert compiled("small").flops == forward + backward


def test_buffers_have_the_names_of_parameters_and_the_lines_of_operators() -> None:
    found = compiled("small").buffers
    assert {"0.weight", "0.weight momentum_buffer", "input"} <= {one.name for one in found}
    assert any(one.place == Place("small.py", 7) for one in found)
    assert sum(one.name == "0.weight" for one in found) == 1  # the update is written over it


def test_products_in_the_backward_pass_have_the_line_of_the_forward_pass() -> None:
    assert {one.place for one in compiled("small").matmuls} == {
        Place("small.py", 7),
        Place("small.py", 7, backward=True),
    }


def test_the_bound_is_that_of_the_slower_unit() -> None:
    found = compiled("small")
    assert found.limit == "HBM" and found.bytes and found.bound
    assert found.bound == pytest.approx(found.bytes / (V5E.hbm_gbps * 1e9))


def test_out_of_memory_is_reported_with_what_is_needed_and_the_largest_buffers() -> None:
    found = compiled("large")
    assert found.problem and found.problem.kind == "out of memory"
    assert found.problem.needed == 24 << 30
    assert [one.bytes for one in found.buffers[:2]] == [16 << 30, 8 << 30]
    assert found.buffers[0].place == Place("large.py", 7, backward=True)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ({"type": "JaxRuntimeError", "error": "INVALID_ARGUMENT: X64 element types"}, "refused"),
        ({"type": "abort", "error": "Check failed: fusion_util.cc"}, "aborted"),
        ({"type": "timeout", "error": "the compiler did not finish in 900 s"}, "timeout"),
    ],
)
def test_every_end_of_the_compiler_has_a_name(raw: dict[str, str], kind: str, tmp_path: Path) -> None:
    plain = Compiled("v5e", 1, 1, "one chip", 1)
    found = compiling.read(raw, plain, graph("small"), compiling.Target(V5E), tmp_path)
    assert found.problem and (found.problem.kind, found.problem.message) == (kind, raw["error"])


def test_an_error_has_the_line_that_its_operator_names(tmp_path: Path) -> None:
    plain = Compiled("v5e", 1, 1, "one chip", 1)
    number = next(n for n, site in enumerate(graph("small").sites) if site and site.row == 7)
    raw = {"type": "JaxRuntimeError", "error": f'not implemented: op_name="L{number}.3/aten__mm"'}
    found = compiling.read(raw, plain, graph("small"), compiling.Target(V5E), tmp_path)
    assert found.problem and found.problem.place == Place("small.py", 7)


def test_no_slice_has_three_chips() -> None:
    target = compiling.Target(V5E, 3, "FSDP")
    found = compiling.compile_graph(graph("small"), target, compiling.Compiler(python="/nowhere"))
    assert found.problem and found.problem.message == "libtpu has no slice of 3 chips"


def test_a_compiler_that_ends_its_process_is_tried_with_its_default_effort(tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho once >> {tries}\necho 'F0000 Check failed: x' >&2\nexit 134\n")
    python.chmod(0o755)
    known = replace(graph("small"), file=str(tmp_path / "step.mlirbc"))
    found = compiling.compile_graph(known, compiling.Target(V5E), compiling.Compiler(python=str(python)))
    assert found.problem and found.problem.kind == "aborted"
    assert "Check failed" in found.problem.message
    assert tries.read_text().count("once") == 2


def test_a_compiler_that_does_not_end_is_stopped(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexec sleep 60\n")
    python.chmod(0o755)
    compiler = compiling.Compiler(python=str(python), timeout=0.2)
    found = compiling.compile_graph(graph("small"), compiling.Target(V5E), compiler)
    assert found.problem and found.problem.kind == "timeout"

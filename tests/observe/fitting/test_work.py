"""FLOPs of HLO, against what the operators of PyTorch count as."""

from __future__ import annotations

import pytest

from xlamig.observe.fitting import hlo, work

LABELS = "dim_labels=bf01_oi01->bf01"
GROUPS = f"{LABELS}, feature_group_count=8"
TRANSPOSED = "dim_labels=bf01_01io->bf01"
DIMS = "lhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_batch_dims={0}, rhs_contracting_dims={1}"
FORWARD = """\
  %x = f32[2,3,8,8]{3,2,1,0} parameter(0)
  %w = f32[4,3,3,3]{3,2,1,0} parameter(1)
  %y = f32[2,4,4,4]{3,2,1,0} convolution(%x, %w), window={size=3x3 stride=2x2 pad=1_1x1_1}, {LABELS}
"""
INPUT_GRADIENT = """\
  %g = f32[2,4,4,4]{3,2,1,0} parameter(0)
  %w = f32[3,3,4,3]{3,2,1,0} parameter(1)
  %y = f32[2,3,8,8]{3,2,1,0} convolution(%g, %w), window={size=3x3 pad=1_2x1_2 lhs_dilate=2x2}, {TRANSPOSED}
"""
GROUPED = """\
  %x = f32[2,8,5,5]{3,2,1,0} parameter(0)
  %w = f32[8,1,3,3]{3,2,1,0} parameter(1)
  %y = f32[2,8,5,5]{3,2,1,0} convolution(%x, %w), window={size=3x3 pad=1_1x1_1}, {GROUPS}
"""
BATCHED = """\
  %a = bf16[4,8,16]{2,1,0} parameter(0)
  %b = bf16[4,16,32]{2,1,0} parameter(1)
  %c = (f32[4,8,32]{2,1,0}, s32[]) fusion(%a), kind=kLoop
  ROOT %d = bf16[4,8,32]{2,1,0} dot(%a, %b), {DIMS}
"""


def lines(text: str) -> list[str]:
    for name, value in (("LABELS", LABELS), ("GROUPS", GROUPS), ("TRANSPOSED", TRANSPOSED), ("DIMS", DIMS)):
        text = text.replace(f"{{{name}}}", value)
    return text.splitlines()


def flops(text: str) -> int:
    return work.matmuls(hlo.instructions(lines(text)), (), 128)[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FORWARD, 2 * 2 * 4 * 4 * 4 * 3 * 9),
        (INPUT_GRADIENT, 2 * 2 * 4 * 4 * 4 * 3 * 9),  # holes of a stride are multiplied with nothing
        (GROUPED, 2 * 2 * 8 * 5 * 5 * 9),
        (BATCHED, 2 * 4 * 8 * 16 * 32),
        ("  %x = f32[3]{0} add(%a, %b)", 0),
    ],
)
def test_flops(text: str, expected: int) -> None:
    assert flops(text) == expected


def test_fill_of_the_matrix_unit() -> None:
    found = work.matmuls(hlo.instructions(lines(BATCHED)), (), 128)[1][0]
    assert found.fill == (16 / 128) * (32 / 128)


def test_collectives_count_what_one_device_hands_over() -> None:
    text = """\
  %a = f32[16,8]{1,0} parameter(0)
  %b = bf16[4]{0} parameter(1)
  %s = (f32[16,8]{1,0}, f32[16,8]{1,0}) all-reduce-start(%a), replica_groups={}
  %e = f32[16,8]{1,0} all-reduce-done(%s)
  %g = bf16[32]{0} all-gather(%b), dimensions={0}
"""
    found = work.collectives(hlo.instructions(text.splitlines()))
    assert [(one.name, one.count, one.bytes) for one in found] == [
        ("all-gather", 1, 8),
        ("all-reduce", 1, 512),
    ]

from __future__ import annotations

from typing import Any

import pytest

from making import a_finding
from xlamig.effort.fill import fills, poor
from xlamig.effort.placement import Stage, crossings, place
from xlamig.findings import FileReport, Finding, Part, Report, Size

MODULE = ("torch.nn.Module",)


def part(name: str, bases: tuple[str, ...] = (), kind: str = "class", **values: Any) -> Part:
    given: dict[str, Any] = {"members": (), "decorators": (), "calls": ()}
    return Part(name, kind, bases, **(given | values), first_row=1, last_row=9)


def stages(*parts: Part, findings: tuple[Finding, ...] = (), filename: str = "train.py") -> dict[str, Stage]:
    report = Report("torch_xla", (FileReport(filename, findings, parts=parts),))
    return {stage.key: stage for stage in place(report)}


@pytest.mark.parametrize(
    ("made", "stage", "device"),
    [
        (part("Data", ("torch.utils.data.IterableDataset",)), "data", "CPU"),
        (part("collate_fn", kind="function"), "data", "CPU"),
        (part("Block", MODULE), "core", "TPU"),
        (part("TextDecoder", MODULE), "core", "TPU"),
        (part("ResNetBackbone", MODULE), "encoders", "TPU"),
        (part("dice_loss", kind="function"), "loss", "TPU"),
        (part("FocalLoss", MODULE), "loss", "TPU"),
        (part("train_one_epoch", kind="function"), "training", "TPU"),
        (part("evaluate", kind="function"), "evaluation", "TPU"),
        (part("generate_stream", kind="function"), "decoding", "TPU"),
        (part("PostProcess", MODULE), "post-processing", "CPU"),
        (part("softmax", kind="function", decorators=("triton.jit",)), "kernels", "GPU"),
    ],
)
def test_stage_and_device(made: Part, stage: str, device: str) -> None:
    assert {key: found.device for key, found in stages(made).items()} == {stage: device}


@pytest.mark.parametrize(
    "made", [part("Config"), part("main", kind="function"), part("", kind="module"), part("encode_text")]
)
def test_what_says_nothing_is_in_no_stage(made: Part) -> None:
    assert stages(made) == {}


def test_a_base_class_of_the_project_is_followed() -> None:
    found = stages(part("Base", MODULE), part("Child", ("pkg.base.Base",)))
    assert [piece.scope for piece in found["core"].pieces] == ["Base", "Child"]


def test_a_method_of_a_model_may_belong_elsewhere_one_of_another_class_not() -> None:
    found = stages(
        part("GPT", MODULE, members=("forward", "generate", "train", "eval")),
        part("Text", members=("generate",)),
    )
    assert {key: [piece.scope for piece in stage.pieces] for key, stage in found.items()} == {
        "core": ["GPT"],
        "decoding": ["GPT.generate"],
    }


def test_a_redesign_of_shapes_keeps_decoding_on_the_gpu_and_a_small_change_does_not() -> None:
    values = {"group": "static-positions", "scope": "generate", "severity": "warning"}
    made = part("generate", kind="function")
    large = stages(made, findings=(a_finding("XLA302", "redesign", **values),))["decoding"]
    assert (large.device, large.codes) == ("GPU", ("XLA302",))
    assert "XLA302" in large.reasons[0]
    assert stages(made, findings=(a_finding("XLA302", "simple", **values),))["decoding"].device == "TPU"


def test_without_an_alternative_a_model_stays_on_the_gpu() -> None:
    blocker = a_finding("XLA601", "rearchitect", scope="Net.forward")
    assert stages(part("Net", MODULE), findings=(blocker,))["core"].device == "GPU"
    replaceable = a_finding("XLA601", "rearchitect", scope="Net.forward", help="write it in Pallas")
    assert stages(part("Net", MODULE), findings=(replaceable,))["core"].device == "TPU"


def test_a_finding_counts_for_the_innermost_piece_only() -> None:
    finding = a_finding("XLA101", "complex", scope="GPT.generate")
    found = stages(part("GPT", MODULE, members=("generate",)), findings=(finding,))
    assert (found["decoding"].codes, found["core"].codes) == (("XLA101",), ())


def test_tests_are_no_stage_of_the_program() -> None:
    files = (
        FileReport("net.py", parts=(part("Net", MODULE),)),
        FileReport("tests/a.py", parts=(part("evaluate", kind="function"),)),
    )
    assert [stage.key for stage in place(Report("torch_xla", files))] == ["core"]


def test_a_step_on_two_devices_is_said() -> None:
    blocker = a_finding("XLA601", "rearchitect", scope="Net.forward")
    found = stages(part("Net", MODULE), part("train", kind="function"), findings=(blocker,))
    assert any("one training step would span devices" in line for line in crossings(list(found.values())))
    assert list(crossings(list(stages(part("Net", MODULE)).values()))) == []


def sizes(*given: Size) -> Report:
    return Report("torch_xla", (FileReport("model.py", sizes=given),))


def test_a_width_is_padded_to_whole_units() -> None:
    (fill,) = fills(sizes(Size("hidden", "d_model", 1600, "", 3)))
    assert (fill.padded, fill.shares) == ((1664, 1792), pytest.approx((1600 / 1664, 1600 / 1792)))


def test_a_width_that_fills_is_not_poor() -> None:
    found = fills(sizes(Size("hidden", "d_model", 768, "", 3)))
    assert len(found) == 1
    assert poor(found) == ()


@pytest.mark.parametrize(
    ("heads", "owner", "row", "expected"),
    [(12, "", 4, [64]), (7, "", 4, []), (12, "Other", 4, []), (12, "", 40, [])],
)
def test_the_size_of_a_head_is_width_by_heads_where_they_stand_together(
    heads: int, owner: str, row: int, expected: list[int]
) -> None:
    found = fills(sizes(Size("hidden", "n_embd", 768, "", 3), Size("heads", "n_head", heads, owner, row)))
    assert [fill.value for fill in found if fill.kind == "head"] == expected

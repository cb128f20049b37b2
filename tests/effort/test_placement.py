from __future__ import annotations

from typing import Any

import pytest

from making import a_finding
from xlamig.config.settings import EffortSettings
from xlamig.effort.estimate import estimate
from xlamig.effort.fill import fills, poor
from xlamig.effort.placement import Stage, crossings, place
from xlamig.findings import FileReport, Finding, Part, Report, Size
from xlamig.report import plan_placement

MODULE = ("torch.nn.Module",)


def part(name: str, bases: tuple[str, ...] = (), kind: str = "class", **values: Any) -> Part:
    given: dict[str, Any] = {"members": (), "decorators": (), "calls": ()}
    return Part(name, kind, bases, **(given | values), first_row=1, last_row=9)


def stages(*parts: Part, findings: tuple[Finding, ...] = (), filename: str = "train.py") -> dict[str, Stage]:
    report = Report("torch_xla", (FileReport(filename, findings, parts=parts, sites=1),))
    return {stage.key: stage for stage in place(report)}


def members(stage: Stage) -> list[str]:
    return [piece.scope for piece in stage.pieces]


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
        (part("HungarianMatcher", MODULE), "loss", "TPU"),
        (part("Tower", ("timm.models.beit.Beit",)), "core", "TPU"),
        (part("Ours", ("transformers.LlamaForCausalLM",)), "core", "TPU"),
        (part("Head", ("mmseg.decode_heads.BaseDecodeHead",), members=("forward",)), "core", "TPU"),
        (part("main", kind="function", calls=(("torch.optim.AdamW", 1),)), "training", "TPU"),
        (part("", kind="module", calls=(("torch.Tensor.backward", 1),)), "training", "TPU"),
    ],
)
def test_stage_and_device(made: Part, stage: str, device: str) -> None:
    assert {key: found.device for key, found in stages(made).items()} == {stage: device}


@pytest.mark.parametrize(
    "made",
    [
        part("Config"),
        part("main", kind="function"),
        part("", kind="module"),
        part("encode_text"),
        part("build_loss", kind="function"),
        part("build_optimizer", kind="function", calls=(("torch.optim.AdamW", 1),)),
        part("on_postprocess_end", kind="function"),
        part("generate_anchors", kind="function"),
        part("Scale", ("torch.autograd.Function",), members=("forward", "backward")),
        part("Handler", ("abc.ABC",), members=("forward",)),
        part("BlockDecoder"),
    ],
)
def test_what_says_nothing_is_in_no_stage(made: Part) -> None:
    assert stages(made, filename="net.py") == {}


def test_names_say_nothing_in_files_without_torch() -> None:
    parts = (part("evaluate", kind="function"), part("DetectionTrainer"), part("decode", kind="function"))
    assert place(Report("torch_xla", (FileReport("score.py", parts=parts),))) == ()


def test_a_mixin_of_a_model_that_uses_torch_is_a_model() -> None:
    def named(calls: tuple[tuple[str, int], ...]) -> list[str]:
        mixin = part("MetaForCausalLM", ("abc.ABC",), calls=calls)
        return members(stages(mixin, part("Ours", (*MODULE, "arch.MetaForCausalLM")))["core"])

    assert named((("torch.cat", 2),)) == ["MetaForCausalLM", "Ours"]
    assert named(()) == ["Ours"]


@pytest.mark.parametrize(
    ("filename", "made", "stage"),
    [
        ("repo/datasets/crop.py", part("crop", kind="function", calls=(("torch.flip", 1),)), "data"),
        ("repo/losses/perceptual.py", part("LPIPS", MODULE), "loss"),
        ("repo/clip_encoder.py", part("Tower", MODULE), "encoders"),
        ("repo/eval/heads.py", part("Head", MODULE), "core"),
        ("repo/eval/models/points.py", part("points", kind="function", calls=(("torch.stack", 1),)), None),
        ("repo/data/lists.py", part("names", kind="function"), None),
        ("data/model.py", part("crop", kind="function", calls=(("torch.flip", 1),)), None),
    ],
)
def test_the_folder_speaks_where_names_do_not(filename: str, made: Part, stage: str | None) -> None:
    other = filename.partition("/")[0] + "/setup.py"
    files = (FileReport(filename, parts=(made,), sites=1), FileReport(other))
    assert [found.key for found in place(Report("torch_xla", files))] == ([stage] if stage else [])


def test_a_script_goes_by_the_name_of_its_file() -> None:
    own = part("", kind="module", calls=(("torch.load", 1),))
    assert list(stages(own, filename="sample.py")) == ["decoding"]
    assert stages(own, filename="convert.py") == {}


def test_on_the_host_device_work_falls_away_and_the_rest_is_said() -> None:
    made = part("PostProcess", MODULE)
    mask = a_finding("XLA202", "complex", scope="PostProcess.forward", group="dynamic-shapes")
    stage = stages(made, findings=(mask,))["post-processing"]
    assert stage.reasons[-1].startswith("needs no change on the host: XLA202")
    moved = a_finding("XLA002", "simple", scope="PostProcess.forward", group="device-placement")
    stage = stages(made, findings=(moved,))["post-processing"]
    assert stage.reasons[-1].startswith("needs changes there: XLA002")


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
        FileReport("tests/a.py", parts=(part("evaluate", kind="function"),), sites=1),
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


def test_calls_come_before_the_default_that_they_replace() -> None:
    default = Size("hidden", "embed_dim", 1024, "ViT", 3, "default")
    call = Size("hidden", "embed_dim", 768, "vit_base", 9, "call", "ViT")
    assert [(fill.value, fill.given) for fill in fills(sizes(default, call))] == [(768, "call")]
    other = Size("hidden", "embed_dim", 768, "vit_base", 9, "call", "ResNet")
    assert [fill.value for fill in fills(sizes(default, other))] == [1024, 768]


def test_a_default_is_named_as_one_unless_it_is_also_given() -> None:
    default = Size("hidden", "embed_dim", 96, "ViT", 3, "default")
    (found,) = fills(sizes(default, Size("hidden", "width", 96, "", 9)))
    assert (found.given, found.row) == ("value", 9)
    (found,) = fills(sizes(default))
    assert ":3, a default)" in plan_placement.fill(found)


@pytest.mark.parametrize(
    ("heads", "owner", "row", "expected"),
    [(12, "", 4, [64]), (7, "", 4, []), (12, "Other", 4, []), (12, "", 40, [])],
)
def test_the_size_of_a_head_is_width_by_heads_where_they_stand_together(
    heads: int, owner: str, row: int, expected: list[int]
) -> None:
    found = fills(sizes(Size("hidden", "n_embd", 768, "", 3), Size("heads", "n_head", heads, owner, row)))
    assert [fill.value for fill in found if fill.kind == "head"] == expected


GENERATE = a_finding("XLA302", "redesign", scope="generate")
TRAINS = part("main", kind="function", calls=(("torch.optim.AdamW", 1),))
SAMPLES = part("generate", kind="function")


def verdict(*parts: Part, finding: Finding = GENERATE) -> tuple[str, str]:
    report = Report("torch_xla", (FileReport("train.py", (finding,), parts=parts, sites=1),))
    plan = estimate(report, EffortSettings())
    return plan.verdict, plan.verdict_reason


def test_a_program_that_only_samples_is_as_hard_as_its_sampling() -> None:
    assert verdict(SAMPLES)[0] == "hard"


def test_a_redesign_in_the_training_itself_is_hard() -> None:
    assert verdict(TRAINS, SAMPLES, finding=a_finding("XLA302", "redesign", scope="main"))[0] == "hard"


def test_a_redesign_of_the_sampling_of_a_program_that_trains_is_named_beside_the_verdict() -> None:
    word, reason = verdict(TRAINS, SAMPLES)
    assert word != "hard"
    assert reason.endswith("sampling or evaluation: XLA302 cuda-synchronize needs a redesign")


def test_what_code_does_counts_more_than_its_name() -> None:
    script = part("", kind="module", calls=(("torch.Tensor.backward", 1),))
    assert list(stages(script, filename="chat_sample.py")) == ["training"]


@pytest.mark.parametrize(
    ("filename", "calls", "stage"),
    [
        ("tok_train.py", (), "data"),
        ("train_tokenizer.py", (), "data"),
        ("token_train.py", (), "training"),
        ("tok_train.py", (("torch.Tensor.backward", 1),), "training"),
    ],
)
def test_what_trains_a_tokenizer_is_no_training_loop(
    filename: str, calls: tuple[tuple[str, int], ...], stage: str
) -> None:
    assert list(stages(part("", kind="module", calls=calls), filename=filename)) == [stage]

"""The kind of object that a name creates or promises: one answer for regions, receivers and the
interpreter."""

from __future__ import annotations

import pytest

from xlamig.flow.model.kinds import is_module_class, is_optimizer_name, made_by
from xlamig.knowledge.devices import device_types, maker_of


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("torch.device", ""),
        ("torch.Generator", ""),
        ("torch.optim.lr_scheduler.StepLR", ""),
        ("transformers.AutoTokenizer.from_pretrained", ""),
        ("numpy.zeros", ""),
        ("torch.load", ""),
        ("torch.nn.Linear", "module"),
        ("timm.create_model", "module"),
        ("torch.nn.Parameter", "tensor"),
        ("torch.nn.functional.relu", "tensor"),
        ("torch.zeros", "tensor"),
        ("torch.optim.AdamW", "optimizer"),
    ],
)
def test_a_call_makes_one_kind(name: str, kind: str) -> None:
    assert made_by(name) == kind


@pytest.mark.parametrize("name", ["pydantic.BaseModel", "keras.Model", "object", "transformers.Trainer"])
def test_no_module_class(name: str) -> None:
    assert not is_module_class(name)


@pytest.mark.parametrize("name", ["torch.nn.Module", "LightningModule", "transformers.PreTrainedModel"])
def test_a_module_class(name: str) -> None:
    assert is_module_class(name)


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("option", False),
        ("adopt", False),
        ("opts", True),
        ("optD", True),
        ("optimizerG", True),
        ("g_opt", True),
    ],
)
def test_an_optimizer_by_its_name(name: str, holds: bool) -> None:
    assert is_optimizer_name(name) is holds


@pytest.mark.parametrize(
    ("text", "maker"),
    [("cuda:1", "nvidia"), ("cpu", "host"), ("xla:0", "xla"), ("mlu", "other"), ("gpu", None), ("", None)],
)
def test_the_maker_of_a_device(text: str, maker: str | None) -> None:
    assert maker_of(text) == maker


def test_words_for_platforms_are_no_device_types() -> None:
    assert "rocm" not in device_types("other")
    assert "rocm" in device_types("other", words=True)

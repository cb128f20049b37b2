"""The names that objects of a kind have by convention."""

import pytest

from xlamig.knowledge.values import name_like


@pytest.mark.parametrize(
    "name",
    [
        *("load_model", "save_model", "_get_network", "unwrap_model", "build_text_encoder", "model_name"),
        *("zero_module", "encode_with_transformer", "anchor_generator", "masked_position_generator"),
    ],
)
def test_what_handles_modules_or_host_data_is_not_named_like_one(name: str) -> None:
    assert name_like("module").search(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "model",
        "ema_model",
        "test_model",
        "preset_model",
        "self.text_encoder",
        "_model",
        "loader_net",
        "image_generator",
    ],
)
def test_a_module_may_be_named_for_its_role(name: str) -> None:
    assert name_like("module").search(name) is not None

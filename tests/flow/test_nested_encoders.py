"""Tests of which encoders may build nested tensors of a padding mask."""

from __future__ import annotations

from dataclasses import replace

import pytest
from reading import INTEREST, facts_in

from xlamig.facts import ApiUse

ENCODER = "torch.nn.TransformerEncoder"
HEAD = """
import torch
from torch import nn
from mylib import FlashLayer
class Own(nn.Module):
    pass
def build(layer, kind, first):
"""
TAIL = """
    encoder(x, src_key_padding_mask=mask)
"""


def may_nest(lines: str) -> bool:
    text = HEAD + "".join(f"    {line}\n" for line in lines.split("\n")) + TAIL
    uses = facts_in(text, ApiUse, interest=replace(INTEREST, names=frozenset({ENCODER})))
    return ["padding-mask" in use.proofs for use in uses if use.name == ENCODER] == [True]


@pytest.mark.parametrize(
    "lines",
    [
        "encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, batch_first=True), 2)",
        "encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, batch_first=first), 2)",
        "made = nn.TransformerEncoderLayer(8, 2, **kind)\nencoder = nn.TransformerEncoder(made, 2)",
        "made = Own()\nmade = nn.TransformerEncoderLayer(8, 2, batch_first=True)\n"
        "encoder = nn.TransformerEncoder(encoder_layer=made, num_layers=2)",
        "encoder = nn.TransformerEncoder(layer, 2)",
    ],
)
def test_an_encoder_of_torchs_layers_may_nest(lines: str) -> None:
    assert may_nest(lines)


@pytest.mark.parametrize(
    "lines",
    [
        "encoder = nn.TransformerEncoder(Own(), 2)",
        "made = FlashLayer(8)\nencoder = nn.TransformerEncoder(made, 2)",
        "encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 2)",
        "made = nn.TransformerEncoderLayer(8, 2, batch_first=True, norm_first=True)\n"
        "encoder = nn.TransformerEncoder(made, 2)",
    ],
)
def test_other_layers_do_not_nest(lines: str) -> None:
    assert not may_nest(lines)

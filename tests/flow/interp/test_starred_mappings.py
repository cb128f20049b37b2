"""`model(**inputs)` of a mapping whose keys differ between branches."""

from __future__ import annotations

import pytest

from .said import said

PROGRAM = """
from torch.utils.data import DataLoader
from transformers import BertConfig, BertModel, XLNetConfig, XLNetModel

def show(ids, mask=None, more=None):
    print(ids.tolist())

class Evaluator:
    def __init__(self, kind):
        _, made = {"bert": (BertConfig, BertModel), "xlnet": (XLNetConfig, XLNetModel)}[kind]
        self.model = made.from_pretrained(kind)

    def run(self, data, kind):
        model = self.model
        for batch in DataLoader(data, batch_size=8):
            batch = tuple(PLACED for t in batch)
            with torch.no_grad():
                inputs = {"ids": batch[0], "mask": batch[1]}
                BODY

kind = open("kind").read()
Evaluator(kind).run(open("data"), kind)
"""
MAYBE = "if kind in ['xlnet']: inputs.update({'more': batch[2]})"
CALL = "outputs = model(**inputs); print(outputs[0].mean().item())"


def reads(*body: str, placed: str = "t.cuda()") -> list[str]:
    lines = "\n                ".join(body)
    return said(PROGRAM.replace("PLACED", placed).replace("BODY", lines), "host-read")


@pytest.mark.parametrize(
    "body",
    [
        ["settings = {'a': 1}", "if kind: settings['b'] = 2", "made = model(**settings); print(made.item())"],
        ["if kind: inputs['more'] = batch[2]", "print(describe(**inputs).item())"],
    ],
)
def test_what_is_given_numbers_or_is_no_model_reads_nothing(body: list[str]) -> None:
    assert reads(*body) == []


def test_host_tensors_stay_on_the_host() -> None:
    assert reads(MAYBE, "show(**inputs)", placed="t") == []


@pytest.mark.parametrize(
    "maybe", ["pass", MAYBE, "if kind: inputs['more'] = batch[2]", "if kind: inputs = {'ids': batch[2]}"]
)
def test_a_model_gives_device_tensors(maybe: str) -> None:
    assert reads(maybe, CALL) == ["host-read item: outputs[0].mean().item()"]


@pytest.mark.parametrize("maybe", ["pass", MAYBE])
def test_parameters_without_a_default_get_what_the_mapping_holds(maybe: str) -> None:
    assert reads(maybe, "show(**inputs)") == ["host-read item: ids.tolist()"]

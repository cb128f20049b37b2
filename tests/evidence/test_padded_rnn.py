"""An RNN on a padded batch has the values and gradients that it has on packed ones, and compiles once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from xlamig.config.settings import Settings
from xlamig.fix import helper
from xlamig.fix.context import FixContext
from xlamig.fix.edits import apply_edits
from xlamig.fix.inline import inline_function
from xlamig.knowledge import helpers
from xlamig.source.text import SourceText
from xlamig.syntax import module_from_text

pytestmark = pytest.mark.evidence

PROGRAM = """
import torch, torch_xla
import torch_xla.debug.metrics as metrics
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

xla = torch_xla.device()  # before the first backward pass

def padded(rnn, x, lengths, first, state):
    return run_padded(rnn, x, lengths, first, state)

def packed(rnn, x, lengths, first, state):
    out, last = rnn(pack_padded_sequence(x, lengths, first, enforce_sorted=False), state)
    return pad_packed_sequence(out, batch_first=first)[0], last

def run(function, device, kind, first, lengths, given, **options):
    torch.manual_seed(0)
    rnn = getattr(torch.nn, kind)(3, 4, **options).to(device)
    x = torch.randn(3, 4, 3).to(device).requires_grad_()
    state = torch.randn(4, 3, 4).to(device) if given else None
    state = (state, state * 2) if given and kind == "LSTM" else state
    out, last = function(rnn, x if first else x.transpose(0, 1), lengths, first, state)
    lasts = last if kind == "LSTM" else (last,)
    (out.pow(2).sum() + sum(one.sin().sum() for one in lasts)).backward()
    torch_xla.sync()
    return [t.detach().cpu() for t in (out, *lasts, x.grad, *(p.grad for p in rnn.parameters()))]

lengths = torch.tensor([2, 4, 1])
for kind, first, given, options in (
    ("LSTM", True, True, {"bidirectional": True, "num_layers": 2}),
    ("GRU", False, False, {"batch_first": True, "bidirectional": True}),
    ("RNN", True, False, {"bidirectional": True, "bias": False}),
):
    wanted = run(packed, "cpu", kind, first, lengths, given, **options)
    for device in ("cpu", xla):
        found = run(padded, device, kind, first, lengths.tolist() if first else lengths, given, **options)
        for one, other in zip(wanted, found, strict=True):
            assert one.shape == other.shape and torch.allclose(one, other, atol=1e-5), (kind, device)
gru, x = torch.nn.GRU(3, 4, batch_first=True).to(xla), torch.randn(3, 4, 3).to(xla)  # torch_xla's class
pair = gru(x)[0], run_padded(gru, x, [4, 4, 4], True)[0]
torch_xla.sync()
assert torch.allclose(*(one.detach().cpu() for one in pair), atol=1e-5)
compiled = metrics.counter_value("UncachedCompile")
run(padded, xla, kind, first, torch.tensor([4, 4, 3]), given, **options)
assert metrics.counter_value("UncachedCompile") == compiled
"""


def defined_in_file() -> str:
    text = "import torch\nUSE\n"
    page = FixContext(SourceText("a.py", text), module_from_text(text), Settings())
    imported = inline_function(page, helpers.PADDED, (text.index("USE"), text.index("USE") + 3))
    assert imported is not None
    return apply_edits(text, list(imported.edits)).replace("USE\n", "")


@pytest.mark.parametrize("where", ["helper", "file"])
def test_values_and_gradients_are_those_of_packed_sequences(where: str) -> None:
    text = helper.TEXT if where == "helper" else defined_in_file()
    python = os.environ.get("XLAMIG_XLA_PYTHON") or sys.executable
    environment = {**os.environ, "PJRT_DEVICE": "CPU"}
    command = [python, "-c", text + PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2500:]

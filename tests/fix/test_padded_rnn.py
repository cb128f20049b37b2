"""RNNs run on the padded batch where packing, the call and unpacking stand together."""

from __future__ import annotations

import textwrap

import pytest
from tests.fix.test_flow_fixes import fixed

CLASS = """
class Encoder(nn.Module):
    def __init__(self, width=8):
        super().__init__()
{before}        self.lstm = {made}

    def forward(self, x, lengths, state):
{body}

net = Encoder().to(device)
for x, lengths in loader:
    loss = net(x.to(device), lengths, None).sum()
    loss.backward()
    optimizer.step()
"""
LSTM = "nn.LSTM(width, width, batch_first=True)"
PACK = "p = nn.utils.rnn.pack_padded_sequence"


def rewritten(body: str, made: str = LSTM, before: str = "") -> list[str]:
    """The lines of the class that call the helper or unpack."""
    before = textwrap.indent(before, " " * 8)
    code = CLASS.format(
        made=made, before=before, body=textwrap.indent(textwrap.dedent(body).strip(), " " * 8)
    )
    return [line for line in fixed(code, "XLA307") if "run_padded(" in line and "def " not in line]


@pytest.mark.parametrize(
    ("body", "line"),
    [
        (
            f"""
            {PACK}(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            out, (h, c) = self.lstm(p)
            out, _ = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
            return out + h[-1]
            """,
            "out, (h, c) = run_padded(self.lstm, x, lengths, batch_first=True)",
        ),
        (
            f"""
            {PACK}(x * 2, lengths.to("cpu").tolist())
            self.lstm.flatten_parameters()
            q, h = self.lstm(p, state)
            y = nn.utils.rnn.pad_packed_sequence(q, total_length=9)[0]
            return y
            """,
            "y, h = run_padded(self.lstm, x * 2, lengths, state=state, total_length=9)",
        ),
        (
            """
            _, (h, c) = self.lstm(nn.utils.rnn.pack_padded_sequence(x, lengths, True))
            return h
            """,
            "_, (h, c) = run_padded(self.lstm, x, lengths, batch_first=True)",
        ),
        (
            f"""
            {PACK}(x, lengths, True)
            p, _ = self.lstm(p)
            x, _ = nn.utils.rnn.pad_packed_sequence(p, True)
            return x
            """,
            "x, _ = run_padded(self.lstm, x, lengths, batch_first=True)",
        ),
        (
            """
            x = nn.utils.rnn.pack_padded_sequence(x, lengths, True)
            x, h = self.lstm(x)
            x, sizes = nn.utils.rnn.pad_packed_sequence(x, True)
            return x
            """,
            "x, h = run_padded(self.lstm, x, lengths, batch_first=True)",
        ),
    ],
)
def test_packed_sequences_become_a_padded_batch(body: str, line: str) -> None:
    assert rewritten(body) == [line]


def test_a_name_may_hold_packed_sequences_twice() -> None:
    lines = rewritten(
        f"""
        {PACK}(x, lengths, True)
        _, (h, c) = self.lstm(p)
        {PACK}(x * 2, lengths, True)
        out, _ = self.lstm(p, (h, c))
        y = nn.utils.rnn.pad_packed_sequence(out, True)[0].contiguous()
        return y
        """
    )
    assert lines == [
        "_, (h, c) = run_padded(self.lstm, x, lengths, batch_first=True)",
        "out, _ = run_padded(self.lstm, x * 2, lengths, batch_first=True, state=(h, c))",
    ]


@pytest.mark.parametrize("made", ["nn.GRU(8, 8)", "getattr(nn, kind)(8, 8)", "torch.nn.RNN(8, 8)"])
def test_every_rnn_of_torch_runs(made: str) -> None:
    assert rewritten(f"{PACK}(x, lengths)\n_, h = self.lstm(p)\nreturn h", made)


@pytest.mark.parametrize(
    "before",
    [
        "rnn = nn.LSTM\n",
        "if width == 8:\n    rnn = nn.RNN\nelse:\n    rnn = torch.nn.GRU\n",
        "rnn = nn.LSTM if width == 8 else nn.GRU\n",
        "rnn = {'lstm': nn.LSTM, 'gru': nn.GRU}[width]\n",
        "rnn = getattr(nn, width)\n",
    ],
)
def test_a_name_may_hold_the_class(before: str) -> None:
    lines = rewritten(f"{PACK}(x, lengths)\n_, h = self.lstm(p)\nreturn h", "rnn(8, 8)", before)
    assert lines == ["_, h = run_padded(self.lstm, x, lengths)"]


@pytest.mark.parametrize(
    "before",
    [
        "rnn = Custom\n",
        "rnn = nn.LSTM if width == 8 else Custom\n",
        "rnn = {'lstm': nn.LSTM, 'own': Custom}[width]\n",
        "rnn = nn.LSTM\nif width == 8:\n    rnn = Custom\n",
        "rnn = nn.LSTM\nrnn = wrapped(rnn)\n",
        "for rnn in (nn.LSTM, Custom):\n    pass\n",
        "",
    ],
)
def test_a_name_may_hold_another_class(before: str) -> None:
    assert rewritten(f"{PACK}(x, lengths)\n_, h = self.lstm(p)\nreturn h", "rnn(8, 8)", before) == []


@pytest.mark.parametrize("made", ["Custom(8, 8)", "nn.LSTM(8, 8, proj_size=4)", "width"])
def test_another_module_keeps_its_sequences(made: str) -> None:
    assert rewritten(f"{PACK}(x, lengths)\n_, h = self.lstm(p)\nreturn h", made) == []


@pytest.mark.parametrize(
    "body",
    [
        f"{PACK}(x, lengths)\nout, h = self.lstm(p)\nreturn self.head(p.data)",
        f"{PACK}(x, lengths)\nout, h = self.lstm(p)\nreturn out",
        f"{PACK}(x, lengths)\nx = x + 1\nout, h = self.lstm(p)\nreturn h + x",
        f"{PACK}(x, lengths)\nout = self.lstm(p)\nreturn out[1]",
        f"{PACK}(x, lengths)\nif state:\n    out, h = self.lstm(p)\nreturn h",
        f"{PACK}(x, lengths)\nout, h = self.lstm(p)\n"
        "y, n = nn.utils.rnn.pad_packed_sequence(out)\nreturn y[n]",
        f"{PACK}(x, lengths)\nout, h = self.lstm(p)\n"
        "y, _ = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)\nreturn y",
        f"{PACK}(x, lengths)\nout, h = self.lstm(p)\n"
        "y, _ = nn.utils.rnn.pad_packed_sequence(out, padding_value=-1)\nreturn y",
        f"{PACK}(x, lengths)\nout, h = self.lstm(p)\nz = p.data\np = z\nreturn h + p",
        f"{PACK}(x, lengths)\np, h = self.lstm(p)\nz = p.data\n"
        "y, _ = nn.utils.rnn.pad_packed_sequence(p)\nreturn y",
        f"{PACK}(x, lengths)\nout, h = self.lstm(p)\nz = out.data\n"
        "y, _ = nn.utils.rnn.pad_packed_sequence(out)\nreturn y",
    ],
)
def test_other_uses_of_the_sequences_are_left(body: str) -> None:
    assert rewritten(body) == []

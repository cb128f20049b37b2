"""Reads of the elements of one tensor in a comprehension, which one copy before it serves."""

from __future__ import annotations

import pytest

from xlamig.facts import HostRead

from .said import STEP, facts


def sources(line: str) -> list[str]:
    """Return the tensors whose elements are read one by one."""
    found = facts(STEP.replace("BODY", line))
    return [fact.source for fact in found if isinstance(fact, HostRead) and fact.over == "elements"]


@pytest.mark.parametrize(
    "line",
    [
        "z = [t.item() for t in [loss, loss.mean()]]",
        "z = [t.mean().item() for t in layers]",
        "z = [n for n in range(3)]",
        "z = [t.item() for t in known.cpu()]",
    ],
)
def test_other_reads_are_none_of_elements(line: str) -> None:
    assert sources(f"known = torch.zeros(3, device='cuda'); layers = [known, known]; {line}") == []


@pytest.mark.parametrize(
    "line",
    [
        "z = [t.item() for t in known]",
        "z = [t.item() for t in known[:n]]",
        "z = {i: float(known[i]) for i in range(3)}",
        "z = [t.item() for row in [known] for t in row]",
    ],
)
def test_reads_elements_in_a_comprehension(line: str) -> None:
    found = sources(f"known = torch.zeros(3, device='cuda'); n = 2; {line}")
    assert found in (["known"], ["row"])


LISTED = """
known = torch.zeros(3, device='cuda')
seen = [known for _ in parts]
for i in range(3):
    CHANGE
    if seen[-1][i] > 0: n = i
"""


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("pass", ["seen[-1]"]),
        ("other.append(i)", ["seen[-1]"]),
        ("seen.append(known * i)", []),
        ("seen[-1] = known * i", []),
        ("seen = [known * i for _ in parts]", []),
    ],
)
def test_reads_elements_of_a_list_that_the_loop_leaves_alone(change: str, expected: list[str]) -> None:
    body = LISTED.strip().replace("CHANGE", change)
    assert sources(body.replace("\n", "\n        ")) == expected


DECODED = """
class Captioner(nn.Module):
    def forward(self, x):
        return x.argmax(-1)

def caption(words, seq):
    out = []
    for i in range(seq.size(0)):
        text = ''
        for j in range(seq.size(1)):
            LINES
        out.append(text)
    return out

net = Captioner().to('cuda')
with torch.no_grad():
    for x in loader:
        seq = net(x.to('cuda'))
        caption(words, seq)
"""


@pytest.mark.parametrize(
    "lines",
    [
        "ix = seq[i, j]; ix = ix * scale",
        "ix = seq[i, j] + seq[i].max()",
        "ix = seq.max()",
        "if words: ix = seq[i, j]\nelse: ix = seq.max()",
        "if words:\n    ix = seq[i, j]\nelse:\n    ix = seq.max()",
        "seq = seq + 1; ix = seq[i, j]",
        "seq[i].fill_(1); ix = seq[i, j]",
    ],
)
def test_what_an_iteration_computes_is_no_element(lines: str) -> None:
    assert decoded(f"{lines}; TEST" if "\n" not in lines else f"{lines}\nTEST") == [""]


@pytest.mark.parametrize(
    "lines",
    [
        "ix = seq[i, j]; TEST",
        "ix = seq[i][j]; TEST",
        "row = seq[i]; ix = row[j]; TEST",
        "row = seq[i]; row = row[1:] if words else row[2:]; ix = row[j]; TEST",
        "if seq[i, j] > 0: text += words[i]\nelse: break",
    ],
)
def test_an_element_may_have_a_name(lines: str) -> None:
    assert decoded(lines) == ["seq"]


def decoded(lines: str) -> list[str]:
    """Return the tensors of whose elements one is tested."""
    body = lines.replace("TEST", "\nif ix > 0: text += words[i]\nelse: break").replace("; ", "\n")
    text = DECODED.replace("LINES", body.replace("\n", "\n            "))
    return [fact.source for fact in facts(text) if isinstance(fact, HostRead) and fact.via == "truth"]
